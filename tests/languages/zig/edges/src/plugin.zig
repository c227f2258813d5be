//! What stands at the edges of the SDK: shapes of arguments and answers, JSON that cannot be written, texts with NUL.

const std = @import("std");
const portcullis = @import("portcullis");
const Context = portcullis.Context;
const tool = portcullis.tool;

/// More stores than the case of them has handles.
const stores = 100;

pub const plugin: portcullis.Plugin = .{
    .name = "edges",
    .description = "Stands at the edges of the SDK.",
    .dependencies = &.{
        .{ .key = "notes", .kind = .store, .optional = true, .reason = "what is opened" },
        .{ .key = "web", .kind = .http, .optional = true, .reason = "what is fetched" },
        .{ .key = "git", .kind = .process, .optional = true, .reason = "reads the commits" },
        .{ .key = "others", .kind = .tools, .optional = true, .reason = "reads the file" },
    },
    .tools = &.{
        tool("shapes", "Gives back arguments of many shapes.", shapes, .{}),
        tool("latin-text", "Answers with text that is no UTF-8.", latinText, .{}),
        tool("latin-json", "Answers with a struct that is no UTF-8.", latinJson, .{}),
        tool("latin-value", "Answers with a value that is no UTF-8.", latinValue, .{}),
        tool("latin-said", "Says what is no UTF-8.", latinSaid, .{}),
        tool("latin-failure", "Fails with words that are no UTF-8.", latinFailure, .{}),
        tool("no-number", "Answers with NaN, which JSON has not.", noNumber, .{}),
        tool("long-words", "Says what has a NUL in it.", longWords, .{}),
        tool("long-failure", "Fails with words that have a NUL.", longFailure, .{}),
        tool("long-names", "Names what has a NUL in it.", longNames, .{ .optional = .{ .network = true } }),
        tool("named", "Names an image and a file.", named, .{}),
        tool("later", "Says when to try again.", later, .{}),
        tool("keeps", "Keeps a file beside its answer.", keeps, .{}),
        tool("history", "Shows the last commits.", history, .{ .requires = .{ .execute = true } }),
        tool("lines", "Counts the lines of the readme.", lines, .{}),
        tool("open-often", "Opens many stores, one after the other.", openOften, .{}),
        tool("panics", "Panics with words that are no UTF-8.", panics, .{}),
    },
};

const In = struct {
    unit: enum { metric, imperial } = .metric,

    pub const descriptions = .{ .unit = "The unit." };
};

const Shapes = struct {
    limit: ?u8 = null,
    page: ?u8 = 7,
    tags: []const []const u8 = &.{},
    in: In = .{},
    corner: [3]f64 = .{ 0, 0, 0 },
    holes: []const ?i32 = &.{ 1, null },
    any: std.json.Value = .null,

    pub const descriptions = .{
        .limit = "How many.",
        .page = "Which.",
        .tags = "Words.",
        .in = "How.",
        .corner = "Where.",
        .holes = "What is there.",
        .any = "Anything.",
    };
    pub const keywords = .{ .limit = .{ .minimum = 1, .maximum = 50 } };
};

fn shapes(arguments: Shapes) Shapes {
    return arguments;
}

fn latinText() []const u8 {
    return "\xff\xfe\x00a";
}

const Text = struct {
    text: []const u8,

    pub const descriptions = .{ .text = "A text." };
};

fn latinJson() Text {
    return .{ .text = "caf\xe9" };
}

fn latinValue(context: *Context) !portcullis.Answer {
    const list = [_]std.json.Value{.{ .string = "caf\xe9" }};
    return .{ .output = .{ .json = try context.json(.{ .values = &list }) } };
}

fn latinSaid(context: *Context) portcullis.Answer {
    context.log(.info, "{s} is logged", .{"caf\xe9"});
    context.report(.{ .title = "caf\xe9", .fraction = 0.5 });
    return .{ .output = .{ .text = "done" }, .title = "caf\xe9" };
}

fn latinFailure(context: *Context) portcullis.Error![]const u8 {
    return context.fail(.failed, "{s}", .{"caf\xe9"});
}

const Number = struct {
    number: ?f64 = null,

    pub const descriptions = .{ .number = "A number." };
};

fn noNumber() Number {
    return .{ .number = std.math.nan(f64) };
}

fn longWords(context: *Context) portcullis.Answer {
    context.log(.info, "{s}", .{"a\x00b"});
    context.report(.{ .title = "a\x00b" });
    return .{ .output = .{ .text = "a\x00b" }, .title = "a\x00b", .metadata = "{\"a\":1}" };
}

fn longFailure(context: *Context) portcullis.Error![]const u8 {
    return context.fail(.failed, "{s}", .{"a\x00b"});
}

fn longNames(context: *Context) ![]const u8 {
    var said: std.ArrayList(u8) = .empty;
    if (context.store("notes\x00x")) |_| return "a store was opened" else |failure| {
        try said.print(context.arena, "{t}|", .{failure});
    }
    if (context.fetch("web", .{ .url = "http://example.com/\x00x" })) |_| return "it was sent" else |failure| {
        try said.print(context.arena, "{t}|", .{failure});
    }
    if (context.directory("notes\x00x")) |_| return "a directory was opened" else |failure| {
        try said.print(context.arena, "{t}", .{failure});
    }
    return said.items;
}

fn named() []const portcullis.Part {
    return &.{
        .{ .image = .{ .media_type = "image/png", .data = "a", .name = "plot.png" } },
        .{ .file = .{ .media_type = "text/csv", .data = "a", .name = "report.csv" } },
    };
}

fn later(context: *Context) portcullis.Error![]const u8 {
    return context.failUntil(90, "the queue is full", .{});
}

fn keeps(context: *Context) ![]const u8 {
    try context.keep(.{ .media_type = "text/plain", .data = "one\ntwo", .name = "notes.txt" });
    return "done";
}

// The examples of the SDK's README.

fn history(context: *portcullis.Context) ![]const u8 {
    const git = try context.program("git");
    const output = try git.run(.{ .arguments = &.{ "log", "-5", "--oneline" }, .directory = "/workspace" }, 64 * 1024);
    if (!output.report.isSuccess()) return context.fail(.failed, "git: {f}", .{output.report.exit});
    return portcullis.toUtf8(output.stdout);
}

fn lines(context: *portcullis.Context) ![]const u8 {
    const others = try context.tools("others");
    const readme = try others.call("files.read", .{ .path = "README.md" });
    const count = std.mem.countScalar(u8, try readme.text(context), '\n');
    return std.fmt.allocPrint(context.arena, "{d}", .{count});
}

fn openOften(context: *Context) ![]const u8 {
    for (0..stores) |_| {
        const notes = try context.store("notes");
        notes.close();
    }
    return "done";
}

fn panics(context: *Context) []const u8 {
    @panic(std.fmt.allocPrint(context.arena, "{s} is too much", .{"caf\xe9"}) catch "");
}
