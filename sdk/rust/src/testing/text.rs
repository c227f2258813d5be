//! Collects the answer that a tool writes, for tests.

use std::cell::RefCell;
use std::io::{self, Write};
use std::rc::Rc;

/// The stream of the call's text answer.
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
