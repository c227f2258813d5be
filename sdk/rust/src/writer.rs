//! Writes the answer of a call while its tool runs.

use std::io::{self, BufWriter, Write};

use crate::host;
use crate::{Failure, IntoOutput, Output, Success};

/// Writes the beginning of the call's text answer piece by piece, for a large or slow answer.
///
/// The host stores each piece as it arrives, so that neither the guest nor the host holds the whole answer in memory.
/// The model sees as much as fits, and reads the rest in pages. Return the writer itself, or text to append to what was
/// written; JSON and parts are refused. Dropping the writer sends what is still in its buffer.
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

/// The written text is the whole answer.
impl IntoOutput for Writer {
    fn into_success(mut self) -> Result<Success, Failure> {
        self.flush()?;
        Ok(Success::new(Output::Text(String::new())))
    }
}
