//! What goes in and out: shapes of data, and their sizes.

const std = @import("std");
const portcullis = @import("portcullis");
const Context = portcullis.Context;

/// What the tool `picture` shows.
const pixel = @embedFile("pixel.png");

const Echo = struct {
    value: std.json.Value,

    pub const descriptions = .{ .value = "Any JSON." };
};

pub fn echo(arguments: Echo, context: *Context) !portcullis.Answer {
    return .{ .output = .{ .json = try context.json(.{ .value = arguments.value }) } };
}

const Reverse = struct {
    text: []const u8,

    pub const descriptions = .{ .text = "The text to reverse." };
};

pub fn reverse(arguments: Reverse, context: *Context) !portcullis.Answer {
    const reversed = try context.arena.alloc(u8, arguments.text.len);
    var characters: usize = 0;
    var end = reversed.len;
    var iterator = (try std.unicode.Utf8View.init(arguments.text)).iterator();
    while (iterator.nextCodepointSlice()) |character| {
        end -= character.len;
        @memcpy(reversed[end..][0..character.len], character);
        characters += 1;
    }
    return .{
        .output = .{ .text = reversed },
        .title = "Reversed",
        .metadata = try context.json(.{ .characters = characters }),
    };
}

const Repeat = struct {
    text: []const u8,
    times: usize,

    pub const descriptions = .{ .text = "The text to repeat.", .times = "How often." };
    pub const keywords = .{ .times = .{ .minimum = 0, .maximum = 10_000_000 } };
};

pub fn repeat(arguments: Repeat, context: *Context) ![]const u8 {
    const text = arguments.text;
    const repeated = try context.arena.alloc(u8, try std.math.mul(usize, text.len, arguments.times));
    for (0..arguments.times) |index| @memcpy(repeated[index * text.len ..][0..text.len], text);
    return repeated;
}

const Measure = struct {
    text: []const u8,

    pub const descriptions = .{ .text = "The text to measure." };
};

pub fn measure(arguments: Measure, context: *Context) !portcullis.Answer {
    const characters = try std.unicode.utf8CountCodepoints(arguments.text);
    return .{ .output = .{ .json = try context.json(.{ .bytes = arguments.text.len, .characters = characters }) } };
}

const Add = struct {
    a: i64,
    b: i64,
    note: ?[]const u8 = null,
    kind: Kind = .exact,

    const Kind = enum { exact, rounded };
    pub const descriptions = .{
        .a = "The first number.",
        .b = "The second number.",
        .note = "Words that come back beside the sum.",
        .kind = "How the sum is meant.",
    };
};

const Sum = struct {
    sum: i64,
    kind: Add.Kind,
    note: ?[]const u8 = null,

    pub const descriptions = .{
        .sum = "Both numbers together.",
        .kind = "How it is meant.",
        .note = "The words that came with the numbers.",
    };
};

pub fn add(arguments: Add, context: *Context) !Sum {
    const sum = std.math.add(i64, arguments.a, arguments.b) catch {
        return context.fail(.invalid_arguments, "the sum is beyond 64 bits: take smaller numbers", .{});
    };
    return .{ .sum = sum, .kind = arguments.kind, .note = arguments.note };
}

pub fn picture() portcullis.Answer {
    return .{
        .title = "Picture",
        .output = .{ .parts = &.{
            .{ .text = "a pixel" },
            .{ .image = .{ .media_type = "image/png", .data = pixel } },
            .{ .file = .{ .media_type = "application/octet-stream", .data = "\x00\x01\x02\xff" } },
        } },
    };
}

const WriteOut = struct {
    pieces: u16,

    pub const descriptions = .{ .pieces = "How many pieces." };
    pub const keywords = .{ .pieces = .{ .minimum = 1, .maximum = 1000 } };
};

pub fn writeOut(arguments: WriteOut, context: *Context) ![]const u8 {
    for (1..arguments.pieces + 1) |piece| {
        try context.write(try std.fmt.allocPrint(context.arena, "piece {d}\n", .{piece}));
    }
    return "end";
}

const Keep = struct {
    name: []const u8,
    text: []const u8,

    pub const descriptions = .{ .name = "The name of the file.", .text = "Its content." };
};

pub fn keep(arguments: Keep, context: *Context) ![]const u8 {
    const name = try context.terminated(arguments.name);
    try context.keep(.{ .media_type = "text/plain", .data = arguments.text, .name = name });
    return "kept";
}
