//! The head of the record, which alone knows where the record ends: damaged, gone, or of another day. P26.

use crate::desk::{Desk, lines};
use portcullis::audit::{Fault, Verified};
use portcullis::{Code, Request, open_audit};
use sha2::{Digest, Sha256};
use std::fs;

/// A head with one bit changed in any byte, or with bytes missing, is no head.
#[tokio::test]
async fn a_damaged_head_is_found() {
    let desk = Desk::with_short_record().await;
    let count = lines(&desk.log()).len() as u64;
    let audit = open_audit(&desk.site.state()).unwrap();
    let whole = fs::read(desk.head()).unwrap();
    let expected = Verified { lines: count, fault: Some(Fault::Head(count)) };
    for at in 0..whole.len() {
        let mut other = whole.clone();
        other[at] ^= 1;
        fs::write(desk.head(), other).unwrap();
        assert_eq!(audit.verify().unwrap(), expected, "byte {at}");
    }
    for length in 1..whole.len() {
        fs::write(desk.head(), &whole[..length]).unwrap();
        assert_eq!(audit.verify().unwrap(), expected, "{length} bytes");
    }
    fs::write(desk.head(), whole).unwrap();
    assert_eq!(audit.verify().unwrap().fault, None);
}

/// Without a head nobody knows where the record ended: a record of any length beside none is not sound.
#[tokio::test]
async fn a_record_without_its_head_is_not_sound() {
    for removed in [true, false] {
        for kept in [0, 1, 3, usize::MAX] {
            let desk = Desk::with_short_record().await;
            let lines = lines(&desk.log());
            let kept = kept.min(lines.len());
            fs::write(desk.log(), lines[..kept].concat()).unwrap();
            if removed {
                fs::remove_file(desk.head()).unwrap();
            } else {
                fs::write(desk.head(), "").unwrap();
            }
            // With nothing left of either, there is nothing that could tell a new record from a removed one.
            if kept > 0 {
                assert!(desk.verify().fault.is_some(), "{kept} lines verify without a head");
                let host = desk.open_good().await;
                let reply = host.call(Request::new("good.run", "{}")).await;
                assert_eq!(reply.code, Code::RecordUnavailable, "{kept} lines without a head were believed");
            }
        }
    }
}

/// A host does not go on with a record whose head it cannot believe, and makes no call.
#[tokio::test]
async fn no_call_is_made_beside_a_damaged_head() {
    let desk = Desk::with_short_record().await;
    let mut head = fs::read(desk.head()).unwrap();
    head[3] ^= 1;
    fs::write(desk.head(), head).unwrap();
    let before = fs::read(desk.log()).unwrap();
    let host = desk.open_good().await;
    let reply = host.call(Request::new("good.run", "{}")).await;
    assert_eq!(reply.code, Code::RecordUnavailable, "{}", reply.message);
    assert_eq!(fs::read(desk.log()).unwrap(), before, "the record stays as it was found");
}

/// The head of an earlier moment: what was written behind it since follows the chain, so it is believed.
#[tokio::test]
async fn whole_lines_behind_the_head_are_taken_over() {
    let desk = Desk::with_short_record().await;
    let host = desk.open_good().await;
    let mut older = vec![fs::read(desk.head()).unwrap()];
    for _ in 0..3 {
        assert_eq!(host.call(Request::new("good.run", "{}")).await.code, Code::Completed);
        older.push(fs::read(desk.head()).unwrap());
    }
    drop(host);
    for head in older {
        let count = lines(&desk.log()).len() as u64;
        fs::write(desk.head(), head).unwrap();
        assert_eq!(desk.verify(), Verified { lines: count, fault: None });
        let host = desk.open_good().await;
        assert_eq!(host.call(Request::new("good.run", "{}")).await.code, Code::Completed);
        assert_eq!(desk.verify(), Verified { lines: count + 2, fault: None });
    }
}

/// A head that is newer than the record: the end was cut off, and no call is made.
#[tokio::test]
async fn no_call_is_made_behind_a_cut() {
    let desk = Desk::with_short_record().await;
    let lines = lines(&desk.log());
    fs::write(desk.log(), lines[..lines.len() - 1].concat()).unwrap();
    let host = desk.open_good().await;
    let reply = host.call(Request::new("good.run", "{}")).await;
    assert_eq!(reply.code, Code::RecordUnavailable, "{}", reply.message);
    assert_eq!(desk.verify().fault, Some(Fault::Cut(lines.len() as u64)));
}

/// HMAC-SHA-256 (RFC 2104), as the host seals its head with the key of the state directory.
fn mac(desk: &Desk, parts: [&[u8]; 2]) -> Vec<u8> {
    let mut block = fs::read(desk.site.state().join("key")).unwrap();
    block.resize(64, 0);
    let pad = |with: u8| block.iter().map(|byte| byte ^ with).collect::<Vec<_>>();
    let inner = Sha256::digest([pad(0x36).as_slice(), parts[0], parts[1]].concat());
    Sha256::digest([pad(0x5c).as_slice(), &inner].concat()).to_vec()
}

/// A head of an earlier version has no checkpoint. The host accepts it and adds one.
#[tokio::test]
async fn a_head_of_an_earlier_version_is_taken_over() {
    let desk = Desk::with_short_record().await;
    let head = fs::read(desk.head()).unwrap();
    let body = &head[..48];
    assert_eq!(mac(&desk, [b"portcullis audit head, version 2", body]), head[48..80]);
    let earlier = [body, &mac(&desk, [b"portcullis audit head, version 1", body])].concat();
    fs::write(desk.head(), earlier).unwrap();
    let host = desk.open_good().await;
    assert_eq!(host.call(Request::new("good.run", "{}")).await.code, Code::Completed);
    assert_eq!(desk.verify().fault, None);
    assert_eq!(fs::read(desk.head()).unwrap().len(), head.len());
}

/// A head whose checkpoint was cut off is not accepted as one of an earlier version.
#[tokio::test]
async fn a_head_without_its_checkpoint_is_not_believed() {
    let desk = Desk::with_short_record().await;
    let head = fs::read(desk.head()).unwrap();
    fs::write(desk.head(), &head[..80]).unwrap();
    let host = desk.open_good().await;
    assert_eq!(host.call(Request::new("good.run", "{}")).await.code, Code::RecordUnavailable);
}
