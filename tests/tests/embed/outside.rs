//! A call needs a tokio runtime. Outside of one, a call that waits panics, and its record says that it was cancelled.

use portcullis::{Code, Request};
use portcullis_tests::{Site, allow_all, outcomes};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::thread;

/// Polls a future to its end, as an executor without a timer does.
fn poll_to_end<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread::yield_now(),
        }
    }
}

#[test]
fn a_call_outside_of_a_runtime_panics_unless_it_is_refused_before_it_waits() {
    let site = Site::new();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let host = runtime.block_on(site.open(&allow_all("")));

    let refused = poll_to_end(host.call(Request::new("good.missing", "{}")));
    assert_eq!(refused.code, Code::UnknownTool, "{}", refused.message);

    let call = || poll_to_end(host.call(Request::new("good.run", "{}")));
    let panic = catch_unwind(AssertUnwindSafe(call)).expect_err("the call ended without a runtime");
    let text =
        panic.downcast_ref::<&str>().map(ToString::to_string).or_else(|| panic.downcast_ref::<String>().cloned());
    assert!(text.as_ref().is_some_and(|text| text.contains("Tokio 1.x runtime")), "{text:?}");
    let ended: Vec<_> = outcomes(&host).iter().map(|outcome| outcome["code"].clone()).collect();
    assert_eq!(ended, ["unknown-tool", "cancelled"]);

    // The host still serves calls, and a program with another executor enters a runtime.
    let entered = runtime.enter();
    let reply = poll_to_end(host.call(Request::new("good.run", "{}")));
    assert_eq!(reply.code, Code::Completed, "{}", reply.message);
    drop(entered);
}
