//! What `portcullis/host.h` declares. The C library does the work below this SDK; keep the two alike.

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

pub const Dependency = extern struct {
    key: [*:0]const u8,
    kind: c_int,
    optional: bool,
    reason: [*:0]const u8,
};

pub const Failure = extern struct {
    kind: c_int,
    message: [*:0]const u8,
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
    title: ?[*:0]const u8 = null,
    metadata: ?[*:0]const u8 = null,
    text: ?[*]const u8 = null,
    text_length: usize = 0,
    parts: ?[*]const Part = null,
    part_count: usize = 0,
    failure: Failure = .{ .kind = 0, .message = "" },
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
    /// Of tools in C. Those in Zig are found by their name.
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
pub extern fn portcullis_progress(title: ?[*:0]const u8, fraction: f32, metadata: ?[*:0]const u8) void;
pub extern fn portcullis_is_cancelled() bool;
pub extern fn portcullis_ask(
    permission: [*:0]const u8,
    resource: [*:0]const u8,
    reason: [*:0]const u8,
    failure: *Failure,
) bool;
pub extern fn portcullis_log(level: c_int, format: [*:0]const u8, ...) void;
pub extern fn portcullis_setting(key: [*:0]const u8) Bytes;
pub extern fn portcullis_write(data: [*]const u8, length: usize, failure: *Failure) bool;
pub extern fn portcullis_open_store(key: [*:0]const u8, store: *Store, failure: *Failure) bool;
pub extern fn portcullis_store_get(store: Store, key: [*:0]const u8, value: *Bytes, failure: *Failure) bool;
pub extern fn portcullis_store_set(
    store: Store,
    key: [*:0]const u8,
    data: [*]const u8,
    length: usize,
    failure: *Failure,
) bool;
pub extern fn portcullis_store_delete(store: Store, key: [*:0]const u8, failure: *Failure) bool;
pub extern fn portcullis_store_keys(store: Store, keys: *?[*]Bytes, count: *usize, failure: *Failure) bool;
pub extern fn portcullis_call_service(
    key: [*:0]const u8,
    method: [*:0]const u8,
    input: [*:0]const u8,
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
