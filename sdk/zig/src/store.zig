//! A key-value store that the policy grants.

const std = @import("std");
const host = @import("host.zig");
const Context = @import("context.zig").Context;
const View = host.View;

/// A key-value store that outlives the call. The policy limits its size and decides which calls share it.
pub const Store = struct {
    context: *Context,
    handle: host.Store,

    /// Use `Context.store` to open a store.
    pub fn open(context: *Context, key: []const u8) !Store {
        var failure: host.Failure = undefined;
        var handle: host.Store = undefined;
        if (!host.portcullis_open_store(try context.terminated(key), &handle, &failure)) {
            return context.refused(failure);
        }
        return .{ .context = context, .handle = handle };
    }

    /// Closes the store. The end of the instance closes it too. The host keeps no instance for a session that leaves
    /// a store open.
    pub fn close(store: Store) void {
        host.portcullis_close_store(store.handle);
    }

    /// Returns the value of a key.
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

    /// Removes a key. A missing key is not an error.
    pub fn delete(store: Store, key: []const u8) !void {
        var failure: host.Failure = undefined;
        if (!host.portcullis_store_delete_of(store.handle, View.of(key), &failure)) {
            return store.context.refused(failure);
        }
    }

    /// Returns all keys, in no particular order.
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
