//! Tools of other plugins, which the policy binds.

const std = @import("std");
const portcullis = @import("portcullis");
const Answer = portcullis.Answer;
const Context = portcullis.Context;

const Delegate = struct {
    key: []const u8,
    tool: []const u8,
    arguments: std.json.Value,

    pub const descriptions = .{
        .key = "The key of the tools.",
        .tool = "The full name of the tool.",
        .arguments = "Its arguments.",
    };
    pub const keywords = .{ .arguments = .{ .type = "object" } };
};

pub fn delegate(arguments: Delegate, context: *Context) !Answer {
    const others = try context.tools(arguments.key);
    defer others.close();
    return others.call(arguments.tool, arguments.arguments);
}

const DelegateAll = struct {
    key: []const u8,
    tools: []const []const u8,
    texts: []const []const u8,

    pub const descriptions = .{
        .key = "The key of the tools.",
        .tools = "The full names of the tools.",
        .texts = "The argument of each.",
    };

    /// Returns the calls of the tools with a text each.
    fn calls(arguments: DelegateAll, context: *Context) ![]const portcullis.ToolCall {
        const all = try context.arena.alloc(portcullis.ToolCall, @min(arguments.tools.len, arguments.texts.len));
        for (all, arguments.tools[0..all.len], arguments.texts[0..all.len]) |*call, tool, text| {
            call.* = .{ .tool = tool, .arguments = try context.json(.{ .text = text }) };
        }
        return all;
    }
};

pub fn delegateAll(arguments: DelegateAll, context: *Context) !Answer {
    const others = try context.tools(arguments.key);
    defer others.close();
    const calls = try arguments.calls(context);
    const answers = try context.arena.alloc(One, calls.len);
    for (answers, try others.callAll(calls)) |*to, result| to.* = switch (result) {
        .answer => |answer| .{ .text = try answer.text(context) },
        .failure => |failure| .{ .failure = failure.message },
    };
    return json(context, .{ .answers = answers });
}

/// What is said of one call.
const One = union(enum) { text: []const u8, failure: []const u8 };

pub fn plan(arguments: DelegateAll, context: *Context) !Answer {
    const others = try context.tools(arguments.key);
    defer others.close();
    const calls = try arguments.calls(context);
    const outlooks = try context.arena.alloc([]const u8, calls.len);
    for (outlooks, try others.foresee(calls)) |*to, outlook| to.* = switch (outlook) {
        .runs => "runs",
        .needs_approval => "needs-approval",
        .fails => |failure| try std.fmt.allocPrint(context.arena, "fails: {s}", .{failure.message}),
    };
    return json(context, .{ .outlooks = outlooks, .approved = try others.approve(calls) });
}

const Lookup = struct {
    key: []const u8,
    query: []const u8,
    limit: u32,
    tool: []const u8,

    pub const descriptions = .{
        .key = "The key of the tools.",
        .query = "What the search is for.",
        .limit = "How many tools the search may find.",
        .tool = "The full name of the tool to define.",
    };
    pub const keywords = .{ .limit = .{ .maximum = 100 } };
};

pub fn lookup(arguments: Lookup, context: *Context) !Answer {
    const others = try context.tools(arguments.key);
    defer others.close();
    return json(context, .{
        .list = try others.list(),
        .found = try others.search(arguments.query, arguments.limit),
        .definition = if (others.definition(arguments.tool)) |tool| try defined(context, tool) else null,
    });
}

const Definition = struct {
    name: []const u8,
    title: ?[]const u8,
    description: []const u8,
    schema: std.json.Value,
    output_schema: std.json.Value,
    permissions: []const []const u8,
    hints: []const []const u8,
};

fn defined(context: *Context, tool: portcullis.CallableTool) !Definition {
    return .{
        .name = tool.summary.name,
        .title = tool.summary.title,
        .description = tool.summary.description,
        .schema = try parsed(context, tool.schema),
        .output_schema = try parsed(context, tool.output_schema orelse "null"),
        .permissions = try names(context, tool.permissions),
        .hints = try names(context, tool.hints),
    };
}

fn parsed(context: *Context, text: []const u8) !std.json.Value {
    return std.json.parseFromSliceLeaky(std.json.Value, context.arena, text, .{ .parse_numbers = false });
}

/// The names of the flags that are set.
fn names(context: *Context, flags: anytype) ![]const []const u8 {
    var set: std.ArrayList([]const u8) = .empty;
    inline for (@typeInfo(@TypeOf(flags)).@"struct".field_names) |field| {
        if (@TypeOf(@field(flags, field)) == bool and @field(flags, field)) {
            const name = try std.mem.replaceOwned(u8, context.arena, field, "_", "-");
            try set.append(context.arena, name);
        }
    }
    return set.items;
}

fn json(context: *Context, value: anytype) !Answer {
    return .{ .output = .{ .json = try context.json(value) } };
}
