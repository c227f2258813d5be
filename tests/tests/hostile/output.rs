//! Guests whose results are too large, or not what they promise: S16, S21, S22, S53, J08.

use portcullis::events::EventKind;
use portcullis::plugins::Contract;
use portcullis::{Code, LimitKind, Output};
use portcullis_tests::{Attack, Manifest, outcome_of};

/// Text over the limit is cut after a complete line, with a note.
pub(crate) async fn long_text(contract: Contract) {
    let reply = Attack::by(contract, "long_text").limit("output = \"64 KiB\"").ends(Code::Completed).await;
    let (kept, note) = reply.message.split_once("\n[Portcullis:").expect("the text must have a note");
    assert_eq!(kept.len(), 64 << 10, "256 lines of 256 bytes must fit");
    assert!(kept.ends_with("x\n") && note.contains("3840 lines"), "{note}");
    let reply = Attack::by(contract, "long_text").limit("output = 65000").ends(Code::Completed).await;
    assert_eq!(reply.message.split_once("\n[Portcullis:").unwrap().0.len(), 65000 / 256 * 256);
}

/// Part of a JSON document is not JSON: it is passed on as text, or is an error if JSON was promised.
pub(crate) async fn long_json(contract: Contract) {
    let limited = |attack: Attack| attack.limit("output = \"64 KiB\"");
    let reply = limited(Attack::by(contract, "long_json")).ends(Code::Completed).await;
    assert!(matches!(&reply.output, Some(Output::Text(text)) if text.len() < 65 << 10), "{}", reply.message.len());
    let promises = Manifest::of("long-json").tool(|tool| tool.output_schema = Some(r#"{"type":"string"}"#.into()));
    let reply = limited(Attack::with(contract, &promises, "long-json")).ends(Code::Limit(LimitKind::Output)).await;
    assert!(reply.output.is_none());
    assert!(reply.message.len() < 1024, "{}", reply.message);
}

/// Asserts that a limit ends a call whose short JSON text would become a large document.
pub(crate) async fn json_bomb(contract: Contract) {
    let attack = Attack::by(contract, "json_bomb").limit("output = \"4 MiB\"");
    let reply = attack.ends(Code::Limit(LimitKind::HostMemory)).await;
    assert!(reply.output.is_none() && reply.message.len() < 1024, "{}", reply.message);
}

/// A result that violates the output schema is withheld.
pub(crate) async fn json_echo(contract: Contract) {
    let manifest = Manifest::of("json-echo").tool(|tool| {
        tool.output_schema =
            Some(r#"{"type":"object","required":["sum"],"properties":{"sum":{"type":"integer"}}}"#.into());
    });
    let attack = || Attack::with(contract, &manifest, "json-echo");
    attack().arguments(r#"{"sum":1}"#).ends(Code::Completed).await;
    for arguments in ["{}", r#"{"sum":"1"}"#] {
        let reply = attack().arguments(arguments).ends(Code::InvalidOutput).await;
        assert!(reply.output.is_none() && reply.message.contains("output schema"), "{}", reply.message);
    }
}

pub(crate) async fn json_that_is_none(contract: Contract) {
    let reply = Attack::by(contract, "json_that_is_none").ends(Code::InvalidOutput).await;
    assert!(reply.output.is_none());
}

/// A tool that promises JSON and returns text violates its schema.
async fn text_where_json_is_promised_is_invalid_output(contract: Contract) {
    let manifest = Manifest::of("good").tool(|tool| tool.output_schema = Some("{}".into()));
    Attack::with(contract, &manifest, "good").call_alone(Code::InvalidOutput).await;
}

/// A guest's prints go only to the audit log, cut and escaped.
pub(crate) async fn log_flood(contract: Contract) {
    let attack = Attack::by(contract, "log_flood");
    let host = attack.open().await;
    let reply = attack.call(&host).await;
    assert_eq!(reply.code, Code::Completed);
    let printed = outcome_of(&host, &reply.id)["printed"].as_str().unwrap().to_owned();
    assert!(printed.len() < 8 << 10, "{} bytes of it are in the audit log", printed.len());
    assert!(printed.contains("bytes more]"), "{}", &printed[printed.len() - 64..]);
    attack.leaves_no_trace(&host).await;
}

/// Progress reports over the quota are dropped, and each report is cut.
pub(crate) async fn progress_flood(contract: Contract) {
    let attack = Attack::by(contract, "progress_flood").limit("progress-reports = 50");
    let host = attack.open().await;
    let mut events = host.events();
    assert_eq!(attack.call(&host).await.code, Code::Completed);
    let mut reports = 0;
    while let Some(event) = events.try_next() {
        if let EventKind::Progress(progress) = event.kind {
            reports += 1;
            assert!(progress.title.as_ref().is_some_and(|title| title.len() <= 4096));
            assert_eq!(progress.fraction, None, "a NaN must not be a fraction");
        }
    }
    assert_eq!(reports, 50);
    attack.leaves_no_trace(&host).await;
}

in_every_contract! {
    tokio::test =>
        long_text
        long_json
        json_bomb
        json_echo
        json_that_is_none
        text_where_json_is_promised_is_invalid_output
        log_flood
        progress_flood;
}
