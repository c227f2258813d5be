//! The answer of a call, written while its tool is still at work.

use std::io::{self, BufWriter, Write};

use crate::host;
use crate::{Failure, IntoOutput, Output, Success};

/// Writes the beginning of the call's text answer, piece by piece: for an answer that is large, or that takes long.
///
/// The host takes each piece as it comes and keeps it, so that neither the guest nor the host ever holds the whole. A
/// model is shown as much as fits, and reads the rest in pages. Return the writer itself, or text that goes after what
/// was written; JSON and parts cannot follow it. What is still in its buffer is sent when it is dropped.
///
/// ```
/// use portcullis_sdk::prelude::*;
/// use std::io::Write;
///
/// /// How far to count.
/// #[arguments]
/// struct Count {
///     /// The last number.
///     to: u64,
/// }
///
/// /// Counts, a number in each line.
/// #[tool(read_only)]
/// fn count(arguments: Count, context: &Context) -> Result<Writer, Failure> {
///     let mut answer = context.writer()?;
///     for number in 1..=arguments.to {
///         writeln!(answer, "{number}")?;
///     }
///     Ok(answer)
/// }
/// # plugin! { name: "count", description: "Counts.", tools: [count] }
/// # fn main() {
/// # use portcullis_sdk::testing::{self, call};
/// let context = testing::Context::new();
/// assert!(call(&PLUGIN, "count", json!({ "to": 3 }), &context).is_ok());
/// assert_eq!(context.written(), "1\n2\n3\n");
/// # }
/// ```
#[derive(Debug)]
pub struct Writer {
    text: BufWriter<host::Text>,
}

impl Writer {
    pub(crate) fn new(text: host::Text) -> Self {
        Self { text: BufWriter::new(text) }
    }
}

impl Write for Writer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.text.write(bytes)
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.text.write_all(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.text.flush()
    }
}

/// What was written is the whole answer.
impl IntoOutput for Writer {
    fn into_success(mut self) -> Result<Success, Failure> {
        self.flush()?;
        Ok(Success::new(Output::Text(String::new())))
    }
}
