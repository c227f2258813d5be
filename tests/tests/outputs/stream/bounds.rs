//! Limits on what a tool may write, and on what it may return.

use super::rig::{Rig, Run};
use super::text::pieces;
use portcullis_sandbox::{LimitKind, OUTPUT_PIECE_BYTES_MAX, OutputFull, Stop};
use serde_json::json;

#[track_caller]
fn full(run: &Run) {
    assert_eq!(run.stop(), &Stop::Limit(LimitKind::KeptOutput));
}

fn rig(bytes: usize) -> Rig {
    let mut rig = Rig::new();
    rig.limits.kept_output_bytes = bytes;
    rig
}

#[tokio::test]
async fn an_endless_output_ends_exactly_at_its_limit() {
    let run = rig(1_000_000).run("endless", &json!({})).await;
    full(&run);
    assert_eq!((run.ran.streamed, run.taker.told().text.len()), (1_000_000, 1_000_000));
    assert!(run.taker.told().text().starts_with("line 1 ..."));
}

#[tokio::test]
async fn an_output_that_just_fits_is_complete() {
    rig(36).run("lines", &json!({ "count": 3, "bytes": 12 })).await.answers("line 1 ....\nline 2 ....\nline 3 ....\n");
    let run = rig(35).run("lines", &json!({ "count": 3, "bytes": 12 })).await;
    full(&run);
    run.had_written("line 1 ....\nline 2 ....\nline 3 ....");
}

#[tokio::test]
async fn a_returned_text_after_written_text_counts_too() {
    rig(5).run("pieces", &pieces(&[b"one"], &json!({ "text": ".." }))).await.answers("one..");
    let run = rig(5).run("pieces", &pieces(&[b"one"], &json!({ "text": "..." }))).await;
    full(&run);
    run.had_written("one..");
}

#[tokio::test]
async fn the_limit_does_not_split_a_character() {
    let run = rig(4).run("pieces", &pieces(&["aa\u{20ac}".as_bytes()], &json!("nothing"))).await;
    full(&run);
    run.had_written("aa");
}

#[tokio::test]
async fn a_caller_without_space_ends_the_run_and_gets_nothing_more() {
    let rig = Rig::new().on_piece(|number| if number < 3 { Ok(()) } else { Err(OutputFull) });
    let run = rig.run("pieces", &pieces(&[b"a", b"b", b"c", b"d"], &json!("nothing"))).await;
    full(&run);
    assert_eq!((run.taker.told().text(), run.ran.streamed), ("abc", 2));
    let rig = Rig::new().on_piece(|number| if number < 2 { Ok(()) } else { Err(OutputFull) });
    let run = rig.run("pieces", &pieces(&[b"a"], &json!({ "text": "b" }))).await;
    full(&run);
    assert_eq!((run.taker.told().text(), run.ran.streamed), ("ab", 1));
}

#[tokio::test]
async fn a_write_that_was_not_permitted_ends_the_run() {
    let run = Rig::new().run("overrun", &json!({ "bytes": OUTPUT_PIECE_BYTES_MAX })).await;
    assert_eq!((run.success().title.as_deref(), run.ran.streamed), (None, OUTPUT_PIECE_BYTES_MAX as u64));
    let run = Rig::new().run("overrun", &json!({ "bytes": OUTPUT_PIECE_BYTES_MAX + 1 })).await;
    assert!(matches!(run.stop(), Stop::Trapped(_)), "{:?}", run.stop());
    run.had_written("");
}

/// The engine charges a returned text before it copies any byte of it.
#[tokio::test]
async fn a_text_that_is_too_large_to_be_returned_reaches_a_limit() {
    let mut rig = Rig::new();
    rig.limits.memory_bytes = 256 << 20;
    let run = rig.run("returned", &json!({ "bytes": 50 << 20 })).await;
    assert_eq!(run.stop(), &Stop::Limit(LimitKind::Transfer));
    let mut rig = Rig::new();
    rig.limits.memory_bytes = 256 << 20;
    let run = rig.run("returned", &json!({ "bytes": 7 << 20 })).await;
    assert_eq!(run.success().title, None);
}
