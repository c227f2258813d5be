//! The declarations of `portcullis/host.h`. This SDK is built on the C library: keep this file in step with the header.

const std = @import("std");

pub const Bytes = extern struct {
    data: ?[*]u8,
    length: usize,

    pub fn optional(bytes: Bytes) ?[]u8 {
        const data = bytes.data orelse return null;
        return data[0..bytes.length];
    }

    pub fn slice(bytes: Bytes) []u8 {
        return bytes.optional() orelse &.{};
    }
};

pub const View = extern struct {
    data: ?[*]const u8,
    length: usize,

    pub fn of(text: []const u8) View {
        return .{ .data = text.ptr, .length = text.len };
    }

    pub fn optional(text: ?[]const u8) View {
        return if (text) |there| of(there) else .{ .data = null, .length = 0 };
    }
};

pub const Dependency = extern struct {
    key: [*:0]const u8,
    kind: c_int,
    optional: bool,
    reason: [*:0]const u8,
};

pub const Failure = extern struct {
    kind: c_int,
    message: [*:0]const u8,
    message_length: usize,

    pub fn text(failure: Failure) []const u8 {
        if (failure.message_length > 0) return failure.message[0..failure.message_length];
        return std.mem.span(failure.message);
    }
};

pub const Part = extern struct {
    kind: c_int,
    media_type: ?[*:0]const u8,
    data: [*]const u8,
    length: usize,
};

pub const AnswerKind = enum(c_int) { text, json, parts, failure };

pub const Answer = extern struct {
    kind: AnswerKind,
    title: ?[*]const u8 = null,
    title_length: usize = 0,
    metadata: ?[*]const u8 = null,
    metadata_length: usize = 0,
    text: ?[*]const u8 = null,
    text_length: usize = 0,
    parts: ?[*]const Part = null,
    part_count: usize = 0,
    failure: Failure = .{ .kind = 0, .message = "", .message_length = 0 },
};

pub const Tool = extern struct {
    name: [*:0]const u8,
    title: ?[*:0]const u8,
    description: [*:0]const u8,
    schema: [*:0]const u8,
    output_schema: ?[*:0]const u8,
    required: c_uint,
    optional: c_uint,
    hints: c_uint,
    /// Used only by tools in C. Tools in Zig are found by name.
    run: ?*const anyopaque = null,
};

pub const Plugin = extern struct {
    name: [*:0]const u8,
    version: [*:0]const u8,
    description: [*:0]const u8,
    tools: [*]const Tool,
    tool_count: usize,
    dependencies: [*]const Dependency,
    dependency_count: usize,
};

pub const Call = extern struct { id: Bytes, session: Bytes, message: Bytes, agent: Bytes };

pub const Store = extern struct { key: [*:0]const u8, handle: i32 };

pub const Header = extern struct { name: [*:0]const u8, value: [*:0]const u8 };

pub const Request = extern struct {
    method: ?[*:0]const u8,
    url: [*:0]const u8,
    headers: [*]const Header,
    header_count: usize,
    body: [*]const u8,
    body_length: usize,
    timeout_ms: u32,
    body_bytes_max: usize,
};

pub const Response = extern struct {
    status: u16,
    headers: [*]const Header,
    header_count: usize,
    body: Bytes,
};

pub extern fn portcullis_current_call() Call;
pub extern fn portcullis_fail_of(kind: c_int, message: View) Answer;
pub extern fn portcullis_progress_of(title: View, fraction: f32, metadata: View) void;
pub extern fn portcullis_is_cancelled() bool;
pub extern fn portcullis_ask_of(permission: View, resource: View, reason: View, failure: *Failure) bool;
pub extern fn portcullis_log_of(level: c_int, text: View) void;
pub extern fn portcullis_setting_of(key: View) Bytes;
pub extern fn portcullis_write(data: [*]const u8, length: usize, failure: *Failure) bool;
pub extern fn portcullis_open_store(key: [*:0]const u8, store: *Store, failure: *Failure) bool;
pub extern fn portcullis_close_store(store: Store) void;
pub extern fn portcullis_store_get_of(store: Store, key: View, value: *Bytes, failure: *Failure) bool;
pub extern fn portcullis_store_set_of(
    store: Store,
    key: View,
    data: [*]const u8,
    length: usize,
    failure: *Failure,
) bool;
pub extern fn portcullis_store_delete_of(store: Store, key: View, failure: *Failure) bool;
pub extern fn portcullis_store_keys(store: Store, keys: *?[*]Bytes, count: *usize, failure: *Failure) bool;
pub extern fn portcullis_call_service_of(
    key: [*:0]const u8,
    method: View,
    input: View,
    output: *Bytes,
    failure: *Failure,
) bool;
pub extern fn portcullis_fetch(
    key: [*:0]const u8,
    request: *const Request,
    response: *Response,
    failure: *Failure,
) bool;
pub extern fn portcullis_has_secret(key: [*:0]const u8) bool;
