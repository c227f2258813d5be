//! Errors of PostgreSQL and of a connection to it.

use std::error::Error as _;
use std::io;
use tokio_postgres::Error;
use tokio_postgres::error::SqlState;

/// Returns what an error says, with what the database says of it.
pub(in crate::ledger::backend) fn said(error: &Error) -> String {
    match (error.as_db_error(), error.source()) {
        (Some(told), _) => format!("PostgreSQL: {} ({})", told.message(), told.code().code()),
        (None, Some(source)) => format!("{error}: {source}"),
        (None, None) => error.to_string(),
    }
}

/// Returns whether an error says that the connection is lost, or that the database is starting or stopping.
pub(in crate::ledger::backend) fn is_lost(error: &Error) -> bool {
    if let Some(code) = error.code() {
        // Class 08: exceptions of connections. Class 57P: the database stops, has crashed, or starts.
        return code.code().starts_with("08")
            || [
                SqlState::ADMIN_SHUTDOWN,
                SqlState::CRASH_SHUTDOWN,
                SqlState::CANNOT_CONNECT_NOW,
                SqlState::TOO_MANY_CONNECTIONS,
                SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT,
            ]
            .contains(code);
    }
    error.is_closed() || error.source().is_some_and(|source| source.is::<io::Error>())
}
