//! `JSONTestSuite` against the parser of arguments: texts that must be rejected are, texts that must be accepted are,
//! and the verdict on optional ones is pinned. J05.

use crate::input::desk::{Desk, suite};
use std::collections::BTreeMap;
use std::fs;

/// Texts that a strict parser must accept and this one rejects: RFC 8259 does not define the meaning of a duplicate
/// key, so it is an error here.
const STRICTER: [&str; 2] = ["y_object_duplicated_key.json", "y_object_duplicated_key_and_value.json"];

/// Optional texts that this parser accepts: numbers that round to zero. The suite's package contains texts, in which
/// invalid UTF-8 bytes were replaced by U+FFFD, an ordinary character. The bytes themselves are tested in
/// `documents.rs`.
const ACCEPTED: &[&str] = &[
    "i_number_double_huge_neg_exp.json",
    "i_number_real_underflow.json",
    "i_string_UTF-8_invalid_sequence.json",
    "i_string_UTF8_surrogate_U+D800.json",
    "i_string_invalid_utf-8.json",
    "i_string_iso_latin_1.json",
    "i_string_lone_utf8_continuation_byte.json",
    "i_string_not_in_unicode_range.json",
    "i_string_overlong_sequence_2_bytes.json",
    "i_string_overlong_sequence_6_bytes.json",
    "i_string_overlong_sequence_6_bytes_null.json",
    "i_string_truncated-utf-8.json",
];

/// Reads each file of the suite as the value of an object's member. Returns whether it is accepted.
async fn verdicts(kind: &str) -> BTreeMap<String, bool> {
    let desk = Desk::new().await;
    let mut verdicts = BTreeMap::new();
    for entry in fs::read_dir(suite("PORTCULLIS_TEST_JSON_SUITE").join("test_parsing")).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        if !name.starts_with(kind) {
            continue;
        }
        let content = fs::read(entry.path()).unwrap();
        let arguments = [b"{\"v\": ", content.as_slice(), b"}"].concat();
        let accepted = desk.arguments(&arguments).is_ok();
        if !accepted {
            desk.refused(&arguments);
        }
        verdicts.insert(name, accepted);
    }
    verdicts
}

fn names(verdicts: &BTreeMap<String, bool>, accepted: bool) -> Vec<&str> {
    verdicts.iter().filter(|(_, verdict)| **verdict == accepted).map(|(name, _)| name.as_str()).collect()
}

#[tokio::test]
async fn invalid_json_is_rejected() {
    let verdicts = verdicts("n_").await;
    assert_eq!(verdicts.len(), 188);
    assert_eq!(names(&verdicts, true), [""; 0]);
}

#[tokio::test]
async fn valid_json_is_accepted_except_duplicate_keys() {
    let verdicts = verdicts("y_").await;
    assert_eq!(verdicts.len(), 95);
    assert_eq!(names(&verdicts, false), STRICTER);
}

#[tokio::test]
async fn the_verdict_on_optional_texts_is_pinned() {
    let verdicts = verdicts("i_").await;
    assert_eq!(verdicts.len(), 35);
    assert_eq!(names(&verdicts, true), ACCEPTED);
}
