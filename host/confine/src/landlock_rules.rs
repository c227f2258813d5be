//! Landlock rules, for programs and for this process itself.

use landlock::{ABI, AccessFs, BitFlags, PathBeneath, RulesetCreated, RulesetCreatedAttr};
use rustix::fd::BorrowedFd;
use rustix::fs::{FileType, fstat};
use std::io;

/// The first version of Landlock that keeps a program from signalling the user's other processes and from their
/// abstract sockets (Linux 6.12). Without it, a program could end its own supervisor.
pub(crate) const NEEDED: ABI = ABI::V6;

/// What a machine with an older version lacks.
pub(crate) const NO_LANDLOCK: &str = "Linux 6.12 or later is needed, with Landlock";

/// Allows an access to an open file, or to an open directory and everything below it.
pub(crate) fn allow(
    rules: RulesetCreated,
    place: BorrowedFd<'_>,
    access: BitFlags<AccessFs>,
) -> io::Result<RulesetCreated> {
    let kind = FileType::from_raw_mode(fstat(place)?.st_mode);
    // A rule of a file must not have the accesses of directories.
    let access = if kind.is_dir() { access } else { access & AccessFs::from_file(NEEDED) };
    rules.add_rule(PathBeneath::new(place, access)).map_err(io::Error::other)
}
