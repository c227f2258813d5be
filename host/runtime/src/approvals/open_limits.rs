//! Maximum numbers of open approval requests.

use crate::ledger::OpenCount;

/// Maximum open requests of one session. It is more than a person answers, and it stops a flood.
const SESSION_QUESTIONS_MAX: usize = 1024;

/// Maximum open requests of one principal, its sub-agents included. It is half of all, so that no principal can take
/// every place.
const PRINCIPAL_QUESTIONS_MAX: usize = QUESTIONS_MAX / 2;

/// Maximum open requests in all. Each holds its arguments (at most 1 MiB) and the texts of a preview (at most 2 MiB).
const QUESTIONS_MAX: usize = 4096;

/// Returns whether no more requests can be opened.
pub(super) fn is_full(open: OpenCount) -> bool {
    open.all >= QUESTIONS_MAX
        || open.of_principal >= PRINCIPAL_QUESTIONS_MAX
        || open.of_session >= SESSION_QUESTIONS_MAX
}
