//! The pattern language: a table of matches, a table of errors, and a naive matcher for comparison.

#![expect(clippy::unwrap_used, reason = "a helper of a test may panic as the test itself may")]

use portcullis_policy::{EXPANDED_TOKENS, Glob, GlobError, PATTERN_CHARACTERS};
use proptest::prelude::*;

/// A pattern, the texts that match it, and texts that do not.
type Row = (&'static str, &'static [&'static str], &'static [&'static str]);

const ROWS: &[Row] = &[
    // Literal text.
    ("a", &["a"], &["", "A", "aa", "b", "a/", "/a", "a\n", "á"]),
    ("src/lib.rs", &["src/lib.rs"], &["src/lib_rs", "src//lib.rs", "src\\lib.rs", "/src/lib.rs", "src/lib.rs/"]),
    ("/a", &["/a"], &["a", "//a", "/a/"]),
    ("a/", &["a/"], &["a", "a//", "a/b"]),
    ("/", &["/"], &["", "//", "a"]),
    ("a//b", &["a//b"], &["a/b", "a///b", "a/x/b"]),
    ("a.b+c(d)|^$", &["a.b+c(d)|^$"], &["aXb+c(d)|^$", "a.bbc"]),
    ("a,b", &["a,b"], &["a", "b"]),
    ("a-b", &["a-b"], &["b"]),
    ("!a", &["!a"], &["a", "b"]),
    ("é", &["é"], &["e", "e\u{301}", "É"]),
    // One character.
    ("?", &["a", "é", "💥", ".", "\n", "\\"], &["", "aa", "/"]),
    ("a?c", &["abc", "a.c", "a?c"], &["ac", "a/c", "abbc"]),
    ("??", &["ab"], &["a", "abc", "a/"]),
    ("a/?", &["a/b"], &["a/", "a/bc", "a"]),
    // Any characters within a segment.
    ("*", &["", "a", "abc", ".a", "..", "a b", "\n"], &["/", "a/", "/a", "a/b"]),
    ("a*", &["a", "ab", "a.b"], &["", "ba", "a/", "a/b"]),
    ("*a", &["a", "ba", "aaa"], &["", "ab", "b/a"]),
    ("*.rs", &[".rs", "a.rs", "a.b.rs"], &["a.r", "a.rsx", "a/b.rs"]),
    ("a*b", &["ab", "axb", "abb", "aabab"], &["a", "b", "a/b", "abx"]),
    ("a*b*c", &["abc", "aXbYc", "abbcc", "abcbc"], &["acb", "ab", "ab/c"]),
    ("*a*", &["a", "xax"], &["", "x", "x/a"]),
    ("*/b", &["a/b", "/b"], &["b", "a/a/b", "a/b/"]),
    ("a/*", &["a/b", "a/"], &["a", "a/b/c", "b/a"]),
    ("a/*/c", &["a/b/c", "a//c"], &["a/c", "a/b/b/c"]),
    ("*/*", &["/", "a/b"], &["", "a", "a/b/c"]),
    ("a*?", &["ab", "abc"], &["a", "a/"]),
    ("*?*", &["a", "ab"], &["", "/"]),
    // Any number of segments.
    ("**", &["", "a", "/", "a/b", "//", "/a/b/c/", "..", "a\nb"], &[]),
    ("**/a", &["a", "/a", "b/a", "b/c/a"], &["", "ba", "a/", "a/b"]),
    ("a/**", &["a", "a/", "a/b", "a/b/c", "a/../b"], &["", "b", "ab", "ab/c", "/a", "b/a"]),
    ("/**", &["/", "/a", "/a/b", ""], &["a", "a/b"]),
    ("**/", &["", "a/", "a/b/"], &["a", "a/b"]),
    ("a/**/b", &["a/b", "a/x/b", "a/x/y/b", "a//b", "a/b/b"], &["ab", "a/xb", "a", "b", "a/b/c"]),
    ("**/a/**", &["a", "x/a", "a/x", "x/a/y"], &["", "x", "xa", "x/ay"]),
    ("**/*.rs", &["a.rs", "x/a.rs", "x/y/.rs"], &["a.r", "a.rs/x"]),
    ("**/**", &["", "a", "a/b"], &[]),
    ("a/**/b/**/c", &["a/b/c", "a/x/b/y/c", "a/b/b/c/c"], &["a/c/b", "a/c", "a/b/x"]),
    ("a/**/*", &["a/b", "a/b/c", "a/"], &["a", "b/a"]),
    ("*/**", &["", "a", "a/b", "a/b/c"], &[]),
    // Classes.
    ("[abc]", &["a", "b", "c"], &["", "d", "ab", "A", "/", "]"]),
    ("[a-c]x", &["ax", "bx", "cx"], &["dx", "-x", "x", "Bx"]),
    ("[!a-c]", &["d", "A", "-", "!", "é"], &["a", "b", "", "/", "dd"]),
    ("[a-]", &["a", "-"], &["b"]),
    ("[-a]", &["a", "-"], &["b"]),
    ("[a-cx-z0]", &["b", "y", "0"], &["d", "w", "1", "-"]),
    ("[*?]", &["*", "?"], &["a", ""]),
    ("[{,}]", &["{", ",", "}"], &["a"]),
    ("[!!]", &["a"], &["!"]),
    ("[\\]]", &["]"], &["\\"]),
    ("[\\\\]", &["\\"], &["]"]),
    ("[\\[]", &["["], &["\\"]),
    ("[a\\-c]", &["a", "-", "c"], &["b"]),
    ("[+-9]", &["+", ".", "0", "9"], &["/", "a"]),
    ("[!+]", &["a"], &["/", "+"]),
    ("[à-ü]", &["é"], &["e", "z"]),
    ("*[0-9]", &["1", "a1", "a12"], &["", "a", "1/"]),
    // Choices.
    ("{a,b}", &["a", "b"], &["", "ab", "{a,b}", ","]),
    ("x{a,b}y", &["xay", "xby"], &["xy", "xaby"]),
    ("x{,a}", &["x", "xa"], &["a", "xaa"]),
    ("{a,b}{c,d}", &["ac", "ad", "bc", "bd"], &["ab", "cd", "a"]),
    ("{a,{b,c}d}", &["a", "bd", "cd"], &["b", "ad", "d"]),
    ("{src,tests}/**", &["src/a", "tests/a/b", "src"], &["docs/a", "srctests"]),
    ("{a/b,c}/d", &["a/b/d", "c/d"], &["a/d", "b/d"]),
    ("{**/x,y}", &["x", "a/x", "y"], &["a/y"]),
    ("a{/**,.txt}", &["a", "a/b", "a.txt"], &["ab", "a.txt/b"]),
    ("*.{js,ts}{,x}", &["a.js", "a.tsx"], &["a.x", "a.jsxx"]),
    ("{a,b*}c", &["ac", "bc", "bxc"], &["axc", "b/c"]),
    ("{*,a}*", &["", "a", "xyz"], &["a/b", "/"]),
    ("{a\\,b,c}", &["a,b", "c"], &["a", "b"]),
    ("{[,],x}", &[",", "x"], &["[", "]"]),
    // Escapes.
    ("\\*", &["*"], &["a", "\\*", ""]),
    ("\\?", &["?"], &["a"]),
    ("\\{a,b\\}", &["{a,b}"], &["a", "b"]),
    ("\\[a\\]", &["[a]"], &["a"]),
    ("\\\\", &["\\"], &["\\\\", ""]),
    ("\\a", &["a"], &["\\a"]),
    ("a\\/b", &["a/b"], &["a\\/b"]),
    ("\\**", &["*", "*a"], &["a", "*/a"]),
    ("*\\*", &["*", "a*"], &["a"]),
    ("\\.\\.", &[".."], &["."]),
];

#[test]
fn every_row_of_the_table_matches_as_it_says() {
    for (pattern, matching, other) in ROWS {
        let glob = Glob::new(pattern).unwrap();
        for text in *matching {
            assert!(glob.matches(text), "{pattern} does not match {text:?}");
        }
        for text in *other {
            assert!(!glob.matches(text), "{pattern} matches {text:?}");
        }
    }
    let rows: usize = ROWS.iter().map(|(_, matching, other)| matching.len() + other.len()).sum();
    assert!(rows >= 200, "{rows}");
}

#[test]
fn ambiguous_patterns_are_refused() {
    let rows = [
        ("", GlobError::Empty),
        ("{,a}", GlobError::Empty),
        ("{a,}", GlobError::Empty),
        ("{,}", GlobError::Empty),
        ("a**", GlobError::DeepBesideText),
        ("**a", GlobError::DeepBesideText),
        ("a/**b/c", GlobError::DeepBesideText),
        ("***", GlobError::DeepBesideText),
        ("**?", GlobError::DeepBesideText),
        ("{a,**}b", GlobError::DeepBesideText),
        ("**{a,b}", GlobError::DeepBesideText),
        ("[", GlobError::UnclosedClass),
        ("[a", GlobError::UnclosedClass),
        ("[a-", GlobError::UnclosedClass),
        ("[!", GlobError::UnclosedClass),
        ("[a\\", GlobError::UnclosedClass),
        ("[a\\]", GlobError::UnclosedClass),
        ("[[:alpha:]]", GlobError::UnclosedClass),
        ("{[,}", GlobError::UnclosedClass),
        ("[]", GlobError::EmptyClass),
        ("[!]", GlobError::EmptyClass),
        ("[]a]", GlobError::EmptyClass),
        ("[z-a]", GlobError::ReversedRange),
        ("[/]", GlobError::SlashInClass),
        ("[\\/]", GlobError::SlashInClass),
        ("[a-/]", GlobError::SlashInClass),
        ("[^a]", GlobError::CaretInClass),
        ("{", GlobError::UnclosedBrace),
        ("{a", GlobError::UnclosedBrace),
        ("{a,b", GlobError::UnclosedBrace),
        ("{a,{b,c}", GlobError::UnclosedBrace),
        ("}", GlobError::Unopened),
        ("a}b", GlobError::Unopened),
        ("{a,b}}", GlobError::Unopened),
        ("]", GlobError::Unopened),
        ("a]", GlobError::Unopened),
        ("{a}", GlobError::SingleChoice),
        ("{}", GlobError::SingleChoice),
        ("\\", GlobError::TrailingBackslash),
        ("a\\", GlobError::TrailingBackslash),
        ("a\0", GlobError::ControlCharacter),
        ("a\n", GlobError::ControlCharacter),
        ("\u{1b}[a]", GlobError::ControlCharacter),
    ];
    for (pattern, expected) in rows {
        assert_eq!(Glob::new(pattern), Err(expected), "{pattern:?}");
    }
}

#[test]
fn the_length_and_the_expansion_of_a_pattern_are_limited() {
    assert!(Glob::new(&"é".repeat(PATTERN_CHARACTERS)).is_ok());
    assert_eq!(Glob::new(&"é".repeat(PATTERN_CHARACTERS + 1)), Err(GlobError::TooLong));
    assert_eq!(Glob::new(&"{a,b}".repeat(20)), Err(GlobError::TooManyChoices));
    assert_eq!(Glob::new(&"{,a}".repeat(100)), Err(GlobError::TooManyChoices));
    let wide = format!("{{{}}}", vec!["ab"; EXPANDED_TOKENS / 3].join(","));
    assert!(Glob::new(&wide).is_ok());
    let nested = format!("{}a{}", "{a,".repeat(200), "}".repeat(200));
    assert!(Glob::new(&nested).is_ok());
}

#[test]
fn no_text_makes_a_match_exponential() {
    let text = "a".repeat(10_000);
    assert!(!Glob::new(&format!("{}b", "a*".repeat(100))).unwrap().matches(&text));
    let path = "a/".repeat(5_000);
    assert!(!Glob::new(&format!("{}b", "**/a/".repeat(100))).unwrap().matches(&path));
    assert!(!Glob::new(&format!("{}b", "**/a*a*/".repeat(100))).unwrap().matches(&path));
}

/// Marks `**` in an expanded pattern, so that braces cannot join two single stars.
const DEEP: char = '\u{e000}';

/// Expands the braces of a valid pattern, the slow and obvious way. It replaces the first braces with each of their
/// choices, until no braces are left.
fn written_out(pattern: &[char]) -> Vec<Vec<char>> {
    let Some(open) = first_outside(pattern, 0, &['{']) else { return vec![pattern.to_vec()] };
    let mut choices = Vec::new();
    let mut start = open + 1;
    let mut depth = 0;
    let mut position = start;
    loop {
        position = first_outside(pattern, position, &['{', ',', '}']).unwrap();
        match (pattern[position], depth) {
            ('{', _) => depth += 1,
            ('}', 0) => break,
            ('}', _) => depth -= 1,
            (',', 0) => {
                choices.push(&pattern[start..position]);
                start = position + 1;
            }
            _ => {}
        }
        position += 1;
    }
    choices.push(&pattern[start..position]);
    let after = &pattern[position + 1..];
    choices.iter().flat_map(|choice| written_out(&[&pattern[..open], choice, after].concat())).collect()
}

/// Returns the first of `wanted` that is neither escaped nor in a class.
fn first_outside(pattern: &[char], from: usize, wanted: &[char]) -> Option<usize> {
    let mut position = from;
    let mut in_class = false;
    while position < pattern.len() {
        match pattern[position] {
            '\\' => position += 1,
            '[' => in_class = true,
            ']' => in_class = false,
            character if !in_class && wanted.contains(&character) => return Some(position),
            _ => {}
        }
        position += 1;
    }
    None
}

/// Replaces every unescaped `**` outside classes with [`DEEP`].
fn with_deep(pattern: &str) -> Vec<char> {
    let mut characters: Vec<char> = pattern.chars().collect();
    let mut from = 0;
    while let Some(star) = first_outside(&characters, from, &['*']) {
        if characters.get(star + 1) == Some(&'*') {
            characters.splice(star..star + 2, [DEEP]);
        }
        from = star + 1;
    }
    characters
}

/// Returns whether the rest of a pattern matches the rest of a text. It tries everything and remembers nothing.
fn naive(pattern: &[char], text: &[char]) -> bool {
    match pattern {
        [] => text.is_empty(),
        [DEEP] => true,
        [DEEP, '/', rest @ ..] => {
            naive(rest, text) || (0..text.len()).any(|at| text[at] == '/' && naive(rest, &text[at + 1..]))
        }
        // An escaped slash separates like any other.
        [DEEP, '\\', '/', rest @ ..] => naive(&[&[DEEP, '/'], rest].concat(), text),
        ['\\', '/', rest @ ..] => naive(&[&['/'], rest].concat(), text),
        // At the end of a text, `**` may match no segment. Then its slash is missing, too.
        ['/', rest @ ..] if text.is_empty() => only_deep(rest),
        ['*', rest @ ..] => naive(rest, text) || (one(text) && naive(pattern, &text[1..])),
        ['?', rest @ ..] => one(text) && naive(rest, &text[1..]),
        ['\\', literal, rest @ ..] => text.first() == Some(literal) && naive(rest, &text[1..]),
        ['[', rest @ ..] => {
            let end = (0..rest.len()).find(|at| rest[*at] == ']' && !escaped(rest, *at)).unwrap();
            one(text) && in_class(&rest[..end], text[0]) && naive(&rest[end + 1..], &text[1..])
        }
        [literal, rest @ ..] => text.first() == Some(literal) && naive(rest, &text[1..]),
    }
}

fn only_deep(pattern: &[char]) -> bool {
    match pattern {
        [DEEP] => true,
        [DEEP, '/', rest @ ..] | [DEEP, '\\', '/', rest @ ..] => only_deep(rest),
        _ => false,
    }
}

fn one(text: &[char]) -> bool {
    text.first().is_some_and(|character| *character != '/')
}

fn escaped(pattern: &[char], at: usize) -> bool {
    pattern[..at].iter().rev().take_while(|character| **character == '\\').count() % 2 == 1
}

fn in_class(class: &[char], character: char) -> bool {
    let (negated, mut class) = match class {
        ['!', rest @ ..] => (true, rest),
        _ => (false, class),
    };
    let mut listed = false;
    while let Some((first, rest)) = class_character(class) {
        class = rest;
        let mut last = first;
        if let ['-', range @ ..] = class
            && let Some((end, rest)) = class_character(range)
        {
            (last, class) = (end, rest);
        }
        listed |= first <= character && character <= last;
    }
    listed != negated
}

fn class_character(class: &[char]) -> Option<(char, &[char])> {
    match class {
        [] => None,
        ['\\', escaped, rest @ ..] => Some((*escaped, rest)),
        [plain, rest @ ..] => Some((*plain, rest)),
    }
}

/// Generates patterns, most of which are valid.
fn any_pattern() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        4 => "[abB/]".prop_map(String::from),
        1 => Just("?".to_owned()),
        2 => Just("*".to_owned()),
        2 => Just("/**/".to_owned()),
        1 => Just("**/".to_owned()),
        1 => Just("/**".to_owned()),
        1 => Just("**".to_owned()),
        1 => "\\[!?[ab-][-ab]?\\]".prop_map(String::from),
        1 => "\\\\[a*?{}\\\\,-]".prop_map(String::from),
        1 => "\\{[ab/*]{0,2},[ab/*]{1,2}\\}".prop_map(String::from),
        1 => "\\{[ab],\\{[ab*],[ab]?/\\}\\}".prop_map(String::from),
        1 => "[]\\[{},!\\\\-]".prop_map(String::from),
    ];
    prop::collection::vec(part, 1..7).prop_map(|parts| parts.concat())
}

fn agree(pattern: &str, text: &str) -> Result<(), TestCaseError> {
    if let Ok(glob) = Glob::new(pattern) {
        let letters: Vec<char> = text.chars().collect();
        let expected = written_out(&with_deep(pattern)).iter().any(|choice| naive(choice, &letters));
        prop_assert_eq!(glob.matches(text), expected, "{} on {:?}", pattern, text);
    }
    Ok(())
}

#[test]
fn the_naive_matcher_agrees_on_escaped_slashes() {
    for pattern in ["**\\/a", "{,**}\\/**/*", "a\\/**", "a/**\\/**", "\\/"] {
        for text in ["", "a", "/a", "b/a", "a/", "a/b", "/", "B"] {
            agree(pattern, text).unwrap();
        }
    }
}

#[test]
fn the_naive_matcher_agrees_with_the_table() {
    for (pattern, matching, other) in ROWS {
        for text in matching.iter().chain(*other) {
            agree(pattern, text).unwrap();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4096, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_naive_matcher_agrees_on_every_text(pattern in any_pattern(), text in "[abB/*{},!\\\\-]{0,8}") {
        agree(&pattern, &text)?;
    }

    #[test]
    fn a_naive_matcher_agrees_on_paths(pattern in "[ab*?/]{1,8}", text in "[ab/]{0,10}") {
        agree(&pattern, &text)?;
    }

    #[test]
    fn no_text_makes_the_pattern_parser_panic(pattern in "\\PC{0,40}", text in "\\PC{0,20}") {
        if let Ok(glob) = Glob::new(&pattern) {
            let _ = glob.matches(&text);
        }
    }

    #[test]
    fn an_escaped_text_matches_itself_and_nothing_else(text in "[ -~]{1,12}", other in "[ -~]{0,12}") {
        let escaped: String = text.chars().flat_map(|character| ['\\', character]).collect();
        let glob = Glob::new(&escaped).unwrap();
        prop_assert!(glob.matches(&text));
        prop_assert_eq!(glob.matches(&other), text == other);
    }
}

#[test]
fn a_pattern_is_shown_as_it_was_written() {
    let glob = Glob::new("a/{b,c}/**").unwrap();
    assert_eq!(glob.to_string(), "a/{b,c}/**");
    assert_eq!(format!("{glob:?}"), "Glob(\"a/{b,c}/**\")");
}

#[test]
fn an_escaped_text_matches_only_itself() {
    for text in ["a*b", "a?", "[a]", "{a,b}", "\\", "a/**", "!^-,"] {
        let glob = Glob::new(&Glob::escape(text)).unwrap();
        assert!(glob.matches(text), "{text:?}");
        for other in ["axb", "ab", "a", "b", "a/b", "a/"] {
            assert!(!glob.matches(other), "{text:?} on {other:?}");
        }
    }
}

#[test]
fn braces_can_expand_to_exactly_the_limit_of_tokens() {
    let doubled = |before: usize| Glob::new(&format!("{}{{a,b}}", "x".repeat(before)));
    assert!(doubled(EXPANDED_TOKENS / 2 - 1).is_ok());
    assert_eq!(doubled(EXPANDED_TOKENS / 2), Err(GlobError::TooManyChoices));
}
