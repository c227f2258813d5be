//! Runs the application's code within a call, and catches its panics.

use crate::text::{OneLine, cut};
use portcullis_sandbox::BoxFuture;
use std::any::Any;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::task::Poll;

/// Maximum length of a panic's text for the operator, in bytes.
const PANIC_BYTES_MAX: usize = 512;

/// Creates a future and runs it to its end. If one of them panics, returns the text of the panic.
pub(crate) async fn caught<'a, T>(begin: impl FnOnce() -> BoxFuture<'a, T>) -> Result<T, String> {
    // A future that panicked is not polled again. Its state belongs to the application, so unwind safety is not an
    // issue here.
    let mut begin = Some(begin);
    let mut future = CaughtFuture::<'a, T>(None);
    poll_fn(|context| {
        let polled = catch_unwind(AssertUnwindSafe(|| {
            if let Some(begin) = begin.take() {
                future.0 = Some(begin());
            }
            future.0.as_mut().map_or(Poll::Pending, |future| future.as_mut().poll(context))
        }));
        match polled {
            Ok(polled) => polled.map(Ok),
            Err(panic) => Poll::Ready(Err(panic_text(&*panic))),
        }
    })
    .await
}

/// A future of the application. A panic while it is dropped, such as at a time limit, ends here.
struct CaughtFuture<'a, T>(Option<BoxFuture<'a, T>>);

impl<T> Drop for CaughtFuture<'_, T> {
    fn drop(&mut self) {
        // Nothing is lost: the future has already ended, or no caller waits for it.
        let _ = caught_now(|| drop(self.0.take()));
    }
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
