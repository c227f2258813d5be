//! The console: web pages for the ledger of a state directory, on the loopback address or as a part of a server.
//!
//! It shows approval requests and takes answers, and it shows the calls, the tools and the policy. It decides nothing:
//! an answer goes through the ledger like every other one, bound to exactly what its page showed. Every request is
//! untrusted. It may come from another user of the machine, from a page of another origin, or from a plugin that found
//! the port. The `guard` module checks each request before a page sees it. This crate must not know terminals or how a
//! call is decided or run.

mod answer;
mod assets;
mod console;
mod console_watch;
mod difference;
mod events;
mod guard;
mod host_slot;
mod html;
mod limits;
mod live_calls;
mod log;
mod notice;
mod pages;
mod pause_switch;
mod policy_pause;
mod policy_text;
mod proof;
mod query;
mod refusal;
mod resume;
mod resumed;
mod served;
mod server;
mod session;
mod shown_elsewhere;
mod sign_in;
mod watcher;
mod words;

pub use host_slot::{HostRequest, HostRequests, HostSource};
pub use limits::{
    CONNECTIONS_MAX, FORM_BYTES_MAX, FORM_TIME, HEADERS_BYTES_MAX, HEADERS_TIME, LINK_TIME, SESSION_TIME, SESSIONS_MAX,
    SIGN_IN_BYTES_MAX, STREAMS_MAX,
};
pub use pause_switch::{PauseSwitch, ResumePreview};
pub use served::{PagesEnd, ServedPages};
pub use server::{ConsoleError, ConsoleOptions, Running, serve};
pub use sign_in::{ApproverSignIn, ApproverTokens};
