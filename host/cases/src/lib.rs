//! Runs the test cases of a plugin in the real host.
//!
//! A case contains calls, what the policy grants, and the expected results (docs/writing.md). It runs with a temporary
//! plugin directory, state and policy, and with HTTP servers of its own. The user's own are neither read nor changed.
//!
//! [`read`] parses the cases of a project, [`CaseRunner`] runs them one after another, and a [`CaseVerdict`] has each
//! result. This crate must not know who reads them: it prints nothing, and knows no terminal and no command line.
//!
//! ```no_run
//! # async fn example() -> anyhow::Result<()> {
//! use portcullis::{Compiler, plugins::Silent, policy::PluginName};
//! use portcullis_cases::{CaseRunner, read};
//! use std::path::Path;
//! use std::sync::Arc;
//!
//! let (project, component) = (Path::new("greeter"), std::fs::read("greeter/greeter.wasm")?);
//! let plugin = PluginName::new("greeter")?;
//! let mut runner = CaseRunner::open(plugin, component, project, Compiler::InProcess, Arc::new(Silent)).await?;
//! for case in read(&project.join("tests"))? {
//!     let verdict = runner.run(&case).await;
//!     println!("{}: {}", case.name(), if verdict.passed() { "passed" } else { "failed" });
//! }
//! # Ok(())
//! # }
//! ```
#![expect(
    clippy::disallowed_methods,
    reason = "cases use the author's own files and temporary directories, with the author's permissions"
)]

mod case;
mod compare;
mod compiled;
mod expect;
mod file;
mod fill;
mod kept;
mod loopback;
mod policy;
mod repeated;
mod runner;
mod scratch;
mod verdict;
mod world;

pub use compiled::KeptCode;
pub use file::{LocatedCase, read};
pub use repeated::{CallTemplate, CasePlaces, RepeatedCase, RepeatedCases};
pub use runner::{CallEnd, CaseRunner, CaseVerdict};
pub use world::RefusedComponent;
