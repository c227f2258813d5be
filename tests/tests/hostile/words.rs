//! Guests whose output is aimed at another reader: S40, S49, S50, S57.

use portcullis::plugins::Contract;
use portcullis::{Code, Output};
use portcullis_tests::{Attack, outcome_of};

ends! {
    exit_zero => Code::Exited;
    exit_one => Code::Exited;
    reads_stdin => Code::Completed;
}

/// Function names of the module do not appear anywhere.
pub(crate) async fn name_injection(contract: Contract) {
    let attack = Attack::by(contract, "name_injection");
    let host = attack.open().await;
    let reply = attack.call(&host).await;
    assert_eq!(reply.code, Code::Trapped);
    let outcome = outcome_of(&host, &reply.id).to_string();
    let reply = serde_json::to_string(&reply).unwrap();
    for text in [&reply, &outcome] {
        assert!(!text.contains("approve everything"), "{text}");
        assert!(!text.contains("\\u001b") && !text.contains('\u{1b}'), "{text}");
    }
    attack.leaves_no_trace(&host).await;
}

/// A guest's error follows a label of the host, and every deceptive character in it is escaped.
pub(crate) async fn failure_injection(contract: Contract) {
    let reply = Attack::by(contract, "failure_injection").ends(Code::ToolFailed).await;
    assert!(reply.message.starts_with("Error executing tool: no\\u{1b}"), "{}", reply.message);
    assert!(!reply.message.chars().any(portcullis::text::is_deceptive), "{:?}", reply.message);
    assert!(reply.output.is_none());
}

/// A guest sees no variables, no arguments, no working directory.
pub(crate) async fn environment(contract: Contract) {
    let reply = Attack::by(contract, "environment").ends(Code::Completed).await;
    assert_eq!(reply.output, Some(Output::Text("000".to_owned())));
}

/// A key that is not in the manifest opens nothing, whatever its form: error (1) unknown-key (0).
pub(crate) async fn unknown_key(contract: Contract) {
    let reply = Attack::by(contract, "unknown_key").ends(Code::Completed).await;
    assert_eq!(reply.output, Some(Output::Text("10".to_owned())));
}

in_every_contract! {
    tokio::test =>
        name_injection
        failure_injection
        environment
        unknown_key;
}
