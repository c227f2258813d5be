//! How a call ends, where it ends in anything but an answer.

const std = @import("std");
const portcullis = @import("portcullis");
const Context = portcullis.Context;

/// How often the tool `wait` checks whether its call is cancelled.
const look: std.Io.Duration = .fromMilliseconds(10);
/// How long it waits without a cancellation: longer than any test, shorter than a person's patience.
const patience: std.Io.Duration = .fromSeconds(20);
/// How much the tool `hog` takes at once.
const gulp_bytes = 1024 * 1024;

const Fail = struct {
    kind: enum { @"invalid-arguments", denied, unavailable, cancelled, failed },
    message: []const u8,

    pub const descriptions = .{ .kind = "The kind of failure.", .message = "What it says." };
};

pub fn fail(arguments: Fail, context: *Context) portcullis.Error![]const u8 {
    return context.fail(switch (arguments.kind) {
        .@"invalid-arguments" => .invalid_arguments,
        .denied => .denied,
        .unavailable => .unavailable,
        .cancelled => .cancelled,
        .failed => .failed,
    }, "{s}", .{arguments.message});
}

pub fn trap() []const u8 {
    @panic("this tool panics");
}

pub fn wait(context: *Context) ![]const u8 {
    const io = context.io();
    const start = std.Io.Clock.awake.now(io);
    while (start.durationTo(std.Io.Clock.awake.now(io)).nanoseconds < patience.nanoseconds) {
        if (context.isCancelled()) {
            context.log(.info, "the call is cancelled", .{});
            return error.Cancelled;
        }
        try io.sleep(look, .awake);
    }
    return "not cancelled";
}

pub fn spin() []const u8 {
    var turns: u32 = 0;
    while (true) {
        turns +%= 1;
        std.mem.doNotOptimizeAway(turns);
    }
}

pub fn hog() []const u8 {
    while (true) {
        const taken = std.heap.c_allocator.alloc(u8, gulp_bytes) catch @panic("there is no memory left");
        @memset(taken, 1);
        std.mem.doNotOptimizeAway(taken.ptr);
    }
}

pub fn recurse(context: *Context) ![]const u8 {
    return std.fmt.allocPrint(context.arena, "{d}", .{deeper(0)});
}

/// What is added after the call keeps the compiler from making a loop of it.
fn deeper(depth: u32) u32 {
    var kept = depth;
    std.mem.doNotOptimizeAway(&kept);
    return deeper(depth +% 1) +% kept;
}
