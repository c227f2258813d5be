//! Derives the JSON Schema of a Zig type at compile time.
//!
//! A struct is a closed object. Fields without a default are required, and `descriptions` describes each field.
//! `keywords` adds what a type cannot express, such as a bound:
//!
//!     const Steps = struct {
//!         steps: u16,
//!         pub const descriptions = .{ .steps = "How many steps." };
//!         pub const keywords = .{ .steps = .{ .minimum = 1, .maximum = 100 } };
//!     };

const std = @import("std");

/// The compile-time branch quota of one schema: enough for hundreds of fields with long descriptions.
const evaluation_branches = 1_000_000;

/// Returns the schema of a type, as JSON text.
pub fn of(comptime T: type) [:0]const u8 {
    return comptime text: {
        @setEvalBranchQuota(evaluation_branches);
        break :text written(members(T));
    };
}

/// A keyword of a schema, with its value as JSON.
const Member = struct { keyword: []const u8, value: [:0]const u8 };

fn written(comptime all: []const Member) [:0]const u8 {
    var text: [:0]const u8 = "";
    for (all) |member| {
        text = text ++ (if (text.len > 0) "," else "") ++ quoted(member.keyword) ++ ":" ++ member.value;
    }
    return "{" ++ text ++ "}";
}

/// Sets a keyword. Replaces the one with the same name, or appends it.
fn with(comptime all: []const Member, comptime keyword: []const u8, comptime value: [:0]const u8) []const Member {
    var changed: []const Member = &.{};
    var is_new = true;
    for (all) |member| {
        const is_same = std.mem.eql(u8, member.keyword, keyword);
        if (is_same) is_new = false;
        changed = changed ++ &[_]Member{if (is_same) .{ .keyword = keyword, .value = value } else member};
    }
    return if (is_new) changed ++ &[_]Member{.{ .keyword = keyword, .value = value }} else changed;
}

fn members(comptime T: type) []const Member {
    if (T == std.json.Value) return &.{};
    switch (@typeInfo(T)) {
        .bool => return kind("boolean"),
        .int => |int| return integer(int),
        .float => return kind("number"),
        .optional => |optional| return &.{
            .{ .keyword = "anyOf", .value = "[" ++ of(optional.child) ++ ",{\"type\":\"null\"}]" },
        },
        .@"enum" => return enumeration(T),
        .@"struct" => return object(T),
        .array => |array| {
            if (array.child == u8) {
                @compileError("`" ++ @typeName(T) ++ "` is text to std.json where it is UTF-8, and numbers where it " ++
                    "is not: use []const u8 for text, or another integer for numbers");
            }
            const length = std.fmt.comptimePrint("{d}", .{array.len});
            return with(with(list(array.child), "minItems", length), "maxItems", length);
        },
        .pointer => |pointer| {
            if (pointer.size == .slice) return if (pointer.child == u8) kind("string") else list(pointer.child);
        },
        else => {},
    }
    @compileError("`" ++ @typeName(T) ++ "` has no JSON Schema: use a bool, a number, []const u8, an enum, a slice, " ++
        "an array, an optional or a struct of these, or std.json.Value");
}

fn kind(comptime name: []const u8) []const Member {
    return &.{.{ .keyword = "type", .value = quoted(name) }};
}

fn integer(comptime int: std.lang.Type.Int) []const Member {
    var all = kind("integer");
    // JSON numbers of more than 53 bits are not exact, so a bound would be meaningless.
    const is_exact = int.bits < 53;
    const T = @Int(int.signedness, int.bits);
    if (is_exact or int.signedness == .unsigned) {
        all = with(all, "minimum", std.fmt.comptimePrint("{d}", .{std.math.minInt(T)}));
    }
    return if (is_exact) with(all, "maximum", std.fmt.comptimePrint("{d}", .{std.math.maxInt(T)})) else all;
}

fn list(comptime Item: type) []const Member {
    return with(kind("array"), "items", of(Item));
}

fn enumeration(comptime T: type) []const Member {
    var names: [:0]const u8 = "";
    for (@typeInfo(T).@"enum".field_names) |name| {
        names = names ++ (if (names.len > 0) "," else "") ++ quoted(name);
    }
    return with(kind("string"), "enum", "[" ++ names ++ "]");
}

fn object(comptime T: type) []const Member {
    const fields = @typeInfo(T).@"struct";
    if (fields.is_tuple) {
        @compileError("`" ++ @typeName(T) ++ "` is a tuple, which no schema describes: give its fields names");
    }
    var properties: []const Member = &.{};
    var required: [:0]const u8 = "";
    for (fields.field_names, fields.field_types, fields.field_attrs) |name, Field, attributes| {
        if (@typeInfo(Field) == .optional and attributes.default_value_ptr == null) {
            @compileError("write `= null` behind `" ++ name ++ "` in " ++ @typeName(T) ++
                ": it is left away when there is none");
        }
        properties = with(properties, name, property(T, name, Field, attributes.defaultValue(Field)));
        if (attributes.default_value_ptr == null) {
            required = required ++ (if (required.len > 0) "," else "") ++ quoted(name);
        }
    }
    const all = with(kind("object"), "properties", written(properties));
    return with(
        if (required.len > 0) with(all, "required", "[" ++ required ++ "]") else all,
        "additionalProperties",
        "false",
    );
}

