//! How many questions may be open.

use crate::ledger::OpenCount;

/// The most questions that are open in one session: more than any person answers, and a flood is cut off.
const SESSION_QUESTIONS_MAX: usize = 1024;

/// Maximum open questions of one principal, its sub-agents included. It is half of all, so that no principal takes
/// every place.
const PRINCIPAL_QUESTIONS_MAX: usize = QUESTIONS_MAX / 2;

/// Maximum open questions in all. Each holds its arguments, 1 MiB at most, and the texts of a preview, 2 MiB at most.
const QUESTIONS_MAX: usize = 4096;

/// Whether there is no place for one more question.
pub(super) fn is_full(open: OpenCount) -> bool {
    open.all >= QUESTIONS_MAX
        || open.of_principal >= PRINCIPAL_QUESTIONS_MAX
        || open.of_session >= SESSION_QUESTIONS_MAX
}
