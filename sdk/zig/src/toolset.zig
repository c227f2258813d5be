//! Tools of other plugins that a policy lets this plugin call.

const std = @import("std");
const host = @import("host.zig");
const json = @import("json.zig");
const answers = @import("answer.zig");
const Answer = answers.Answer;
const Part = answers.Part;
const Context = @import("context.zig").Context;
const FailureKind = @import("context.zig").FailureKind;
const Hints = @import("flags.zig").Hints;
const Permissions = @import("flags.zig").Permissions;
const View = host.View;

/// A tool in a list. The texts are those of another plugin: do not trust them.
pub const ToolSummary = struct {
    /// The full name, such as `files.read`.
    name: []const u8,
    /// A few words for people.
    title: ?[]const u8,
    description: []const u8,

    fn of(raw: host.ToolSummary) ToolSummary {
        return .{ .name = raw.name.slice(), .title = raw.title.optional(), .description = raw.description.slice() };
    }

    fn all(context: *Context, raw: []const host.ToolSummary) ![]const ToolSummary {
        const summaries = try context.arena.alloc(ToolSummary, raw.len);
        for (summaries, raw) |*to, from| to.* = .of(from);
        return summaries;
    }
};

/// The definition of a tool of another plugin.
pub const CallableTool = struct {
    summary: ToolSummary,
    /// JSON Schema of the arguments.
    schema: []const u8,
    /// JSON Schema of the output, if the tool returns JSON.
    output_schema: ?[]const u8,
    /// The permissions that the tool may use.
    permissions: Permissions,
    /// What the author of the tool claims.
    hints: Hints,
};

/// A call of a tool of another plugin.
pub const ToolCall = struct {
    /// The full name of the tool.
    tool: []const u8,
    /// One JSON object, as `Context.json` writes it.
    arguments: []const u8 = "{}",
};

/// How one of several calls ended.
pub const ToolResult = union(enum) {
    answer: Answer,
    failure: ToolFailure,
};

/// What the host would do with a call.
pub const Outlook = union(enum) {
    /// The call would run.
    runs,
    /// An approver would be asked.
    needs_approval,
    /// The call would fail like this.
    fails: ToolFailure,
};

/// Why a call failed, or would fail.
pub const ToolFailure = struct {
    kind: FailureKind,
    /// The text that a model would get.
    message: []const u8,
    /// 0 means unknown.
    retry_after_seconds: u32,

    fn of(raw: host.Failure) ToolFailure {
        return .{
            .kind = @fromBackingInt(@intCast(raw.kind)),
            .message = raw.text(),
            .retry_after_seconds = raw.retry_after_seconds,
        };
    }
};

