//! What a guest still does after its call was cancelled, with grace and without.

use super::rig::{Rig, Run};
use super::text::pieces;
use portcullis_sandbox::{Cancellation, Stop};
use serde_json::json;

/// How often a measurement is repeated where a busy machine may stretch one: the shortest counts.
const TRIES: usize = 5;

/// How much less than a guest with grace one without has to do. A grace is twenty ticks.
const FACTOR: usize = 4;

/// How often a guest writes after its call was cancelled so, at its first piece.
async fn pieces_after(cancel: impl Fn(&Cancellation, usize) + Send + Sync + 'static) -> usize {
    let rig = Rig::new();
    let cancellation = rig.cancellation.clone();
    let on_piece = move |number| {
        cancel(&cancellation, number);
        Ok(())
    };
    let run = rig.on_piece(on_piece).run("ticks", &json!({})).await;
    assert_eq!(run.stop(), &Stop::Cancelled);
    run.taker.told().pieces.len() - 1
}

async fn fewest_after(cancel: impl Fn(&Cancellation, usize) + Clone + Send + Sync + 'static) -> usize {
    let mut fewest = usize::MAX;
    for _ in 0..TRIES {
        fewest = fewest.min(pieces_after(cancel.clone()).await);
    }
    fewest
}

#[tokio::test]
async fn without_grace_a_guest_does_a_fraction_of_what_it_does_with_it() {
    let with_grace = pieces_after(|cancellation, _| cancellation.cancel()).await;
    let at_once = fewest_after(|cancellation, _| cancellation.cancel_at_once()).await;
    assert!(at_once * FACTOR < with_grace, "{at_once} pieces at once, {with_grace} with grace");
}

#[tokio::test]
async fn grace_that_was_granted_can_be_taken_back() {
    let with_grace = pieces_after(|cancellation, _| cancellation.cancel()).await;
    let taken_back = fewest_after(|cancellation, number| match number {
        1 => cancellation.cancel(),
        _ => cancellation.cancel_at_once(),
    })
    .await;
    assert!(taken_back * FACTOR < with_grace, "{taken_back} pieces, {with_grace} with grace");
}

/// Cancels at the first piece; the guest then never ends by itself.
async fn stopped_at_once(then: &str) -> Run {
    let rig = Rig::new();
    let cancellation = rig.cancellation.clone();
    let cancel = move |_| {
        cancellation.cancel_at_once();
        Ok(())
    };
    rig.on_piece(cancel).run("pieces", &pieces(&[b"begun"], &json!(then))).await
}

#[tokio::test]
async fn a_guest_that_computes_or_waits_is_stopped_and_what_it_wrote_is_there() {
    for then in ["compute", "wait"] {
        let run = stopped_at_once(then).await;
        assert_eq!(run.stop(), &Stop::Cancelled, "{then}");
        run.had_written("begun");
    }
}

#[tokio::test]
async fn a_cancellation_that_follows_others_takes_over_how_they_are_given() {
    let (own, batch, either) = (Cancellation::new(), Cancellation::new(), Cancellation::new());
    let mut rig = Rig::new();
    rig.cancellation = either.clone();
    let cancel = batch.clone();
    let running = rig.on_piece(move |_| {
        cancel.cancel_at_once();
        Ok(())
    });
    let arguments = pieces(&[b"begun"], &json!("wait"));
    let run = tokio::select! {
        biased;
        run = running.run("pieces", &arguments) => run,
        _ = async { tokio::join!(either.follow(&own), either.follow(&batch)) } => panic!("nobody cancels the first"),
    };
    assert_eq!(run.stop(), &Stop::Cancelled);
}
