const std = @import("std");
const portcullis = @import("portcullis");

pub const plugin: portcullis.Plugin = .{
    .name = "{{name}}",
    .description = "Greets people.",
    .tools = &.{
        portcullis.tool("greet", "Greets a person by name.", greet, .{
            .hints = .{ .read_only = true, .idempotent = true },
        }),
    },
};

const Greet = struct {
    name: []const u8,

    pub const descriptions = .{ .name = "A person's name." };
};

fn greet(arguments: Greet, context: *portcullis.Context) ![]const u8 {
    return std.fmt.allocPrint(context.arena, "Hello, {s}!", .{arguments.name});
}
