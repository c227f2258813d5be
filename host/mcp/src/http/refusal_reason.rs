//! Why the server refuses requests.

/// Why the server refused a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RefusalReason {
    /// The Host header is missing or does not name this server.
    Host,
    /// The page that sent it has an origin that may not call.
    Origin,
    /// Its URL has a query.
    Query,
    /// It has no token.
    TokenMissing,
    /// Its token is unknown, malformed, or not valid at this time.
    TokenInvalid,
    /// Its token is valid, but does not allow calls.
    TokenScope,
    /// A person's token for the console is not that of an approver.
    ApproverToken,
    /// Its connection had to make room for another one.
    Evicted,
    /// Its principal has too many open requests or streams.
    OpenRequests,
    /// Its principal makes too many calls per second.
    CallRate,
    /// Its body is too large.
    BodyTooLarge,
    /// Its body took too long to arrive.
    BodyLate,
    /// Its body is incomplete, or its length is invalid.
    BodyInvalid,
    /// It is no unambiguous message of the protocol.
    Message,
    /// It names a session that its principal does not have, or several.
    Session,
    /// There is no room for another session.
    SessionsFull,
    /// The database of the sessions cannot be reached, or has no room.
    SessionStore,
    /// The stream that the client wants to resume is on another host, or has ended.
    StreamElsewhere,
    /// The server is stopping.
    Stopping,
}

impl RefusalReason {
    /// All reasons.
    pub const ALL: [Self; 19] = [
        Self::Host,
        Self::Origin,
        Self::Query,
        Self::TokenMissing,
        Self::TokenInvalid,
        Self::TokenScope,
        Self::ApproverToken,
        Self::Evicted,
        Self::OpenRequests,
        Self::CallRate,
        Self::BodyTooLarge,
        Self::BodyLate,
        Self::BodyInvalid,
        Self::Message,
        Self::Session,
        Self::SessionsFull,
        Self::SessionStore,
        Self::StreamElsewhere,
        Self::Stopping,
    ];

    /// Returns the stable name.
    pub fn as_str(self) -> &'static str {
        self.texts().0
    }

    /// Describes the reason for people.
    pub fn text(self) -> &'static str {
        self.texts().1
    }

    fn texts(self) -> (&'static str, &'static str) {
        match self {
            Self::Host => ("host", "the Host header is missing or does not name this server"),
            Self::Origin => ("origin", "a page of this origin may not call"),
            Self::Query => ("query", "the URL has a query"),
            Self::TokenMissing => ("token-missing", "it has no token"),
            Self::TokenInvalid => ("token-invalid", "the token is unknown or not valid"),
            Self::TokenScope => ("token-scope", "the token does not have the required scope"),
            Self::ApproverToken => ("approver-token", "the token is not that of an approver"),
            Self::Evicted => ("evicted", "the connection had to make room for another one"),
            Self::OpenRequests => ("open-requests", "the principal has too many open requests"),
            Self::CallRate => ("call-rate", "the principal makes too many calls per second"),
            Self::BodyTooLarge => ("body-too-large", "the body is too large"),
            Self::BodyLate => ("body-late", "the body took too long to arrive"),
            Self::BodyInvalid => ("body-invalid", "the body is incomplete or its length is invalid"),
            Self::Message => ("message", "it is no unambiguous message of the protocol"),
            Self::Session => ("session", "the principal does not have the session"),
            Self::SessionsFull => ("sessions-full", "there is no room for another session"),
            Self::SessionStore => ("session-store", "the database of the sessions cannot be reached or has no room"),
            Self::StreamElsewhere => ("stream-elsewhere", "the stream is on another host or has ended"),
            Self::Stopping => ("stopping", "the server is stopping"),
        }
    }
}