/// The tools that the policy binds to a key. Each call takes all the steps of a call by a caller: the host checks,
/// decides, limits and records it, and asks an approver where the policy says so.
pub const Toolset = struct {
    context: *Context,
    handle: host.Toolset,

    /// Use `Context.tools` to open a set of tools.
    pub fn open(context: *Context, key: []const u8) !Toolset {
        var failure: host.Failure = undefined;
        var handle: host.Toolset = undefined;
        if (!host.portcullis_open_tools(try context.terminated(key), &handle, &failure)) {
            return context.refused(failure);
        }
        return .{ .context = context, .handle = handle };
    }

    /// Closes the set. The end of the call closes it too.
    pub fn close(toolset: Toolset) void {
        host.portcullis_close_tools(toolset.handle);
    }

    /// Returns the tools that a call could reach now, sorted by name.
    pub fn list(toolset: Toolset) ![]const ToolSummary {
        var count: usize = 0;
        const found = host.portcullis_list_tools(toolset.handle, &count);
        return ToolSummary.all(toolset.context, found[0..count]);
    }

    /// Returns the tools that fit a need best, at most `tools_max`, the best first. `query` describes the need in
    /// words.
    pub fn search(toolset: Toolset, query: []const u8, tools_max: u32) ![]const ToolSummary {
        var count: usize = 0;
        const found = host.portcullis_search_tools_of(toolset.handle, View.of(query), tools_max, &count);
        return ToolSummary.all(toolset.context, found[0..count]);
    }

    /// Returns the definition of a tool, or null if no call could reach it.
    pub fn definition(toolset: Toolset, tool: []const u8) ?CallableTool {
        var found: host.Callable = undefined;
        if (!host.portcullis_define_tool_of(toolset.handle, View.of(tool), &found)) return null;
        return .{
            .summary = .of(found.summary),
            .schema = found.schema.slice(),
            .output_schema = found.output_schema.optional(),
            .permissions = @bitCast(@as(u8, @truncate(found.permissions))),
            .hints = @bitCast(@as(u8, @truncate(found.hints))),
        };
    }

    /// Calls a tool and waits for its answer. The arguments are a struct or another value that `std.json` writes as one
    /// JSON object. A null field is omitted. The time of the tool counts for this call, and the time in which it waits
    /// for an approver or for its turn does not. If the host refuses the call or the tool fails, the error has its
    /// kind, and `Context.messageOf` returns its text. A tool may return the answer as its own.
    pub fn call(toolset: Toolset, tool: []const u8, arguments: anytype) !Answer {
        const context = toolset.context;
        const document = try json.write(context, arguments, .{ .emit_null_optional_fields = false });
        var failure: host.Failure = undefined;
        var answer: host.Answer = undefined;
        if (!host.portcullis_call_tool_of(toolset.handle, View.of(tool), View.of(document), &answer, &failure)) {
            return context.refused(failure);
        }
        return raise(context, answer);
    }

    /// Calls several tools at the same time, and returns their results in order. A tool that may change something runs
    /// alone. On an error no tool was called.
    pub fn callAll(toolset: Toolset, calls: []const ToolCall) ![]const ToolResult {
        const context = toolset.context;
        const lowered = try lower(context, calls);
        const results = try context.arena.alloc(ToolResult, calls.len);
        var failure: host.Failure = undefined;
        var raw: [*]host.Answer = undefined;
        if (!host.portcullis_call_tools(toolset.handle, lowered.ptr, lowered.len, &raw, &failure)) {
            return context.refused(failure);
        }
        for (results, raw[0..calls.len]) |*to, from| to.* = switch (from.kind) {
            .failure => .{ .failure = .of(from.failure) },
            .text, .json, .parts => .{ .answer = try raise(context, from) },
        };
        return results;
    }

    /// Says what the host would do with each call now, at most 100. Nothing runs, and no approver is asked.
    pub fn foresee(toolset: Toolset, calls: []const ToolCall) ![]const Outlook {
        const context = toolset.context;
        const lowered = try lower(context, calls);
        const outlooks = try context.arena.alloc(Outlook, calls.len);
        var failure: host.Failure = undefined;
        var raw: [*]host.Outlook = undefined;
        if (!host.portcullis_foresee_calls(toolset.handle, lowered.ptr, lowered.len, &raw, &failure)) {
            return context.refused(failure);
        }
        for (outlooks, raw[0..calls.len]) |*to, from| to.* = switch (from.kind) {
            .runs => .runs,
            .needs_approval => .needs_approval,
            .fails => .{ .fails = .of(from.failure) },
        };
        return outlooks;
    }

    /// Asks an approver about calls together before they are made, at most 100. The approver reads the exact arguments
    /// of each, and approves all, some or none. Says for each call whether it can now be made without a request of its
    /// own.
    ///
    /// Each approval counts once, for exactly these arguments, until this call ends. A call that the approver did not
    /// approve fails when it is made. The host does not ask about a single call, or where no approver can answer now.
    pub fn approve(toolset: Toolset, calls: []const ToolCall) ![]const bool {
        const context = toolset.context;
        const lowered = try lower(context, calls);
        var failure: host.Failure = undefined;
        var approved: [*]bool = undefined;
        if (!host.portcullis_approve_calls(toolset.handle, lowered.ptr, lowered.len, &approved, &failure)) {
            return context.refused(failure);
        }
        return approved[0..calls.len];
    }
};

fn lower(context: *Context, calls: []const ToolCall) ![]const host.ToolCall {
    const lowered = try context.arena.alloc(host.ToolCall, calls.len);
    for (lowered, calls) |*to, from| to.* = .{ .tool = View.of(from.tool), .arguments = View.of(from.arguments) };
    return lowered;
}

fn raise(context: *Context, raw: host.Answer) !Answer {
    return .{
        .output = switch (raw.kind) {
            .text => .{ .text = slice(raw.text, raw.text_length) orelse "" },
            .json => .{ .json = slice(raw.text, raw.text_length) orelse "" },
            .parts => .{ .parts = try raiseParts(context, raw) },
            // The C library returns a failure instead of this answer.
            .failure => unreachable,
        },
        .title = slice(raw.title, raw.title_length),
        .metadata = slice(raw.metadata, raw.metadata_length),
    };
}

fn raiseParts(context: *Context, raw: host.Answer) ![]const Part {
    const parts = try context.arena.alloc(Part, raw.part_count);
    for (parts, 0..) |*to, index| {
        const from = raw.parts.?[index];
        const data = from.data[0..from.length];
        to.* = switch (from.kind) {
            0 => .{ .text = data },
            1 => .{ .image = raiseBlob(from, data) },
            else => .{ .file = raiseBlob(from, data) },
        };
    }
    return parts;
}

fn raiseBlob(raw: host.Part, data: []const u8) Part.Blob {
    return .{
        .media_type = if (raw.media_type) |text| std.mem.span(text) else "",
        .data = data,
        .name = if (raw.name) |text| std.mem.span(text) else null,
    };
}

fn slice(text: ?[*]const u8, length: usize) ?[]const u8 {
    return if (text) |there| there[0..length] else null;
}
