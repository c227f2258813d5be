//! Takes the capabilities and the dangerous system calls of a process.

use rustix::thread::{
    CapabilitiesSecureBits, CapabilitySet, CapabilitySets, clear_ambient_capability_set,
    remove_capability_from_bounding_set, set_capabilities, set_capabilities_secure_bits,
};
use seccompiler::BpfProgram;
use std::io;

/// The highest capability that a kernel may have. Newer kernels add some at the end.
const CAPABILITIES_MAX: u32 = 63;

/// Takes the system calls that filters refuse from this process, for good.
pub(super) fn refuse_calls(filters: &[BpfProgram]) -> io::Result<()> {
    for filter in filters {
        // This sets `no_new_privs` too.
        seccompiler::apply_filter(filter).map_err(|error| io::Error::other(error.to_string()))?;
    }
    Ok(())
}

/// Takes all capabilities from this process, and the ways to get any by executing a program. User 0 is then a user like
/// any other.
pub(super) fn drop_capabilities() -> io::Result<()> {
    let none = CapabilitySets {
        effective: CapabilitySet::empty(),
        permitted: CapabilitySet::empty(),
        inheritable: CapabilitySet::empty(),
    };
    // Only a process with capabilities can do the following, and only one with them needs it.
    let has_any = rustix::thread::capabilities(None)?.effective != CapabilitySet::empty();
    if has_any {
        for number in 0..=CAPABILITIES_MAX {
            let one = CapabilitySet::from_bits_retain(1 << number);
            match remove_capability_from_bounding_set(one) {
                Ok(()) => {}
                // The kernel has no such capability.
                Err(rustix::io::Errno::INVAL) => break,
                Err(error) => return Err(error.into()),
            }
        }
        let locked = CapabilitiesSecureBits::NO_ROOT
            | CapabilitiesSecureBits::NO_ROOT_LOCKED
            | CapabilitiesSecureBits::NO_SETUID_FIXUP
            | CapabilitiesSecureBits::NO_SETUID_FIXUP_LOCKED
            | CapabilitiesSecureBits::KEEP_CAPS_LOCKED;
        set_capabilities_secure_bits(locked)?;
    }
    clear_ambient_capability_set()?;
    set_capabilities(None, none)?;
    Ok(())
}
