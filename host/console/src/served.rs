//! The console as a part of a server at another address, for approvers who have a token.

use crate::guard::OwnHost;
use crate::server::{ConsoleError, ConsoleOptions, ConsolePlace, begin, process_id, router};
use crate::sign_in::{ApproverTokens, SignInMethod};
use axum::Router;
use http::Extensions;
use std::fmt;
use std::net::SocketAddr;
use tokio_util::sync::{CancellationToken, DropGuard};

/// What the console needs from the server that it is part of.
pub struct ServedBy {
    /// Verifies the tokens with which people sign in.
    pub tokens: Box<dyn ApproverTokens>,
    /// Keeps the connection of a request of a signed-in browser from making room for another. The argument is the
    /// request's extensions. Returns whether that was still possible.
    pub keep_connection: fn(&mut Extensions) -> bool,
}

/// The pages of a console that is part of a server. The server must check the `Host` header of each request.
#[derive(Debug)]
pub struct ServedPages {
    options: ConsoleOptions,
    served_by: ServedBy,
    process: String,
    stopping: CancellationToken,
}

/// Ends the event streams of all pages when it is dropped. Drop it before the server stops, which waits for them.
#[derive(Debug)]
pub struct PagesEnd(#[expect(dead_code, reason = "its drop has the effect")] DropGuard);

impl ServedPages {
    /// Prepares the pages.
    ///
    /// # Errors
    /// The system provides no randomness.
    pub fn new(options: ConsoleOptions, served_by: ServedBy) -> Result<Self, ConsoleError> {
        Ok(Self { options, served_by, process: process_id()?, stopping: CancellationToken::new() })
    }

    /// Returns what ends the pages.
    pub fn end(&self) -> PagesEnd {
        PagesEnd(self.stopping.clone().drop_guard())
    }

    /// Returns the routes, for a server that is bound to an address.
    pub fn router(self, address: SocketAddr) -> Router {
        let place = ConsolePlace {
            own: OwnHost::part_of_server(address),
            sign_in: SignInMethod::Token(self.served_by.tokens),
            keep_connection: self.served_by.keep_connection,
            stopping: self.stopping,
        };
        router(&begin(self.options, place, self.process))
    }
}

impl fmt::Debug for ServedBy {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("ServedBy").finish_non_exhaustive()
    }
}
