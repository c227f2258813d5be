//! What a function of the interface does to a place, and what of it a narrowed call may do.

use wasmtime_wasi::p2::bindings::filesystem::types::ErrorCode;

/// What a function of the interface does to a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    /// Says what is there: its type, size, times and identity.
    Look,
    Open,
    MakeDirectory,
    ReadLink,
    SetTimes,
    Unlink,
    RemoveDirectory,
    /// Gives a name to something: a link of either kind, or a new name for what has one.
    Name,
    /// Reads the entries of an open directory.
    List,
    /// Writes an open directory to disk.
    Sync,
}

/// Where a path ends, seen from the place that a call is narrowed to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Station {
    /// At a directory on the way.
    Way,
    /// At the place.
    Place,
    /// Below the place, or in a directory that is not narrowed.
    Below,
}

impl Use {
    /// The one table of what a narrowed call may do.
    pub(super) fn check(self, station: Station) -> Result<(), ErrorCode> {
        let permitted = match station {
            Station::Below => true,
            // A name would make another file of what was approved.
            Station::Place => self != Self::Name,
            Station::Way => matches!(self, Self::Look | Self::Open | Self::MakeDirectory),
        };
        if permitted { Ok(()) } else { Err(ErrorCode::NotPermitted) }
    }
}
