//! The answers of tools.

const std = @import("std");
const Context = @import("context.zig").Context;
const json = @import("json.zig");

/// One part of an answer with several parts.
pub const Part = union(enum) {
    text: []const u8,
    image: Blob,
    file: Blob,

    /// Bytes and their media type, such as `image/png`.
    pub const Blob = struct {
        media_type: [:0]const u8,
        data: []const u8,
        /// The file name for people, such as `report.csv`. It is never a path.
        name: ?[:0]const u8 = null,
    };
};

/// An answer with a title or metadata. A tool that needs neither returns the output itself.
pub const Answer = struct {
    output: Output,
    /// A short title for people.
    title: ?[]const u8 = null,
    /// One JSON object for programs, as `Context.json` writes it.
    metadata: ?[]const u8 = null,

    pub const Output = union(enum) {
        text: []const u8,
        /// One JSON document.
        json: []const u8,
        parts: []const Part,
    };

    /// Returns the output as text: a text itself, a JSON document as it is written, and of parts their texts, one line
    /// each.
    pub fn text(answer: Answer, context: *Context) ![]const u8 {
        switch (answer.output) {
            .text, .json => |content| return content,
            .parts => |parts| {
                var texts: std.ArrayList([]const u8) = .empty;
                for (parts) |part| switch (part) {
                    .text => |content| try texts.append(context.arena, content),
                    .image, .file => {},
                };
                return std.mem.join(context.arena, "\n", texts.items);
            },
        }
    }

    /// Converts the result of a tool to an answer.
    pub fn of(context: *Context, result: anytype) !Answer {
        const Result = @TypeOf(result);
        if (Result == Answer) return result;
        if (Result == []const Part or Result == []Part) return .{ .output = .{ .parts = result } };
        if (comptime isText(Result)) return .{ .output = .{ .text = result } };
        // Null fields are omitted, because the output schema does not allow null.
        return .{ .output = .{ .json = try json.write(context, result, .{ .emit_null_optional_fields = false }) } };
    }

    /// Returns whether the type of a result has an output schema.
    pub fn hasSchema(comptime Result: type) bool {
        return Result != Answer and @typeInfo(Result) == .@"struct";
    }
};

fn isText(comptime Result: type) bool {
    return switch (@typeInfo(Result)) {
        .pointer => |pointer| switch (pointer.size) {
            .slice => pointer.child == u8,
            .one => @typeInfo(pointer.child) == .array and @typeInfo(pointer.child).array.child == u8,
            .many, .c => false,
        },
        else => false,
    };
}
