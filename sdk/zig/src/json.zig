//! Writes values as JSON. Refuses text that is not UTF-8, which `std.json` writes as a list of numbers, and NaN, which
//! it writes as a text.

const std = @import("std");
const Context = @import("context.zig").Context;
const Error = @import("context.zig").Error;

/// Writes any value that `std.json` can write.
pub fn write(context: *Context, value: anytype, options: std.json.Stringify.Options) ![]const u8 {
    try check(context, value);
    return std.json.Stringify.valueAlloc(context.arena, value, options);
}

fn check(context: *Context, value: anytype) Error!void {
    const T = @TypeOf(value);
    if (T == std.json.Value) switch (value) {
        .string => |text| return checkText(context, text),
        .float => |number| return check(context, number),
        .array => |list| for (list.items) |item| try check(context, item),
        .object => |map| for (map.values()) |item| try check(context, item),
        .null, .bool, .integer, .number_string => {},
    } else switch (@typeInfo(T)) {
        .float => if (!std.math.isFinite(value)) {
            return context.fail(.failed, "the answer is no JSON, which has neither NaN nor infinity", .{});
        },
        .optional => if (value) |content| try check(context, content),
        .array => try check(context, @as([]const std.meta.Elem(T), &value)),
        .@"struct" => |fields| if (comptime !std.meta.hasFn(T, "jsonStringify")) {
            inline for (fields.field_names) |name| try check(context, @field(value, name));
        },
        .@"union" => if (comptime !std.meta.hasFn(T, "jsonStringify")) switch (value) {
            inline else => |content| try check(context, content),
        },
        .pointer => |pointer| switch (pointer.size) {
            .one => try check(context, value.*),
            .slice => {
                if (pointer.child == u8) return checkText(context, value);
                for (value) |item| try check(context, item);
            },
            .many => try check(context, std.mem.span(value)),
            .c => {},
        },
        else => {},
    }
}

fn checkText(context: *Context, text: []const u8) Error!void {
    if (std.unicode.utf8ValidateSlice(text)) return;
    return context.fail(.failed, "the answer is not UTF-8: give bytes as a file, or as base64 in JSON", .{});
}
