//! The SDK for plugins in Zig. A plugin's file has `pub const plugin`, and its tools are functions over a struct.

const std = @import("std");
pub const host = @import("host.zig");

pub const schema = @import("schema.zig");
pub const Answer = @import("answer.zig").Answer;
pub const Part = @import("answer.zig").Part;
pub const Context = @import("context.zig").Context;
pub const Error = @import("context.zig").Error;
pub const FailureKind = @import("context.zig").FailureKind;
pub const Call = @import("context.zig").Call;
pub const Progress = @import("context.zig").Progress;
pub const Level = @import("context.zig").Level;
pub const Store = @import("store.zig").Store;
pub const Header = @import("http.zig").Header;
pub const Request = @import("http.zig").Request;
pub const Response = @import("http.zig").Response;

/// What a plugin says of itself.
pub const Plugin = struct {
    /// Also the name of the file, without `.wasm`.
    name: [:0]const u8,
    version: [:0]const u8 = "0.1.0",
    description: [:0]const u8,
    tools: []const Tool,
    dependencies: []const Dependency = &.{},
};

/// A handle that the plugin asks for. Asking grants nothing: the policy binds the key, or the call goes without.
pub const Dependency = struct {
    key: [:0]const u8,
    kind: enum { directory, http, store, service },
    /// False: calls are denied while the policy binds nothing to the key.
    optional: bool = false,
    /// For the person who writes the policy.
    reason: [:0]const u8,
};

/// Rights that a tool may use.
pub const Permissions = packed struct(u8) {
    read: bool = false,
    write: bool = false,
    execute: bool = false,
    network: bool = false,
    unused: u4 = 0,
};

/// What its author claims of a tool.
pub const Hints = packed struct(u8) {
    /// Changes nothing outside the sandbox.
    read_only: bool = false,
    /// May destroy or overwrite something.
    destructive: bool = false,
    /// The same call twice has the effect of one.
    idempotent: bool = false,
    /// Reaches things outside the host's control.
    open_world: bool = false,
    /// Must not run beside another call of the session.
    sequential: bool = false,
    unused: u3 = 0,
};

/// One tool, as `tool` makes it.
pub const Tool = struct {
    name: [:0]const u8,
    description: [:0]const u8,
    options: Options,
    schema: [:0]const u8,
    output_schema: ?[:0]const u8,
    run: *const fn (context: *Context, arguments: []const u8) anyerror!Answer,

    /// What a tool may say of itself beside its name and its description.
    pub const Options = struct {
        /// A few words for people.
        title: ?[:0]const u8 = null,
        /// Rights without which it cannot work.
        requires: Permissions = .{},
        /// Rights that it can use when it has them.
        optional: Permissions = .{},
        hints: Hints = .{},
        /// Numbers of a `std.json.Value` in the arguments stay text, digit for digit.
        exact_numbers: bool = false,
    };
};

/// Makes a tool of a function. The function takes a struct for its arguments and a `*Context`, or one of them, or
/// nothing. It returns text, parts, an `Answer`, or anything that std.json can write; a struct is also the schema of
/// the output. An error is a failed call, see `Context.fail`.
pub fn tool(
    comptime name: [:0]const u8,
    comptime description: [:0]const u8,
    comptime function: anytype,
    comptime options: Tool.Options,
) Tool {
    const signature = @typeInfo(@TypeOf(function)).@"fn";
    const Arguments = ArgumentsOf(signature.param_types);
    const Output = Payload(signature.return_type.?);
    const wrapper = struct {
        fn run(context: *Context, text: []const u8) anyerror!Answer {
            const arguments = std.json.parseFromSliceLeaky(Arguments, context.arena, text, .{
                .allocate = .alloc_always,
                .parse_numbers = !options.exact_numbers,
            }) catch |failure| return context.fail(.invalid_arguments, "the arguments cannot be read: {t}", .{failure});
            var parameters: std.meta.ArgsTuple(@TypeOf(function)) = undefined;
            inline for (signature.param_types, 0..) |Parameter, index| {
                parameters[index] = if (Parameter.? == *Context) context else arguments;
            }
            const result = @call(.auto, function, parameters);
            const output: Output = if (@typeInfo(signature.return_type.?) == .error_union) try result else result;
            return Answer.of(context, output);
        }
    };
    return .{
        .name = name,
        .description = description,
        .options = options,
        .schema = schema.of(Arguments),
        .output_schema = if (Answer.hasSchema(Output)) schema.of(Output) else null,
        .run = wrapper.run,
    };
}

fn ArgumentsOf(comptime parameters: []const ?type) type {
    for (parameters) |Parameter| {
        if (Parameter.? != *Context) return Parameter.?;
    }
    return struct {};
}

fn Payload(comptime Returned: type) type {
    return switch (@typeInfo(Returned)) {
        .error_union => |result| result.payload,
        else => Returned,
    };
}

/// Writes a line into the record of the running call. `std.log` writes there too.
pub fn log(level: Level, message: []const u8) void {
    host.portcullis_log_of(@backingInt(level), host.View.of(message));
}

test {
    std.testing.refAllDecls(schema);
}
