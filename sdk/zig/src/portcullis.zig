//! The SDK for plugins in Zig. A plugin's file declares `pub const plugin`. Its tools are functions that take a struct.

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
pub const Program = @import("program.zig").Program;
pub const Launch = @import("program.zig").Launch;
pub const Need = @import("program.zig").Need;
pub const Running = @import("program.zig").Running;
pub const Chunk = @import("program.zig").Chunk;
pub const Exit = @import("program.zig").Exit;
pub const ExitReport = @import("program.zig").ExitReport;
pub const ProgramOutput = @import("program.zig").ProgramOutput;
pub const Toolset = @import("toolset.zig").Toolset;
pub const ToolSummary = @import("toolset.zig").ToolSummary;
pub const CallableTool = @import("toolset.zig").CallableTool;
pub const ToolCall = @import("toolset.zig").ToolCall;
pub const ToolResult = @import("toolset.zig").ToolResult;
pub const ToolFailure = @import("toolset.zig").ToolFailure;
pub const Outlook = @import("toolset.zig").Outlook;
pub const Header = @import("http.zig").Header;
pub const Request = @import("http.zig").Request;
pub const Response = @import("http.zig").Response;

/// The declaration of a plugin.
pub const Plugin = struct {
    /// The plugin's name: that of the file, without `.wasm`.
    name: [:0]const u8,
    version: [:0]const u8 = "0.1.0",
    description: [:0]const u8,
    tools: []const Tool,
    dependencies: []const Dependency = &.{},
};

/// A dependency of a plugin. Declaring it grants nothing: the call gets a handle only if the policy binds its key.
pub const Dependency = struct {
    key: [:0]const u8,
    kind: enum { directory, http, store, service, process, tools },
    /// If false, calls are denied unless the policy binds the key.
    optional: bool = false,
    /// Why the plugin needs it, for the author of the policy.
    reason: [:0]const u8,
};

pub const Permissions = @import("flags.zig").Permissions;
pub const Hints = @import("flags.zig").Hints;

/// A tool. Create it with `tool`.
pub const Tool = struct {
    name: [:0]const u8,
    description: [:0]const u8,
    options: Options,
    schema: [:0]const u8,
    output_schema: ?[:0]const u8,
    run: *const fn (context: *Context, arguments: []const u8) anyerror!Answer,

    /// The optional declarations of a tool, in addition to its name and description.
    pub const Options = struct {
        /// A short title for people.
        title: ?[:0]const u8 = null,
        /// Permissions that the tool requires.
        requires: Permissions = .{},
        /// Permissions that the tool uses if they are granted.
        optional: Permissions = .{},
        hints: Hints = .{},
        /// Keeps numbers of a `std.json.Value` in the arguments as text, digit for digit.
        exact_numbers: bool = false,
    };
};

/// Creates a tool from a function. The function takes a struct for its arguments and a `*Context`, or only one of them,
/// or nothing. It returns text, parts, an `Answer`, or any value that std.json can write. A returned struct also gives
/// the output schema. An error fails the call; see `Context.fail`.
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

/// Returns text in which invalid UTF-8 is replaced by U+FFFD, for bytes that may be anything.
pub fn toUtf8(bytes: []const u8) []const u8 {
    return host.portcullis_to_utf8(host.View.of(bytes)).slice();
}

/// Writes a line to the log of the running call. `std.log` writes there too.
pub fn log(level: Level, message: []const u8) void {
    host.portcullis_log_of(@backingInt(level), host.View.of(message));
}

test {
    std.testing.refAllDecls(schema);
}
