//! The filesystem operations at a place, and those that a narrowed call may use.

use wasmtime_wasi::p2::bindings::filesystem::types::ErrorCode;

/// An operation of the interface at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PlaceUse {
    /// Returns metadata: type, size, times and identity.
    Look,
    Open,
    MakeDirectory,
    ReadLink,
    SetTimes,
    Unlink,
    RemoveDirectory,
    /// Gives an object a name: a hard or symbolic link, or a rename.
    Name,
    /// Reads the entries of an open directory.
    List,
    /// Writes an open directory to disk.
    Sync,
}

/// The position at which a path ends, relative to the place that a call is narrowed to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Station {
    /// At a directory on the way.
    Way,
    /// At the place.
    Place,
    /// Below the place, or in a directory that is not narrowed.
    Below,
}

impl PlaceUse {
    /// Checks whether a narrowed call may do this. It is the only table of these permissions.
    pub(super) fn check(self, station: Station) -> Result<(), ErrorCode> {
        let permitted = match station {
            Station::Below => true,
            // A new name would replace the approved file with another one.
            Station::Place => self != Self::Name,
            Station::Way => matches!(self, Self::Look | Self::Open | Self::MakeDirectory),
        };
        if permitted { Ok(()) } else { Err(ErrorCode::NotPermitted) }
    }
}
