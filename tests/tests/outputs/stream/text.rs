//! The text of an output: complete, in order, and joined with the returned text.

use super::rig::Rig;
use portcullis_definitions::manifest::{Failure, Output, Verdict};
use portcullis_sandbox::{OUTPUT_PIECE_BYTES_MAX, Stop};
use serde_json::{Value, json};

/// Builds arguments that write these pieces and end in this way.
pub(super) fn pieces(pieces: &[&[u8]], then: &Value) -> Value {
    json!({ "pieces": pieces, "then": then })
}

#[tokio::test]
async fn the_text_that_a_tool_writes_is_its_output() {
    let run = Rig::new().run("lines", &json!({ "count": 3, "bytes": 12 })).await;
    run.answers("line 1 ....\nline 2 ....\nline 3 ....\n");
}

#[tokio::test]
async fn a_large_output_is_passed_on_in_pieces() {
    let run = Rig::new().run("lines", &json!({ "count": 50_000, "bytes": 40 })).await;
    assert_eq!((&run.success().output, run.ran.streamed), (&Output::Text(String::new()), 2_000_000));
    let told = run.taker.told();
    assert!(told.pieces.len() > 20 && told.pieces.iter().all(|bytes| *bytes <= OUTPUT_PIECE_BYTES_MAX));
    assert!(told.text().lines().enumerate().all(|(at, line)| line.starts_with(&format!("line {} ", at + 1))));
}

#[tokio::test]
async fn a_returned_text_follows_the_written_text() {
    let run = Rig::new().run("pieces", &pieces(&[b"one ", b"two "], &json!({ "text": "three" }))).await;
    run.answers("one two three");
    let rest = "x".repeat(3 * OUTPUT_PIECE_BYTES_MAX);
    let run = Rig::new().run("pieces", &pieces(&[b"one "], &json!({ "text": rest }))).await;
    run.answers(&format!("one {rest}"));
    assert!(run.taker.told().pieces.iter().all(|bytes| *bytes <= OUTPUT_PIECE_BYTES_MAX));
}

#[tokio::test]
async fn without_written_text_the_returned_text_is_everything() {
    let run = Rig::new().run("pieces", &pieces(&[], &json!({ "text": "returned" }))).await;
    assert_eq!(run.success().output, Output::Text("returned".to_owned()));
    run.had_written("");
}

#[tokio::test]
async fn concurrent_streams_write_one_text() {
    let arguments = json!({ "pieces": [b"one ", b"two ", b"end"], "apart": true, "then": { "text": "." } });
    Rig::new().run("pieces", &arguments).await.answers("one two end.");
}

/// The caller decides what this means. It gets all the details.
#[tokio::test]
async fn json_and_parts_after_written_text_are_distinguished() {
    let run = Rig::new().run("pieces", &pieces(&[b"one"], &json!("json"))).await;
    assert!(matches!(run.success().output, Output::Json(_)));
    run.had_written("one");
    let run = Rig::new().run("pieces", &pieces(&[b"one"], &json!("parts"))).await;
    assert!(matches!(run.success().output, Output::Parts(_)));
    run.had_written("one");
}

#[tokio::test]
async fn a_run_without_a_result_has_passed_on_its_written_text() {
    let run = Rig::new().run("pieces", &pieces(&[b"one"], &json!({ "fail": "as told" }))).await;
    assert_eq!(run.failure(), &Failure::Failed("as told".to_owned()));
    run.had_written("one");
    let run = Rig::new().run("pieces", &pieces(&[b"one"], &json!("trap"))).await;
    assert!(matches!(run.stop(), Stop::Trapped(_)));
    run.had_written("one");
}

#[tokio::test]
async fn invalid_utf8_is_replaced_and_a_character_may_be_split() {
    let euro = "\u{20ac}".as_bytes();
    let split = pieces(&[&euro[..1], &euro[1..2], &euro[2..], b"\xff!"], &json!("nothing"));
    Rig::new().run("pieces", &split).await.answers("\u{20ac}\u{fffd}!");
    let run = Rig::new().run("pieces", &pieces(&[b"cut ", &euro[..2]], &json!("nothing"))).await;
    run.answers("cut \u{fffd}");
    // The rest of a character can be in the returned text.
    let run = Rig::new().run("pieces", &pieces(&[b"cut ", &euro[..2]], &json!({ "text": "." }))).await;
    run.answers("cut \u{fffd}.");
}

/// The guest's reviewer tries to open the output, and refuses the call if that works.
#[tokio::test]
async fn a_review_has_no_output() {
    assert_eq!(Rig::new().review("lines").await.result, Ok(Verdict::Clear));
}
