//! The root of every plugin. Implements what the C library exports, with the `plugin` of the author's file.

const std = @import("std");
const portcullis = @import("portcullis");
const host = portcullis.host;
const plugin: portcullis.Plugin = @import("plugin").plugin;

/// Sends `std.log` to the log of the call.
pub const std_options: std.Options = .{ .logFn = log, .allow_stack_tracing = false };

/// The size of the buffer for a panic message. The buffer is on the stack, because a lack of memory may have caused the
/// panic. A longer message is logged without the prefix.
const panic_bytes = 512;

/// Handles panics. A panic cannot return an answer, so this logs its message and ends the instance.
pub const panic = std.debug.FullPanic(recordAndTrap);

fn recordAndTrap(message: []const u8, _: ?usize) noreturn {
    var buffer: [panic_bytes]u8 = undefined;
    portcullis.log(.critical, std.fmt.bufPrint(&buffer, "panic: {s}", .{message}) catch message);
    @trap();
}

fn log(
    comptime level: std.log.Level,
    comptime scope: @EnumLiteral(),
    comptime format: []const u8,
    arguments: anytype,
) void {
    const prefix = if (scope == .default) "" else @tagName(scope) ++ ": ";
    const text = std.fmt.allocPrint(std.heap.c_allocator, prefix ++ format, arguments) catch return;
    defer std.heap.c_allocator.free(text);
    portcullis.log(switch (level) {
        .err => .err,
        .warn => .warn,
        .info => .info,
        .debug => .debug,
    }, text);
}

const tools: [plugin.tools.len]host.Tool = tools: {
    var all: [plugin.tools.len]host.Tool = undefined;
    for (&all, plugin.tools) |*to, from| to.* = .{
        .name = from.name,
        .title = if (from.options.title) |title| title.ptr else null,
        .description = from.description,
        .schema = from.schema,
        .output_schema = if (from.output_schema) |text| text.ptr else null,
        .required = @as(u8, @bitCast(from.options.requires)),
        .optional = @as(u8, @bitCast(from.options.optional)),
        .hints = @as(u8, @bitCast(from.options.hints)),
    };
    break :tools all;
};

const dependencies: [plugin.dependencies.len]host.Dependency = dependencies: {
    var all: [plugin.dependencies.len]host.Dependency = undefined;
    for (&all, plugin.dependencies) |*to, from| to.* = .{
        .key = from.key,
        .kind = @backingInt(from.kind),
        .optional = from.optional,
        .reason = from.reason,
    };
    break :dependencies all;
};

export const portcullis_this_plugin: host.Plugin = .{
    .name = plugin.name,
    .version = plugin.version,
    .description = plugin.description,
    .tools = &tools,
    .tool_count = tools.len,
    .dependencies = &dependencies,
    .dependency_count = dependencies.len,
};

/// Runs a tool. Its memory is not freed, because the instance ends with the call.
export fn portcullis_run(tool: *const host.Tool, arguments: host.Bytes) host.Answer {
    var arena: std.heap.ArenaAllocator = .init(std.heap.c_allocator);
    var context: portcullis.Context = .{ .arena = arena.allocator() };
    const index = (@intFromPtr(tool) - @intFromPtr(&tools)) / @sizeOf(host.Tool);
    const answer = plugin.tools[index].run(&context, arguments.slice()) catch |failure| return failed(&context, failure);
    return lower(&context, answer) catch |failure| failed(&context, failure);
}

fn failed(context: *portcullis.Context, failure: anyerror) host.Answer {
    const message = host.View.of(context.messageOf(failure));
    var answer = host.portcullis_fail_of(@backingInt(portcullis.FailureKind.of(failure)), message);
    answer.failure.retry_after_seconds = context.retryAfterSecondsOf(failure);
    return answer;
}

fn lower(context: *portcullis.Context, answer: portcullis.Answer) !host.Answer {
    var lowered: host.Answer = .{ .kind = .text };
    if (answer.title) |text| {
        lowered.title = orEmpty(text).ptr;
        lowered.title_length = text.len;
    }
    if (answer.metadata) |text| {
        lowered.metadata = orEmpty(text).ptr;
        lowered.metadata_length = text.len;
    }
    switch (answer.output) {
        .text, .json => |text| {
            lowered.kind = if (answer.output == .json) .json else .text;
            lowered.text = text.ptr;
            lowered.text_length = text.len;
        },
        .parts => |parts| {
            const list = try context.arena.alloc(host.Part, parts.len);
            for (list, parts) |*to, from| to.* = lowerPart(from);
            lowered.kind = .parts;
            lowered.parts = list.ptr;
            lowered.part_count = list.len;
        },
    }
    return lowered;
}

/// Returns a text that ends with NUL if it is empty, because C reads a text of length 0 up to its NUL.
fn orEmpty(text: []const u8) []const u8 {
    return if (text.len > 0) text else "";
}

fn lowerPart(part: portcullis.Part) host.Part {
    return switch (part) {
        .text => |text| .{ .kind = 0, .media_type = null, .data = text.ptr, .length = text.len },
        .image => |blob| lowerBlob(1, blob),
        .file => |blob| lowerBlob(2, blob),
    };
}

fn lowerBlob(kind: c_int, blob: portcullis.Part.Blob) host.Part {
    return .{
        .kind = kind,
        .media_type = blob.media_type,
        .data = blob.data.ptr,
        .length = blob.data.len,
        .name = if (blob.name) |name| name.ptr else null,
    };
}
