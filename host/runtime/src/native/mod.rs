//! Native tools: functions of the application that models can call like the tools of plugins. Their calls take all the
//! steps of a call, but they run inside the application, without a sandbox.
//!
//! [`Host::register`](crate::Host::register) adds them to a host.

mod answer;
mod call;
mod plugin;
mod run;

pub use answer::{NativeAnswer, NativeFailure};
pub use call::NativeCall;
pub(crate) use call::{NativeFacts, ProgressSender};
pub(crate) use plugin::{NativeFunction, NativeFunctions, NativeManifest};
pub use plugin::{NativePlugin, NativeTool};
pub(crate) use run::{NativeRun, run};

/// The notice that approvers see for a native tool.
pub(crate) const NATIVE_NOTICE: &str = "runs inside the application, without a sandbox";
