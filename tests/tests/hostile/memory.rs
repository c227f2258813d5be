//! Guests that request more memory, tables, instances or stack than allowed: S08, S10 to S14.

use portcullis::plugins::{Contract, LoadError, Refusal};
use portcullis::{Code, LimitKind};
use portcullis_tests::Attack;

/// The default memory limit.
const MEMORY_BYTES: u64 = 64 << 20;

ends! {
    memory_growth => Code::Limit(LimitKind::Memory);
    table_growth => Code::Limit(LimitKind::TableElements);
    deep_recursion => Code::Limit(LimitKind::Stack);
}

refused! {
    memory_of_four_gibibytes => LoadError::Refused(Refusal::Mismatch(_)), "memory";
    table_of_nine_million => LoadError::Refused(Refusal::Mismatch(_)), "table";
    many_memories => LoadError::Refused(Refusal::Mismatch(_)), "memor";
    many_tables => LoadError::Refused(Refusal::Mismatch(_)), "table";
    many_instances => LoadError::Refused(Refusal::Mismatch(_)), "instances";
    aggregate_memory => LoadError::Describe(_), "memory";
}

/// A guest whose request for memory fails and that continues returns its result, and got no more than the limit.
pub(crate) async fn memory_growth_survived(contract: Contract) {
    let reply = Attack::by(contract, "memory_growth_survived").ends(Code::Completed).await;
    let taken = reply.usage.run.memory_bytes;
    assert!(taken <= MEMORY_BYTES && taken > MEMORY_BYTES - (2 << 20), "{taken}");
    let reply = Attack::by(contract, "memory_growth_survived").limit("memory = \"8 MiB\"").ends(Code::Completed).await;
    assert!(reply.usage.run.memory_bytes <= 8 << 20, "{}", reply.usage.run.memory_bytes);
}

/// A guest that asks once for more than the limit gets nothing of it. `tests/instances` lets it live for a session.
pub(crate) async fn memory_refused_once(contract: Contract) {
    let reply = Attack::by(contract, "memory_refused_once").ends(Code::Completed).await;
    assert!(reply.usage.run.memory_bytes < 2 << 20, "{}", reply.usage.run.memory_bytes);
}

in_every_contract! {
    tokio::test =>
        memory_growth_survived
        memory_refused_once;
}
