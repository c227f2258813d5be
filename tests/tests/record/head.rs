//! The head of the audit log, which alone says where the log ends: damaged, missing, or outdated. P26.

use crate::record::desk::{Desk, lines};
use portcullis::audit::{Fault, Verified};
use portcullis::{Code, Request, open_audit};
use sha2::{Digest, Sha256};
use std::fs;

/// A head with one changed bit in any byte, or with missing bytes, is invalid.
#[tokio::test]
async fn a_damaged_head_is_detected() {
    let desk = Desk::with_short_record().await;
    let count = lines(&desk.log()).len() as u64;
    let audit = open_audit(&desk.site.state()).await.unwrap();
    let whole = fs::read(desk.head()).unwrap();
    let expected = Verified { lines: count, fault: Some(Fault::Head(count)) };
    for at in 0..whole.len() {
        let mut other = whole.clone();
        other[at] ^= 1;
        fs::write(desk.head(), other).unwrap();
        assert_eq!(audit.verify().await.unwrap(), expected, "byte {at}");
    }
    for length in 1..whole.len() {
        fs::write(desk.head(), &whole[..length]).unwrap();
        assert_eq!(audit.verify().await.unwrap(), expected, "{length} bytes");
    }
    fs::write(desk.head(), whole).unwrap();
    assert_eq!(audit.verify().await.unwrap().fault, None);
}

/// Without a head, it is unknown where the log ended: a log of any length without its head is invalid.
#[tokio::test]
async fn a_log_without_its_head_is_invalid() {
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
            // If neither file is left, a new log cannot be distinguished from a removed one.
            if kept > 0 {
                assert!(desk.verify().fault.is_some(), "{kept} lines verify without a head");
                let host = desk.open_good().await;
                let reply = host.call(Request::new("good.run", "{}")).await;
                assert_eq!(reply.code, Code::RecordUnavailable, "{kept} lines without a head were accepted");
            }
        }
    }
}

/// A host does not append to a log with an invalid head, and makes no call.
#[tokio::test]
async fn no_call_is_made_with_a_damaged_head() {
    let desk = Desk::with_short_record().await;
    let mut head = fs::read(desk.head()).unwrap();
    head[3] ^= 1;
    fs::write(desk.head(), head).unwrap();
    let before = fs::read(desk.log()).unwrap();
    let host = desk.open_good().await;
    let reply = host.call(Request::new("good.run", "{}")).await;
    assert_eq!(reply.code, Code::RecordUnavailable, "{}", reply.message);
    assert_eq!(fs::read(desk.log()).unwrap(), before, "the log must not be changed");
}

/// An older head is valid: the lines behind it continue the chain.
#[tokio::test]
async fn complete_lines_behind_the_head_are_accepted() {
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

/// A head that is newer than the log shows that the end was cut off. No call is made.
#[tokio::test]
async fn no_call_is_made_after_a_truncation() {
    let desk = Desk::with_short_record().await;
    let lines = lines(&desk.log());
    fs::write(desk.log(), lines[..lines.len() - 1].concat()).unwrap();
    let host = desk.open_good().await;
    let reply = host.call(Request::new("good.run", "{}")).await;
    assert_eq!(reply.code, Code::RecordUnavailable, "{}", reply.message);
    assert_eq!(desk.verify().fault, Some(Fault::Cut(lines.len() as u64)));
}

/// Computes HMAC-SHA-256 (RFC 2104), as the host does to seal its head with the key of the state directory.
fn mac(desk: &Desk, parts: [&[u8]; 2]) -> Vec<u8> {
    let mut block = fs::read(desk.site.state().join("key")).unwrap();
    block.resize(64, 0);
    let pad = |with: u8| block.iter().map(|byte| byte ^ with).collect::<Vec<_>>();
    let inner = Sha256::digest([pad(0x36).as_slice(), parts[0], parts[1]].concat());
    Sha256::digest([pad(0x5c).as_slice(), &inner].concat()).to_vec()
}

/// A head of an earlier version has no checkpoint. The host accepts it and adds one.
#[tokio::test]
async fn a_head_of_an_earlier_version_is_accepted() {
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
async fn a_head_without_its_checkpoint_is_rejected() {
    let desk = Desk::with_short_record().await;
    let head = fs::read(desk.head()).unwrap();
    fs::write(desk.head(), &head[..80]).unwrap();
    let host = desk.open_good().await;
    assert_eq!(host.call(Request::new("good.run", "{}")).await.code, Code::RecordUnavailable);
}
