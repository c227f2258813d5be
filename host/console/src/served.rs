//! The console as a part of a server at another address, for approvers who have a token.

use crate::guard::OwnHost;
use crate::server::{ConsoleError, ConsoleOptions, ConsolePlace, begin, process_id, router};
use crate::sign_in::{ApproverTokens, SignInMethod};
use axum::Router;
use std::fmt;
use std::net::SocketAddr;
use tokio_util::sync::{CancellationToken, DropGuard};

/// The pages of a console that is part of a server. The server must check the `Host` header of each request, and serve
/// its connections with the listener that this console uses.
pub struct ServedPages {
    options: ConsoleOptions,
    tokens: Box<dyn ApproverTokens>,
    process: String,
    stopping: CancellationToken,
}

/// Ends the event streams of all pages when it is dropped. Drop it before the server stops, which waits for them.
#[derive(Debug)]
pub struct PagesEnd(#[expect(dead_code, reason = "its drop has the effect")] DropGuard);

impl ServedPages {
    /// Prepares the pages. `tokens` verifies the tokens with which people sign in.
    ///
    /// # Errors
    /// The system provides no randomness.
    pub fn new(options: ConsoleOptions, tokens: Box<dyn ApproverTokens>) -> Result<Self, ConsoleError> {
        Ok(Self { options, tokens, process: process_id()?, stopping: CancellationToken::new() })
    }

    /// Returns what ends the pages.
    pub fn end(&self) -> PagesEnd {
        PagesEnd(self.stopping.clone().drop_guard())
    }

    /// Returns the routes, for a server that is bound to an address.
    pub fn router(self, address: SocketAddr) -> Router {
        let place = ConsolePlace {
            own: OwnHost::part_of_server(address),
            sign_in: SignInMethod::Token(self.tokens),
            stopping: self.stopping,
        };
        router(&begin(self.options, place, self.process))
    }
}

impl fmt::Debug for ServedPages {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("ServedPages").field("options", &self.options).finish_non_exhaustive()
    }
}
