//! How far the streams of a program are, of which each is a `P`.

use std::io::Cursor;

/// The input of a launch, on its way to the program.
#[derive(Debug)]
pub(crate) enum Feed<P> {
    /// Nothing has opened stdin.
    New(Vec<u8>),
    /// A part is written.
    Open {
        /// Stdin.
        pipe: P,
        /// The input. Its position is the number of bytes that are written.
        input: Cursor<Vec<u8>>,
    },
    /// All of it is written, or the tool has taken stdin.
    Done,
}

impl<P> Feed<P> {
    pub(crate) fn is_new(&self) -> bool {
        matches!(self, Self::New(_))
    }
}

/// One of the two streams of a program.
#[derive(Debug)]
pub(crate) enum Side<P> {
    /// Nothing has opened it.
    Ready,
    /// `next_event` reads it.
    Open(P),
    /// It has ended, or the tool has taken it.
    Done,
}
