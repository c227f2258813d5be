//! The application's code on the way of a call: what panics in there fails there, and nowhere else.

use crate::text::{OneLine, cut};
use portcullis_sandbox::BoxFuture;
use std::any::Any;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::task::Poll;

/// The text of a panic that is kept for the operator, in bytes.
const PANIC_BYTES_MAX: usize = 512;

/// Begins a future and runs it to its end. Where either panics, the text of the panic is all that is left of it.
pub(crate) async fn caught<'a, T>(begin: impl FnOnce() -> BoxFuture<'a, T>) -> Result<T, String> {
    // What panicked is not polled again, and what it may have left half done is the application's own.
    let mut begin = Some(begin);
    let mut future: Option<BoxFuture<'a, T>> = None;
    poll_fn(|context| {
        let polled = catch_unwind(AssertUnwindSafe(|| {
            if let Some(begin) = begin.take() {
                future = Some(begin());
            }
            future.as_mut().map_or(Poll::Pending, |future| future.as_mut().poll(context))
        }));
        match polled {
            Ok(polled) => polled.map(Ok),
            Err(panic) => Poll::Ready(Err(panic_text(&*panic))),
        }
    })
    .await
}

/// Runs a function that does not wait. Returns the text of its panic if it panics.
pub(crate) fn caught_now<T>(run: impl FnOnce() -> T) -> Result<T, String> {
    // What it may have left half done is the application's own.
    catch_unwind(AssertUnwindSafe(run)).map_err(|panic| panic_text(&*panic))
}

fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    format!("it panicked: {}", OneLine(cut(text.unwrap_or("no text"), PANIC_BYTES_MAX)))
}
