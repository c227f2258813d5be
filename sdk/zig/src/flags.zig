//! Sets of permissions and of hints, as they are in the contract.

/// The permissions that a tool can use.
pub const Permissions = packed struct(u8) {
    read: bool = false,
    write: bool = false,
    execute: bool = false,
    network: bool = false,
    unused: u4 = 0,
};

/// The author's claims about a tool's behaviour.
pub const Hints = packed struct(u8) {
    /// Changes nothing outside the sandbox.
    read_only: bool = false,
    /// May destroy or overwrite something.
    destructive: bool = false,
    /// Repeating a call has no further effect.
    idempotent: bool = false,
    /// Reaches things outside the host's control.
    open_world: bool = false,
    /// Must not run at the same time as another call of the session.
    sequential: bool = false,
    unused: u3 = 0,
};
