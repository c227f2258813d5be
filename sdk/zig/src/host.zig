//! The declarations of `portcullis/host.h`, `program.h` and `toolset.h`. This SDK is built on the C library: keep this
//! file in step with the headers.

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
    retry_after_seconds: u32 = 0,

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
    name: ?[*:0]const u8 = null,
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

pub const Program = extern struct { handle: i32 };

pub const Variable = extern struct { name: View, value: View };

pub const NeedKind = enum(c_int) { nothing, destination, readable_directory, writable_directory };

pub const Need = extern struct { kind: NeedKind, what: View };

pub const Launch = extern struct {
    arguments: [*]const View,
    argument_count: usize,
    environment: [*]const Variable,
    variable_count: usize,
    directory: View,
    input: View,
    interactive: bool,
    merge: bool,
    needs: Need,
};

pub const ExitKind = enum(c_int) { exited, signaled, stopped };

pub const ExitReport = extern struct {
    kind: ExitKind,
    number: u8,
    text: Bytes,
    milliseconds: u64,
    left_processes: u32,
    refused: ?[*]Bytes,
    refused_count: usize,
};

pub const ProgramOutput = extern struct { out: Bytes, errors: Bytes, is_cut: bool, report: ExitReport };

/// A program that runs.
pub const Running = opaque {};

pub const Stream = enum(c_int) { stdout, stderr };

pub const Chunk = extern struct { stream: Stream, bytes: Bytes };

pub const Toolset = extern struct { handle: i32 };

pub const ToolSummary = extern struct { name: Bytes, title: Bytes, description: Bytes };

pub const Callable = extern struct {
    summary: ToolSummary,
    schema: Bytes,
    output_schema: Bytes,
    permissions: c_uint,
    hints: c_uint,
};

pub const ToolCall = extern struct { tool: View, arguments: View };

pub const OutlookKind = enum(c_int) { runs, needs_approval, fails };

pub const Outlook = extern struct { kind: OutlookKind, failure: Failure };

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
pub extern fn portcullis_keep_file(
    name: ?[*:0]const u8,
    media_type: [*:0]const u8,
    data: [*]const u8,
    length: usize,
    failure: *Failure,
) bool;
pub extern fn portcullis_to_utf8(bytes: View) Bytes;

pub extern fn portcullis_open_program(key: [*:0]const u8, program: *Program, failure: *Failure) bool;
pub extern fn portcullis_close_program(program: Program) void;
pub extern fn portcullis_run_program(
    program: Program,
    launch: *const Launch,
    bytes_max: usize,
    output: *ProgramOutput,
    failure: *Failure,
) bool;
pub extern fn portcullis_start_program(
    program: Program,
    launch: *const Launch,
    running: **Running,
    failure: *Failure,
) bool;
pub extern fn portcullis_close_running(running: *Running) void;
pub extern fn portcullis_next_chunk(running: *Running, chunk: *Chunk, failure: *Failure) bool;
pub extern fn portcullis_write_input(running: *Running, data: [*]const u8, length: usize, failure: *Failure) bool;
pub extern fn portcullis_end_input(running: *Running, failure: *Failure) bool;
pub extern fn portcullis_wait_program(running: *Running, report: *ExitReport, failure: *Failure) bool;
pub extern fn portcullis_has_ended(running: *Running, report: *ExitReport) bool;
pub extern fn portcullis_kill_program(running: *Running) void;

pub extern fn portcullis_open_tools(key: [*:0]const u8, toolset: *Toolset, failure: *Failure) bool;
pub extern fn portcullis_close_tools(toolset: Toolset) void;
pub extern fn portcullis_list_tools(toolset: Toolset, count: *usize) [*]ToolSummary;
pub extern fn portcullis_search_tools_of(toolset: Toolset, query: View, tools_max: u32, count: *usize) [*]ToolSummary;
pub extern fn portcullis_define_tool_of(toolset: Toolset, tool: View, definition: *Callable) bool;
pub extern fn portcullis_call_tool_of(
    toolset: Toolset,
    tool: View,
    arguments: View,
    answer: *Answer,
    failure: *Failure,
) bool;
pub extern fn portcullis_call_tools(
    toolset: Toolset,
    calls: [*]const ToolCall,
    count: usize,
    answers: *[*]Answer,
    failure: *Failure,
) bool;
pub extern fn portcullis_foresee_calls(
    toolset: Toolset,
    calls: [*]const ToolCall,
    count: usize,
    outlooks: *[*]Outlook,
    failure: *Failure,
) bool;
pub extern fn portcullis_approve_calls(
    toolset: Toolset,
    calls: [*]const ToolCall,
    count: usize,
    approved: *[*]bool,
    failure: *Failure,
) bool;
