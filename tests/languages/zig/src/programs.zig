//! Programs of the system, which the policy binds.

const std = @import("std");
const portcullis = @import("portcullis");
const Answer = portcullis.Answer;
const Context = portcullis.Context;

/// How much is kept of each stream.
const kept_bytes = 100_000;
/// How much of what was written before is searched too.
const tail_bytes = 100;

const Run = struct {
    key: []const u8,
    arguments: []const []const u8,
    input: ?[]const u8 = null,
    directory: ?[]const u8 = null,
    merge: bool = false,
    needs_host: ?[]const u8 = null,
    needs_read: ?[]const u8 = null,
    needs_write: ?[]const u8 = null,

    pub const descriptions = .{
        .key = "The key of the program.",
        .arguments = "Its arguments.",
        .input = "What it reads from stdin.",
        .directory = "The directory to start in.",
        .merge = "Whether stderr goes to the stream of stdout.",
        .needs_host = "A host and a port that the program lacks.",
        .needs_read = "A directory of the machine that the program has to read.",
        .needs_write = "A directory of the machine that the program has to write.",
    };

    fn needs(arguments: Run) ?portcullis.Need {
        if (arguments.needs_host) |host| return .{ .destination = host };
        if (arguments.needs_read) |path| return .{ .readable_directory = path };
        if (arguments.needs_write) |path| return .{ .writable_directory = path };
        return null;
    }
};

pub fn run(arguments: Run, context: *Context) !Answer {
    const program = try context.program(arguments.key);
    defer program.close();
    const output = try program.run(.{
        .arguments = arguments.arguments,
        .environment = &.{.{ .name = "CALLER", .value = "conformance" }},
        .directory = arguments.directory,
        .input = arguments.input orelse "",
        .merge = arguments.merge,
        .needs = arguments.needs(),
    }, kept_bytes);
    return json(context, .{
        .exit = try exitText(context, output.report),
        .stdout = portcullis.toUtf8(output.stdout),
        .stderr = portcullis.toUtf8(output.stderr),
        .cut = output.is_cut,
    });
}

const Stream = struct {
    key: []const u8,
    arguments: []const []const u8,
    input: ?[]const u8 = null,
    until: ?[]const u8 = null,

    pub const descriptions = .{
        .key = "The key of the program.",
        .arguments = "Its arguments.",
        .input = "What it reads from stdin.",
        .until = "The text that ends the program.",
    };
};

pub fn stream(arguments: Stream, context: *Context) ![]const u8 {
    const program = try context.program(arguments.key);
    defer program.close();
    const running = try program.start(.{
        .arguments = arguments.arguments,
        .input = arguments.input orelse "",
        .merge = true,
    });
    defer running.close();
    var tail: std.ArrayList(u8) = .empty;
    while (try running.next()) |chunk| {
        defer chunk.deinit();
        try context.write(chunk.bytes);
        const dropped = tail.items.len -| tail_bytes;
        try tail.replaceRange(context.arena, 0, dropped, "");
        try tail.appendSlice(context.arena, chunk.bytes);
        const until = arguments.until orelse continue;
        if (std.mem.find(u8, tail.items, until) != null) running.kill();
    }
    return std.fmt.allocPrint(context.arena, "[{f}]", .{(try running.wait()).exit});
}

const Converse = struct {
    key: []const u8,
    arguments: []const []const u8,
    lines: []const []const u8,

    pub const descriptions = .{
        .key = "The key of the program.",
        .arguments = "Its arguments.",
        .lines = "What to write.",
    };
};

pub fn converse(arguments: Converse, context: *Context) !Answer {
    const program = try context.program(arguments.key);
    defer program.close();
    const running = try program.start(.{ .arguments = arguments.arguments, .interactive = true, .merge = true });
    defer running.close();
    var reader: Reader = .{ .context = context, .running = running };
    var replies: std.ArrayList([]const u8) = .empty;
    for (arguments.lines) |line| {
        try running.write(line);
        try running.write("\n");
        try replies.append(context.arena, try reader.line());
    }
    try running.endInput();
    const rest = try reader.all();
    const report = try running.wait();
    return json(context, .{ .replies = replies.items, .rest = rest, .exit = try exitText(context, report) });
}

/// What a program wrote, and the tool has not read.
const Reader = struct {
    context: *Context,
    running: portcullis.Running,
    unread: std.ArrayList(u8) = .empty,

    /// Reads more. Returns whether there was more.
    fn more(reader: *Reader) !bool {
        const chunk = try reader.running.next() orelse return false;
        defer chunk.deinit();
        try reader.unread.appendSlice(reader.context.arena, chunk.bytes);
        return true;
    }

    fn take(reader: *Reader, length: usize) ![]const u8 {
        const taken = try reader.context.arena.dupe(u8, reader.unread.items[0..length]);
        try reader.unread.replaceRange(reader.context.arena, 0, length, "");
        return taken;
    }

    /// Returns the next line, or the rest if there is none.
    fn line(reader: *Reader) ![]const u8 {
        while (true) {
            if (std.mem.findScalar(u8, reader.unread.items, '\n')) |end| return reader.take(end + 1);
            if (!try reader.more()) return reader.all();
        }
    }

    fn all(reader: *Reader) ![]const u8 {
        while (try reader.more()) {}
        return reader.take(reader.unread.items.len);
    }
};

fn exitText(context: *Context, report: portcullis.ExitReport) ![]const u8 {
    return std.fmt.allocPrint(context.arena, "{f}", .{report.exit});
}

fn json(context: *Context, value: anytype) !Answer {
    return .{ .output = .{ .json = try context.json(value) } };
}
