//! A key-value store that a policy grants.

const std = @import("std");
const host = @import("host.zig");
const Context = @import("context.zig").Context;
const View = host.View;

/// Keeps what is put into it from one call to the next; the policy says how much, and for whom.
pub const Store = struct {
    context: *Context,
    handle: host.Store,

    /// `Context.store` opens one.
    pub fn open(context: *Context, key: []const u8) !Store {
        var failure: host.Failure = undefined;
        var handle: host.Store = undefined;
        if (!host.portcullis_open_store(try context.terminated(key), &handle, &failure)) {
            return context.refused(failure);
        }
        return .{ .context = context, .handle = handle };
    }

    /// Gives the store back. The end of the call does it too: only a tool that opens many has to.
    pub fn close(store: Store) void {
        host.portcullis_close_store(store.handle);
    }

    /// The value of a key.
    pub fn get(store: Store, key: []const u8) !?[]const u8 {
        var failure: host.Failure = undefined;
        var value: host.Bytes = undefined;
        if (!host.portcullis_store_get_of(store.handle, View.of(key), &value, &failure)) {
            return store.context.refused(failure);
        }
        return value.optional();
    }

    /// Sets the value of a key.
    pub fn set(store: Store, key: []const u8, value: []const u8) !void {
        var failure: host.Failure = undefined;
        if (!host.portcullis_store_set_of(store.handle, View.of(key), value.ptr, value.len, &failure)) {
            return store.context.refused(failure);
        }
    }

    /// Takes a key away. One that is not there is no error.
    pub fn delete(store: Store, key: []const u8) !void {
        var failure: host.Failure = undefined;
        if (!host.portcullis_store_delete_of(store.handle, View.of(key), &failure)) {
            return store.context.refused(failure);
        }
    }

    /// All keys, in no particular order.
    pub fn keys(store: Store) ![]const []const u8 {
        var failure: host.Failure = undefined;
        var found: ?[*]host.Bytes = null;
        var count: usize = 0;
        if (!host.portcullis_store_keys(store.handle, &found, &count, &failure)) return store.context.refused(failure);
        const names = try store.context.arena.alloc([]const u8, count);
        for (names, 0..) |*name, index| name.* = found.?[index].slice();
        return names;
    }
};