fn property(
    comptime T: type,
    comptime name: [:0]const u8,
    comptime Field: type,
    comptime default: ?Field,
) [:0]const u8 {
    if (!@hasDecl(T, "descriptions") or !@hasField(@TypeOf(T.descriptions), name)) {
        @compileError("describe `" ++ name ++ "` for the model: pub const descriptions = .{ ." ++ name ++
            " = \"...\" }; in " ++ @typeName(T));
    }
    // A null field is omitted, so its schema is that of the optional's child type.
    var all = members(switch (@typeInfo(Field)) {
        .optional => |optional| optional.child,
        else => Field,
    });
    if (@hasDecl(T, "keywords") and @hasField(@TypeOf(T.keywords), name)) {
        const keywords = @field(T.keywords, name);
        for (@typeInfo(@TypeOf(keywords)).@"struct".field_names) |keyword| {
            all = with(all, keyword, literal(@field(keywords, keyword)));
        }
    }
    all = with(all, "description", quoted(@field(T.descriptions, name)));
    if (default) |value| {
        const is_null = @typeInfo(Field) == .optional and value == null;
        if (!is_null) all = with(all, "default", literal(value));
    }
    return written(all);
}

/// Returns a comptime value as JSON.
fn literal(comptime value: anytype) [:0]const u8 {
    const T = @TypeOf(value);
    if (T == std.json.Value) return switch (value) {
        .null => "null",
        .number_string => |text| text ++ "",
        .array, .object => @compileError("a default of std.json.Value is a bool, a number, a string or null"),
        inline else => |content| literal(content),
    };
    switch (@typeInfo(T)) {
        .null => return "null",
        .bool => return if (value) "true" else "false",
        .int, .comptime_int => return std.fmt.comptimePrint("{d}", .{value}),
        .float, .comptime_float => {
            if (!std.math.isFinite(@as(f64, value))) @compileError("JSON has neither NaN nor infinity");
            return std.fmt.comptimePrint("{d}", .{value});
        },
        .@"enum", .enum_literal => return quoted(@tagName(value)),
        .optional => return if (value) |content| literal(content) else "null",
        .array => return items(&value),
        .pointer => |pointer| switch (@typeInfo(pointer.child)) {
            .int => if (pointer.child == u8 and pointer.size == .slice) return quoted(value),
            .array => |array| return if (array.child == u8) quoted(value) else items(value),
            else => {},
        },
        .@"struct" => |fields| return if (fields.is_tuple) items(value) else record(value),
        else => {},
    }
    if (@typeInfo(T) == .pointer and @typeInfo(T).pointer.size == .slice) return items(value);
    @compileError("`" ++ @typeName(T) ++ "` is no default and no keyword: use a bool, a number, a string, a name, or a " ++
        "list or a struct of these");
}

fn items(comptime values: anytype) [:0]const u8 {
    var text: [:0]const u8 = "";
    inline for (values) |value| text = text ++ (if (text.len > 0) "," else "") ++ literal(value);
    return "[" ++ text ++ "]";
}

/// Returns a struct as a JSON object, without null fields.
fn record(comptime value: anytype) [:0]const u8 {
    const fields = @typeInfo(@TypeOf(value)).@"struct";
    var all: []const Member = &.{};
    for (fields.field_names, fields.field_types) |name, Field| {
        const content = @field(value, name);
        const is_null = @typeInfo(Field) == .optional and content == null;
        if (!is_null) all = with(all, name, literal(content));
    }
    return written(all);
}

/// Returns a text as a JSON string.
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
    try std.testing.expectEqualStrings(
        \\{"type":"array","items":{"type":"number"},"minItems":3,"maxItems":3}
    , of([3]f64));
}

test "an optional has its bounds once, and its default" {
    const Options = struct {
        limit: ?u8 = null,
        page: ?u8 = 7,
        pub const descriptions = .{ .limit = "How many.", .page = "Which." };
        pub const keywords = .{ .limit = .{ .minimum = 1, .maximum = 50 } };
    };
    try std.testing.expectEqualStrings(
        \\{"type":"object","properties":{"limit":{"type":"integer","minimum":1,"maximum":50,"description":"How many."},
    ++
        \\"page":{"type":"integer","minimum":0,"maximum":255,"description":"Which.","default":7}},
    ++
        \\"additionalProperties":false}
    , of(Options));
}

test "defaults are lists, structs and anything" {
    const In = struct {
        unit: enum { metric, imperial } = .metric,
        note: ?[]const u8 = null,
        pub const descriptions = .{ .unit = "The unit.", .note = "Words." };
    };
    const Find = struct {
        tags: []const []const u8 = &.{},
        words: []const []const u8 = &.{ "a", "b" },
        in: In = .{},
        corner: [2]f64 = .{ 0, 0.5 },
        value: std.json.Value = .null,
        pub const descriptions = .{ .tags = "T.", .words = "W.", .in = "I.", .corner = "C.", .value = "V." };
        pub const keywords = .{ .words = .{ .examples = .{ .{ "x", "y" }, .{} } } };
    };
    try std.testing.expectEqualStrings(
        \\{"type":"object","properties":{"tags":{"type":"array","items":{"type":"string"},"description":"T.","default":[]},
    ++
        \\"words":{"type":"array","items":{"type":"string"},"examples":[["x","y"],[]],"description":"W.","default":["a","b"]},
    ++
        \\"in":{"type":"object","properties":{"unit":{"type":"string","enum":["metric","imperial"],"description":"The unit.",
    ++
        \\"default":"metric"},"note":{"type":"string","description":"Words."}},"additionalProperties":false,
    ++
        \\"description":"I.","default":{"unit":"metric"}},
    ++
        \\"corner":{"type":"array","items":{"type":"number"},"minItems":2,"maxItems":2,"description":"C.","default":[0,0.5]},
    ++
        \\"value":{"description":"V.","default":null}},"additionalProperties":false}
    , of(Find));
}

test "an item may be null" {
    try std.testing.expectEqualStrings(
        \\{"type":"array","items":{"anyOf":[{"type":"boolean"},{"type":"null"}]}}
    , of([]const ?bool));
}
