//! Requests through an HTTP client that the policy grants.

const std = @import("std");
const host = @import("host.zig");
const Context = @import("context.zig").Context;

pub const Header = struct { name: []const u8, value: []const u8 };

pub const Request = struct {
    method: []const u8 = "GET",
    url: []const u8,
    headers: []const Header = &.{},
    body: []const u8 = "",
    /// The timeout of the whole exchange. 0 means the policy's limit.
    timeout_ms: u32 = 0,
    /// The maximum size of the response's body. A larger one is a failure.
    body_bytes_max: usize = default_body_bytes_max,

    /// Enough for what a model can use, and far below a guest's memory limit.
    pub const default_body_bytes_max = 8 * 1024 * 1024;
};

pub const Response = struct {
    status: u16,
    headers: []const Header,
    body: []const u8,

    /// Returns the first header with a name, ignoring case.
    pub fn header(response: Response, name: []const u8) ?[]const u8 {
        for (response.headers) |candidate| {
            if (std.ascii.eqlIgnoreCase(candidate.name, name)) return candidate.value;
        }
        return null;
    }
};

/// Implements `Context.fetch`.
pub fn fetch(context: *Context, key: []const u8, request: Request) !Response {
    const sent = try context.arena.alloc(host.Header, request.headers.len);
    for (sent, request.headers) |*to, from| {
        to.* = .{ .name = try context.terminated(from.name), .value = try context.terminated(from.value) };
    }
    const outgoing: host.Request = .{
        .method = try context.terminated(request.method),
        .url = try context.terminated(request.url),
        .headers = sent.ptr,
        .header_count = sent.len,
        .body = request.body.ptr,
        .body_length = request.body.len,
        .timeout_ms = request.timeout_ms,
        .body_bytes_max = request.body_bytes_max,
    };
    var response: host.Response = undefined;
    var failure: host.Failure = undefined;
    if (!host.portcullis_fetch(try context.terminated(key), &outgoing, &response, &failure)) {
        return context.refused(failure);
    }
    const headers = try context.arena.alloc(Header, response.header_count);
    for (headers, response.headers) |*to, from| {
        to.* = .{ .name = std.mem.span(from.name), .value = std.mem.span(from.value) };
    }
    return .{ .status = response.status, .headers = headers, .body = response.body.slice() };
}
