//! The answer that a tool writes, for a test to look at.

use std::cell::RefCell;
use std::io::{self, Write};
use std::rc::Rc;

/// The call's text answer, where it is written.
#[derive(Debug)]
pub(crate) struct Text {
    written: Rc<RefCell<Vec<u8>>>,
}

impl Text {
    pub(super) fn new(written: Rc<RefCell<Vec<u8>>>) -> Self {
        Self { written }
    }
}

impl Write for Text {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.written.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
