//! What a subscriber to a call sees of the calls that its tool makes.

use crate::composition::desk::{ALLOW, Desk, EVERY_TOOL, relays, wanted};
use portcullis::Host;
use portcullis::events::EventKind;
use serde_json::{Value, json};

/// Makes one inner call. Returns the titles of the progress, and the states of the inner call.
async fn observed(host: &Host, arguments: &Value) -> (Vec<String>, Vec<&'static str>) {
    let mut events = host.events();
    let reply = host.call(relays(&[wanted("good.run", arguments)])).await;
    let (mut titles, mut states) = (Vec::new(), Vec::new());
    while let Some(event) = events.try_next() {
        match &event.kind {
            EventKind::State(state) if &*event.tool == "good.run" => {
                assert_eq!(event.parent.as_deref(), Some(reply.id.as_str()));
                states.push(state.as_str());
            }
            EventKind::Progress(progress) => {
                assert_eq!((&*event.call, event.parent.as_deref()), (reply.id.as_str(), None));
                titles.push(progress.title.clone().unwrap());
            }
            EventKind::State(_) | EventKind::Lagged => {}
        }
    }
    (titles, states)
}

#[tokio::test]
async fn inner_calls_are_events_and_progress_of_the_call_above() {
    let desk = Desk::new();
    let host = desk.open(ALLOW, EVERY_TOOL).await;
    let (titles, states) = observed(&host, &json!({})).await;
    assert_eq!(states, ["pending", "running", "completed"]);
    assert_eq!(titles, ["Calls good.run"]);
}

#[tokio::test]
async fn progress_names_the_places_of_an_inner_call() {
    let desk = Desk::new();
    let host = desk.open(ALLOW, EVERY_TOOL).await;
    let arguments =
        json!({ "path": "src/a.rs", "url": "https://user:secret@example.com/x?token=1", "content": "text" });
    let (titles, _) = observed(&host, &arguments).await;
    assert_eq!(titles, ["Calls good.run src/a.rs, https://example.com/x"]);
    // The policy can keep places out of events and of the audit log.
    drop(host);
    let host = desk.open(&format!("[record]\ntargets = \"drop\"\n{ALLOW}"), EVERY_TOOL).await;
    assert_eq!(observed(&host, &arguments).await.0, ["Calls good.run"]);
}

/// A model can choose a path to deceive the person who watches.
#[tokio::test]
async fn progress_escapes_and_cuts_hostile_places() {
    let desk = Desk::new();
    let host = desk.open(ALLOW, EVERY_TOOL).await;
    let (titles, _) = observed(&host, &json!({ "path": "\u{1b}[2J\n\u{202e}gpj.exe" })).await;
    assert_eq!(titles, ["Calls good.run \\u{1b}[2J\\n\\u{202e}gpj.exe"]);
    let (titles, _) = observed(&host, &json!({ "path": "\u{1b}".repeat(400), "url": "x".repeat(400) })).await;
    let [title] = titles.as_slice() else { panic!("{titles:?}") };
    assert!(title.len() <= 163 && title.ends_with('…') && !title.contains('\u{1b}'), "{title}");
}
