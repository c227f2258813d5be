//! Changes to the audit log: a change of any byte, and a dropped, moved or added line, is detected at the first
//! affected entry. P26.

use crate::record::desk::{Desk, lines};
use portcullis::audit::{Fault, Verified};
use portcullis::open_audit;
use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::FileExt;

fn fault_at(entry: u64) -> Verified {
    Verified { lines: entry - 1, fault: Some(Fault::Entry(entry)) }
}

fn writable(desk: &Desk) -> File {
    OpenOptions::new().write(true).open(desk.log()).unwrap()
}

/// One bit of each byte of the log is flipped, including line breaks and MACs.
#[tokio::test]
async fn every_byte_is_covered() {
    let desk = Desk::with_short_record().await;
    let (audit, log) = (open_audit(&desk.site.state()).await.unwrap(), writable(&desk));
    let mut at = 0;
    for (line, entry) in lines(&desk.log()).iter().zip(1..) {
        for byte in line {
            log.write_all_at(&[byte ^ 1], at).unwrap();
            assert_eq!(audit.verify().await.unwrap(), fault_at(entry), "byte {at}");
            log.write_all_at(&[*byte], at).unwrap();
            at += 1;
        }
    }
    assert_eq!(desk.verify().fault, None, "every byte must be restored");
}

/// In a log with every outcome, each line is changed as a forger would: its outcome, its position, its time.
#[tokio::test]
async fn a_changed_word_is_detected() {
    let desk = Desk::with_record().await;
    let whole = fs::read_to_string(desk.log()).unwrap();
    let mut changed = 0;
    for (from, to) in [("policy-denied", "policy-allowed"), ("\"allow\"", "\"deny\""), ("\"seq\":7", "\"seq\":8")] {
        let at = whole.find(from).unwrap_or_else(|| panic!("{from} is in the audit log"));
        let entry = whole[..at].matches('\n').count() as u64 + 1;
        fs::write(desk.log(), whole.replacen(from, to, 1)).unwrap();
        assert_eq!(desk.verify(), fault_at(entry), "{from}");
        changed += 1;
    }
    assert_eq!(changed, 3);
    fs::write(desk.log(), whole).unwrap();
    assert_eq!(desk.verify().fault, None);
}

/// Writes a modified log for each line of the original one, and asserts the detected fault.
fn each_line(desk: &Desk, change: impl Fn(&mut Vec<Vec<u8>>, usize), expected: impl Fn(u64, u64) -> Option<Verified>) {
    let whole = lines(&desk.log());
    for at in 0..whole.len() {
        let Some(expected) = expected(at as u64 + 1, whole.len() as u64) else { continue };
        let mut other = whole.clone();
        change(&mut other, at);
        fs::write(desk.log(), other.concat()).unwrap();
        assert_eq!(desk.verify(), expected, "line {}", at + 1);
    }
    fs::write(desk.log(), whole.concat()).unwrap();
    assert_eq!(desk.verify().fault, None);
}

#[tokio::test]
async fn a_dropped_line_is_detected() {
    let desk = Desk::with_short_record().await;
    let drop = |lines: &mut Vec<Vec<u8>>, at| drop(lines.remove(at));
    each_line(&desk, drop, |entry, count| Some(if entry == count { cut_at(entry) } else { fault_at(entry) }));
}

#[tokio::test]
async fn swapped_lines_are_detected() {
    let desk = Desk::with_short_record().await;
    each_line(&desk, |lines, at| lines.swap(at, at + 1), |entry, count| (entry < count).then(|| fault_at(entry)));
}

#[tokio::test]
async fn a_duplicated_line_is_detected() {
    let desk = Desk::with_short_record().await;
    each_line(
        &desk,
        |lines, at| lines.insert(at, lines[at].clone()),
        |entry, count| Some(if entry == count { uncovered(entry + 1) } else { fault_at(entry + 1) }),
    );
}

#[tokio::test]
async fn an_inserted_line_is_detected() {
    let desk = Desk::with_short_record().await;
    for foreign in ["\n", "{}\n", "{\"seq\":1,\"kind\":\"outcome\"}\n", "\u{1b}[2J\n", "x"] {
        let insert = |lines: &mut Vec<Vec<u8>>, at| lines.insert(at, foreign.as_bytes().to_vec());
        each_line(&desk, insert, |entry, _| Some(fault_at(entry)));
    }
    let longest = "x".repeat(1 << 20);
    each_line(&desk, |lines, at| lines.insert(at, longest.clone().into_bytes()), |entry, _| Some(fault_at(entry)));
}

#[tokio::test]
async fn an_appended_line_is_detected() {
    let desk = Desk::with_short_record().await;
    let count = lines(&desk.log()).len() as u64;
    let whole = fs::read(desk.log()).unwrap();
    let torn = Verified { lines: count, fault: Some(Fault::Torn(count + 1)) };
    // The host writes no line longer than 128 KiB.
    let too_long = "x".repeat(128 * 1024 + 1);
    for (foreign, expected) in [
        ("\n", uncovered(count + 1)),
        ("{}\n", uncovered(count + 1)),
        ("{}\nhalf a line", uncovered(count + 1)),
        (&too_long, uncovered(count + 1)),
        ("half a line", torn),
    ] {
        fs::write(desk.log(), [&whole, foreign.as_bytes()].concat()).unwrap();
        assert_eq!(desk.verify(), expected, "{}", &foreign[..foreign.len().min(20)]);
    }
}

fn cut_at(entry: u64) -> Verified {
    Verified { lines: entry - 1, fault: Some(Fault::Cut(entry)) }
}

fn uncovered(entry: u64) -> Verified {
    Verified { lines: entry - 1, fault: Some(Fault::Uncovered(entry)) }
}

/// The log is truncated at every possible length. At a line break an entry is missing, elsewhere half an entry remains.
#[tokio::test]
async fn a_truncation_is_detected_at_every_length() {
    let desk = Desk::with_short_record().await;
    let (audit, log) = (open_audit(&desk.site.state()).await.unwrap(), writable(&desk));
    let whole = fs::read(desk.log()).unwrap();
    for length in (0..whole.len()).rev() {
        log.set_len(length as u64).unwrap();
        let entry = whole[..length].iter().filter(|byte| **byte == b'\n').count() as u64 + 1;
        let at_a_break = length == 0 || whole[length - 1] == b'\n';
        let expected = if at_a_break { cut_at(entry) } else { fault_at(entry) };
        assert_eq!(audit.verify().await.unwrap(), expected, "{length} bytes");
    }
}

/// A log with another key is invalid from its first entry.
#[tokio::test]
async fn another_key_is_detected_at_the_first_entry() {
    let desk = Desk::with_short_record().await;
    fs::write(desk.site.state().join("key"), [7; 32]).unwrap();
    assert_eq!(desk.verify(), fault_at(1));
}

/// The log of one host is invalid for another, although both started with an empty log.
#[tokio::test]
async fn a_log_of_another_host_is_detected_at_the_first_entry() {
    let (desk, other) = (Desk::with_short_record().await, Desk::with_short_record().await);
    fs::copy(other.log(), desk.log()).unwrap();
    assert_eq!(desk.verify(), fault_at(1));
    fs::copy(other.head(), desk.head()).unwrap();
    assert_eq!(desk.verify(), fault_at(1));
}
