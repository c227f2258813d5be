//! The JSON Schema of a Zig type, made while it compiles.
//!
//! A struct is a closed object: a field without a default is required, and `descriptions` describes each of them.
//! What a type cannot say, such as a bound, is in `keywords`:
//!
//!     const Steps = struct {
//!         steps: u16,
//!         pub const descriptions = .{ .steps = "How many steps." };
//!         pub const keywords = .{ .steps = .{ .minimum = 1, .maximum = 100 } };
//!     };

const std = @import("std");

/// How much work the compiler may have with one schema: enough for hundreds of fields with long descriptions.
const evaluation_branches = 1_000_000;

/// The schema of a type, as JSON text.
pub fn of(comptime T: type) [:0]const u8 {
    return comptime text: {
        @setEvalBranchQuota(evaluation_branches);
        break :text "{" ++ members(T) ++ "}";
    };
}

fn members(comptime T: type) [:0]const u8 {
    if (T == std.json.Value) return "";
    switch (@typeInfo(T)) {
        .bool => return "\"type\":\"boolean\"",
        .int => |int| return integer(int),
        .float => return "\"type\":\"number\"",
        .optional => |optional| return members(optional.child),
        .@"enum" => return enumeration(T),
        .@"struct" => return object(T),
        .array => |array| return list(array.child),
        .pointer => |pointer| {
            if (pointer.size == .slice) return if (pointer.child == u8) "\"type\":\"string\"" else list(pointer.child);
        },
        else => {},
    }
    @compileError("`" ++ @typeName(T) ++ "` has no JSON Schema: use a bool, a number, []const u8, an enum, a slice, " ++
        "an optional or a struct of these, or std.json.Value");
}

fn integer(comptime int: std.lang.Type.Int) [:0]const u8 {
    const kind = "\"type\":\"integer\"" ++ if (int.signedness == .unsigned) ",\"minimum\":0" else "";
    // Beyond 53 bits a number in JSON is not exact, so a bound says nothing.
    if (int.bits >= 53) return kind;
    const T = @Int(int.signedness, int.bits);
    const least = if (int.signedness == .signed) std.fmt.comptimePrint(",\"minimum\":{d}", .{std.math.minInt(T)}) else "";
    return kind ++ least ++ std.fmt.comptimePrint(",\"maximum\":{d}", .{std.math.maxInt(T)});
}

fn list(comptime Item: type) [:0]const u8 {
    return "\"type\":\"array\",\"items\":" ++ of(Item);
}

fn enumeration(comptime T: type) [:0]const u8 {
    var names: [:0]const u8 = "";
    for (@typeInfo(T).@"enum".field_names) |name| {
        names = names ++ (if (names.len > 0) "," else "") ++ quoted(name);
    }
    return "\"type\":\"string\",\"enum\":[" ++ names ++ "]";
}

fn object(comptime T: type) [:0]const u8 {
    const fields = @typeInfo(T).@"struct";
    var properties: [:0]const u8 = "";
    var required: [:0]const u8 = "";
    for (fields.field_names, fields.field_types, fields.field_attrs) |name, Field, attributes| {
        if (@typeInfo(Field) == .optional and attributes.default_value_ptr == null) {
            @compileError("write `= null` behind `" ++ name ++ "` in " ++ @typeName(T) ++
                ": it is left away when there is none");
        }
        properties = properties ++ (if (properties.len > 0) "," else "") ++ quoted(name) ++ ":" ++
            property(T, name, Field, attributes.defaultValue(Field));
        if (attributes.default_value_ptr == null) {
            required = required ++ (if (required.len > 0) "," else "") ++ quoted(name);
        }
    }
    return "\"type\":\"object\",\"properties\":{" ++ properties ++ "}" ++
        (if (required.len > 0) ",\"required\":[" ++ required ++ "]" else "") ++ ",\"additionalProperties\":false";
}

fn property(comptime T: type, comptime name: [:0]const u8, comptime Field: type, comptime default: ?Field) [:0]const u8 {
    if (!@hasDecl(T, "descriptions") or !@hasField(@TypeOf(T.descriptions), name)) {
        @compileError("describe `" ++ name ++ "` for the model: pub const descriptions = .{ ." ++ name ++ " = \"...\" }; in " ++
            @typeName(T));
    }
    var text: [:0]const u8 = "\"description\":" ++ quoted(@field(T.descriptions, name));
    var kind: [:0]const u8 = members(Field);
    if (@hasDecl(T, "keywords") and @hasField(@TypeOf(T.keywords), name)) {
        const keywords = @field(T.keywords, name);
        // A bound that is written takes the place of the type's own.
        if (@typeInfo(Field) == .int) kind = "\"type\":\"integer\"";
        for (@typeInfo(@TypeOf(keywords)).@"struct".field_names) |keyword| {
            kind = kind ++ "," ++ quoted(keyword) ++ ":" ++ literal(@field(keywords, keyword));
        }
    }
    if (kind.len > 0) text = kind ++ "," ++ text;
    if (default) |value| {
        if (@typeInfo(Field) != .optional) text = text ++ ",\"default\":" ++ literal(value);
    }
    return "{" ++ text ++ "}";
}

/// A value that is known while compiling, as JSON.
fn literal(comptime value: anytype) [:0]const u8 {
    return switch (@typeInfo(@TypeOf(value))) {
        .bool => if (value) "true" else "false",
        .int, .comptime_int, .float, .comptime_float => std.fmt.comptimePrint("{d}", .{value}),
        .@"enum", .enum_literal => quoted(@tagName(value)),
        .pointer => quoted(value),
        else => @compileError("a default or a keyword is a bool, a number, a text or a name"),
    };
}

/// A text as a JSON string.
fn quoted(comptime text: []const u8) [:0]const u8 {
    var out: [:0]const u8 = "\"";
    for (text) |byte| {
        out = out ++ switch (byte) {
            '"' => "\\\"",
            '\\' => "\\\\",
            0...0x1f => std.fmt.comptimePrint("\\u{x:0>4}", .{byte}),
            else => &[_:0]u8{byte},
        };
    }
    return out ++ "\"";
}

test "a struct is a closed object" {
    const Greet = struct {
        name: []const u8,
        times: u8 = 1,
        kind: enum { plain, warm } = .plain,
        note: ?[]const u8 = null,
        pub const descriptions = .{ .name = "A \"name\".", .times = "How often.", .kind = "How.", .note = "Words." };
        pub const keywords = .{ .times = .{ .minimum = 1, .maximum = 9 } };
    };
    try std.testing.expectEqualStrings(
        \\{"type":"object","properties":{"name":{"type":"string","description":"A \"name\"."},
    ++
        \\"times":{"type":"integer","minimum":1,"maximum":9,"description":"How often.","default":1},
    ++
        \\"kind":{"type":"string","enum":["plain","warm"],"description":"How.","default":"plain"},
    ++
        \\"note":{"type":"string","description":"Words."}},"required":["name"],"additionalProperties":false}
    , of(Greet));
}

test "lists, numbers and anything have schemas" {
    try std.testing.expectEqualStrings("{\"type\":\"array\",\"items\":{\"type\":\"number\"}}", of([]const f64));
    try std.testing.expectEqualStrings("{\"type\":\"integer\",\"minimum\":-128,\"maximum\":127}", of(i8));
    try std.testing.expectEqualStrings("{\"type\":\"integer\",\"minimum\":0}", of(u64));
    try std.testing.expectEqualStrings("{}", of(std.json.Value));
}
