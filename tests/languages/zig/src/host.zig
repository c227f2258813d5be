//! What a tool sees of its host, and says to it.

const std = @import("std");
const portcullis = @import("portcullis");
const Answer = portcullis.Answer;
const Context = portcullis.Context;

/// A sleep that every clock notices.
const nap: std.Io.Duration = .fromMilliseconds(5);

const Steps = struct {
    steps: u16,

    pub const descriptions = .{ .steps = "How many steps." };
    pub const keywords = .{ .steps = .{ .minimum = 1, .maximum = 100 } };
};

pub fn progress(arguments: Steps, at: *Context) ![]const u8 {
    for (1..arguments.steps + 1) |step| {
        at.report(.{
            .title = try std.fmt.allocPrint(at.arena, "step {d}", .{step}),
            .fraction = @as(f32, @floatFromInt(step)) / @as(f32, @floatFromInt(arguments.steps)),
            .metadata = try at.json(.{ .step = step }),
        });
    }
    return "done";
}

pub fn context(at: *Context) !Answer {
    return json(at, at.call());
}

const Ask = struct {
    permission: enum { read, write, execute, network },
    resource: []const u8,
    reason: []const u8,

    pub const descriptions = .{ .permission = "The kind of right.", .resource = "What it is about.", .reason = "Why." };
};

pub fn ask(arguments: Ask, at: *Context) ![]const u8 {
    try at.ask(@tagName(arguments.permission), arguments.resource, arguments.reason);
    return "yes";
}

const Fetch = struct {
    url: []const u8,
    method: []const u8 = "GET",
    body: ?[]const u8 = null,

    pub const descriptions = .{
        .url = "The URL to fetch.",
        .method = "The method of the request.",
        .body = "What to send.",
    };
};

pub fn fetch(arguments: Fetch, at: *Context) !Answer {
    const response = at.fetch("web", .{
        .url = arguments.url,
        .method = arguments.method,
        .headers = &.{.{ .name = "x-test", .value = "conformance" }},
        .body = arguments.body orelse "",
    }) catch |failure| {
        return at.fail(.unavailable, "cannot fetch {s}: {s}", .{ arguments.url, at.messageOf(failure) });
    };
    return json(at, .{ .status = response.status, .type = response.header("content-type"), .body = response.body });
}

const Note = struct {
    key: []const u8,
    value: std.json.Value,

    pub const descriptions = .{ .key = "The name of the value.", .value = "Any JSON." };
};

pub fn remember(arguments: Note, at: *Context) ![]const u8 {
    const notes = try at.store("notes");
    try notes.set(arguments.key, try at.json(arguments.value));
    return "remembered";
}

const Key = struct {
    key: []const u8,

    pub const descriptions = .{ .key = "The name of the value." };
};

pub fn recall(arguments: Key, at: *Context) !Answer {
    const notes = try at.store("notes");
    const text = try notes.get(arguments.key) orelse "null";
    const value = try std.json.parseFromSliceLeaky(std.json.Value, at.arena, text, .{ .parse_numbers = false });
    return json(at, .{ .value = value });
}

pub fn setting(arguments: Key, at: *Context) !Answer {
    return json(at, .{ .value = at.setting(arguments.key) });
}

const Print = struct {
    text: []const u8,

    pub const descriptions = .{ .text = "The text to write." };
};

pub fn print(arguments: Print, at: *Context) ![]const u8 {
    var buffer: [64]u8 = undefined;
    var output = std.Io.File.stdout().writer(at.io(), &buffer);
    try output.interface.print("{s} on stdout\n", .{arguments.text});
    try output.interface.flush();
    std.debug.print("{s} on stderr\n", .{arguments.text});
    at.log(.warn, "{s}", .{arguments.text});
    return "printed";
}

pub fn surroundings(at: *Context) !Answer {
    const io = at.io();
    const now = std.Io.Clock.real.now(io);
    const before = std.Io.Clock.awake.now(io);
    try io.sleep(nap, .awake);
    const after = std.Io.Clock.awake.now(io);
    var random: [16]u8 = undefined;
    try io.randomSecure(&random);
    var insecure: std.Random.DefaultPrng = .init(@truncate(@as(u96, @bitCast(now.nanoseconds))));
    return json(at, .{
        .now = now.toMilliseconds(),
        .monotonic = before.durationTo(after).nanoseconds >= nap.nanoseconds,
        .random = std.fmt.bytesToHex(random, .lower),
        .insecure = insecure.random().float(f64),
        .environment = try environment(at),
        .arguments = try argumentCount(),
    });
}

fn environment(at: *Context) ![]const []const u8 {
    var names: std.ArrayList([]const u8) = .empty;
    var index: usize = 0;
    while (std.c.environ[index]) |variable| : (index += 1) {
        var parts = std.mem.splitScalar(u8, std.mem.span(variable), '=');
        try names.append(at.arena, parts.first());
    }
    return names.items;
}

/// How many there are after the name. A plugin has no main() that would be told.
fn argumentCount() !usize {
    var count: usize = 0;
    var bytes: usize = 0;
    if (std.os.wasi.args_sizes_get(&count, &bytes) != .SUCCESS) return error.ArgumentsUnavailable;
    return count -| 1;
}

fn json(at: *Context, value: anytype) !Answer {
    return .{ .output = .{ .json = try at.json(value) } };
}
