//! The two encoders between untrusted text and a person: their output has no invisible or control characters. S49.

use portcullis_definitions::text::{Lines, OneLine};
use proptest::prelude::*;

/// Characters that must not be in the output, listed independently of the encoders: controls, DEL and C1, line
/// separators, direction marks, zero-width and other invisible characters, and tags.
fn may_come_out(character: char) -> bool {
    !matches!(u32::from(character),
        0..=0x1f | 0x7f..=0x9f | 0xad | 0x61c | 0x180e | 0x200b..=0x200f | 0x2028..=0x202e | 0x2060..=0x206f
        | 0xfeff | 0xfff9..=0xfffb | 0xe0000..=0xe007f)
}

fn check(text: &str) {
    let (one, lines) = (OneLine(text).to_string(), Lines(text).to_string());
    assert_eq!(one.chars().find(|character| !may_come_out(*character)), None, "{text:?}");
    let in_lines = |character: &char| !may_come_out(*character) && !matches!(character, '\n' | '\t');
    assert_eq!(lines.chars().find(in_lines), None, "{text:?}");
    assert_eq!(lines.matches('\n').count(), text.matches('\n').count(), "{text:?}");
    if text.chars().all(|character| matches!(character, ' '..='~')) {
        assert_eq!((one.as_str(), lines.as_str()), (text, text), "plain text must not change");
    }
}

#[test]
fn naughty_strings_are_escaped() {
    naughty_strings::BLNS.iter().for_each(|text| check(text));
}

#[test]
fn every_character_is_escaped_if_needed() {
    ('\0'..=char::MAX).for_each(|character| check(&character.to_string()));
}

#[test]
fn terminal_escape_sequences_are_escaped() {
    let sequences = [
        "\u{1b}[2J\u{1b}[1;1H",
        "\u{9b}2J",
        "\u{1b}]0;title\u{7}",
        "\u{1b}]52;c;aGk=\u{1b}\\",
        "\u{9d}0;t\u{9c}",
        "\u{1b}]8;;http://a\u{1b}\\text\u{1b}]8;;\u{1b}\\",
        "\u{1b}P$q\u{1b}\\",
        "\u{90}q\u{9c}",
        "a\rb",
        "a\u{8}b",
        "\u{1b}c",
        "\u{1b}(0",
        "\u{85}",
        "\u{202e}txt.exe\u{202c}",
        "\u{2066}a\u{2069}",
        "a\u{200d}b",
        "\u{feff}",
    ];
    for sequence in sequences {
        check(sequence);
        check(&sequence.repeat(3));
    }
}

#[test]
fn ordinary_text_is_not_changed() {
    for text in ["plain", "zwölf Boxkämpfer", "日本語", "مرحبا", "😀👍🏽", "a\u{301}", "❤\u{fe0f}", "½ ± €", "~^`|\\"]
    {
        assert_eq!(OneLine(text).to_string(), text);
        assert_eq!(Lines(text).to_string(), text);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_escaped_if_needed(text in any::<String>(), controls in "[\\x00-\\x9f\u{2000}-\u{2070}\u{e0000}-\u{e0080}a]{0,40}") {
        check(&text);
        check(&controls);
        check(&(text + &controls));
    }
}
