//! Files of a granted directory, through the standard library alone.

const std = @import("std");
const portcullis = @import("portcullis");
const Context = portcullis.Context;

/// The largest file that is read. The host bounds what a tool may answer with anyway.
const file_bytes_max = 64 * 1024 * 1024;

const Place = struct {
    path: []const u8,

    pub const descriptions = .{ .path = "The path below the workspace." };
};

const Write = struct {
    path: []const u8,
    text: []const u8,

    pub const descriptions = .{ .path = "The path below the workspace.", .text = "The whole content." };
};

pub fn read(arguments: Place, context: *Context) ![]const u8 {
    return readAll(context, arguments.path) catch |failure| return cannot(context, "read", arguments.path, failure);
}

fn readAll(context: *Context, path: []const u8) ![]const u8 {
    const workspace = try context.directory("workspace");
    return workspace.readFileAlloc(context.io(), path, context.arena, .limited(file_bytes_max));
}

pub fn write(arguments: Write, context: *Context) ![]const u8 {
    writeAll(context, arguments) catch |failure| return cannot(context, "write", arguments.path, failure);
    return std.fmt.allocPrint(context.arena, "wrote {d} bytes", .{arguments.text.len});
}

fn writeAll(context: *Context, arguments: Write) !void {
    const workspace = try context.directory("workspace");
    if (std.fs.path.dirname(arguments.path)) |parent| try workspace.createDirPath(context.io(), parent);
    try workspace.writeFile(context.io(), .{ .sub_path = arguments.path, .data = arguments.text });
}

const Entry = struct {
    name: []const u8,
    kind: []const u8,
    size: u64,

    fn isBefore(_: void, left: Entry, right: Entry) bool {
        return std.mem.lessThan(u8, left.name, right.name);
    }
};

pub fn list(arguments: Place, context: *Context) !portcullis.Answer {
    const found = entries(context, arguments.path) catch |failure| {
        return cannot(context, "list", arguments.path, failure);
    };
    std.mem.sort(Entry, found, {}, Entry.isBefore);
    return .{ .output = .{ .json = try context.json(.{ .entries = found }) } };
}

fn entries(context: *Context, path: []const u8) ![]Entry {
    const io = context.io();
    const workspace = try context.directory("workspace");
    var directory = try workspace.openDir(io, path, .{ .iterate = true });
    defer directory.close(io);
    var found: std.ArrayList(Entry) = .empty;
    var iterator = directory.iterate();
    while (try iterator.next(io)) |entry| {
        const is_directory = entry.kind == .directory;
        try found.append(context.arena, .{
            .name = try context.arena.dupe(u8, entry.name),
            .kind = if (is_directory) "directory" else "file",
            .size = if (is_directory) 0 else (try directory.statFile(io, entry.name, .{})).size,
        });
    }
    return found.items;
}

pub fn remove(arguments: Place, context: *Context) ![]const u8 {
    removeFile(context, arguments.path) catch |failure| return cannot(context, "remove", arguments.path, failure);
    return "removed";
}

fn removeFile(context: *Context, path: []const u8) !void {
    const workspace = try context.directory("workspace");
    try workspace.deleteFile(context.io(), path);
}

fn cannot(context: *Context, what: []const u8, path: []const u8, failure: anyerror) portcullis.Error {
    return context.fail(.failed, "cannot {s} {s}: {t}", .{ what, path, failure });
}
