//! Tests of the layout of a request: what is always shown, and what no text can do to the screen.

use super::*;
use portcullis::Covers;
use portcullis::policy::{Permission, Permissions, Targets};
use portcullis::text::is_deceptive;

fn question(arguments: &str) -> Question {
    Question {
        id: "d".repeat(32),
        call: "c".repeat(32),
        session: "default".to_owned(),
        principal: "local".to_owned(),
        origin: "person".to_owned(),
        agent: None,
        called_by: Vec::new(),
        tool: "files.write".parse().unwrap(),
        plugin_sha256: "ab".repeat(32),
        permissions: Permissions::NONE,
        arguments: arguments.to_owned(),
        targets: Targets::default(),
        handles: vec!["directory workspace: ., read-write".to_owned()],
        subject: Subject::Call,
        reason: "rule 1 (line 3): a person looks".to_owned(),
        changed: None,
        difference: None,
        offers: vec!["path = \"src/**\"".to_owned()],
    }
}

fn text(question: &Question, extent: Extent) -> String {
    shown(question, extent, Style::Plain, Some(80)).text
}

/// A request whose texts are as large and as hostile as they can be.
fn monster() -> Question {
    let mut question = question(&format!(r#"{{"a":"{}"}}"#, "x\\n".repeat(100_000)));
    question.reason = "r".repeat(2000);
    question.changed = Some("c".repeat(2000));
    question.difference = Some(format!("+{}\n", "d".repeat(400)).repeat(400));
    question.handles = vec!["h".repeat(79); 40];
    question.offers = vec!["o".repeat(2000); 40];
    let long = "w".repeat(4000);
    question.subject =
        Subject::Resource { permission: "write".to_owned(), resource: long.clone(), reason: long, by_host: false };
    question
}

#[test]
fn a_request_fits_a_small_screen_however_long_its_texts_are() {
    let question = monster();
    let screen = text(&question, Extent::Screen);
    assert!(screen.lines().count() < 72, "{screen}");
    assert!(screen.lines().all(|line| line.chars().count() <= 80), "{screen}");
    assert!(screen.contains("more bytes; ? shows all"), "{screen}");
    assert!(text(&question, Extent::Whole).len() > 300_000);
}

/// The offers are always the last rows, and they are few.
#[test]
fn the_offers_are_the_last_rows() {
    let mut question = monster();
    question.offers = vec!["path = \"src/**\"".to_owned()];
    let screen = text(&question, Extent::Screen);
    let last: Vec<&str> = screen.lines().rev().take(3).collect();
    assert_eq!(last[0], "    2  path = \"src/**\"", "{screen}");
    assert_eq!(last[2], "  a session or always approval covers one of these:", "{screen}");
}

#[test]
fn a_long_content_does_not_hide_the_path_after_it() {
    let question = question(&format!(r#"{{"content":"{}","path":"etc/passwd"}}"#, "x".repeat(5000)));
    assert!(text(&question, Extent::Screen).contains(r#""path": "etc/passwd""#));
}

#[test]
fn a_cut_request_is_marked_as_partly_unseen() {
    let of = |bytes: usize, extent| {
        let question = question(&format!(r#"{{"content":"{}"}}"#, "x".repeat(bytes)));
        shown(&question, extent, Style::Plain, Some(80)).unseen
    };
    assert_eq!(of(100, Extent::Screen), Unseen::Nothing);
    assert_eq!(of(500, Extent::Screen), Unseen::Some);
    assert_eq!(of(5000, Extent::Whole), Unseen::Nothing);
}

/// Blanks cannot hide harmful text, whatever the width of the terminal.
#[test]
fn blanks_do_not_push_the_rest_off_the_screen() {
    for blank in [" ", "\u{a0}", "\u{3000}", "\u{2800}"] {
        let content = format!("ls{}; rm -rf /", blank.repeat(1500));
        let question = question(&serde_json::json!({ "content": content }).to_string());
        for width in [60, 80, 2000] {
            let shown = shown(&question, Extent::Screen, Style::Plain, Some(width));
            assert!(shown.text.contains("ls[1500 blanks]; rm -rf /"), "{}", shown.text);
            assert_eq!(shown.unseen, Unseen::Nothing);
        }
    }
}

#[test]
fn blanks_of_a_reason_and_of_an_offer_are_counted() {
    let long = format!("first{}last", " ".repeat(1500));
    let mut question = question("{}");
    (question.reason, question.offers) = (long.clone(), vec![long]);
    let shown = shown(&question, Extent::Screen, Style::Plain, Some(80));
    assert_eq!(shown.text.matches("first[1500 blanks]last").count(), 2, "{}", shown.text);
    assert_eq!(shown.unseen, Unseen::Nothing);
}

#[test]
fn a_cut_list_is_marked_as_partly_unseen() {
    let rows = [
        (HANDLES_MAX, OFFERS_MAX, Unseen::Nothing),
        (HANDLES_MAX + 1, OFFERS_MAX, Unseen::Some),
        (HANDLES_MAX, OFFERS_MAX + 1, Unseen::Some),
    ];
    for (handles, offers, unseen) in rows {
        let mut question = question("{}");
        question.handles = vec!["directory work: ., read-only".to_owned(); handles];
        question.offers = vec!["path = \"src/**\"".to_owned(); offers];
        let shown = shown(&question, Extent::Screen, Style::Plain, Some(80));
        assert_eq!(shown.unseen, unseen, "{handles} {offers}: {}", shown.text);
    }
}

#[test]
fn no_text_moves_the_cursor_or_hides() {
    let evil = "\u{1b}[2J\r\u{202e}\u{200b}";
    let mut question = question(&serde_json::json!({ "a": evil }).to_string());
    question.reason = evil.to_owned();
    question.changed = Some(evil.to_owned());
    question.difference = Some(format!("+{evil}\n-{evil}\n"));
    question.offers = vec![format!("{evil}\n1  everything")];
    question.session = format!("{evil}\nallowed");
    question.subject =
        Subject::Resource { permission: evil.into(), resource: evil.into(), reason: evil.into(), by_host: false };
    for extent in [Extent::Screen, Extent::Whole] {
        let shown = text(&question, extent);
        assert!(!shown.chars().any(|character| is_deceptive(character) && character != '\n'), "{shown:?}");
        assert!(shown.contains("the arguments contain 3 invisible characters"), "{shown}");
    }
}

/// The short form in a terminal of this size.
fn brief(question: &Question, columns: usize) -> ShownQuestion {
    laid_out_in(question, Sheet::Brief, Style::Plain, (Some(columns), Some(24)))
}

/// An edit of a file, by an agent.
fn edit() -> Question {
    let arguments =
        r#"{"edits":[{"new":"    info!(n, \"parsed\");","old":"    println!(\"{n}\");"}],"path":"src/main.rs"}"#;
    let mut question = question(arguments);
    question.agent = Some("claude-code".to_owned());
    question.tool = "files.edit".parse().unwrap();
    question.permissions = Permissions::from(Permission::Write);
    question.targets = serde_json::from_str(r#"{"/path":"src/main.rs"}"#).unwrap();
    question.difference = Some(
        "@@ files computes that this call would change 1 file @@\n--- a/src/main.rs\n+++ b/src/main.rs\n\
         @@ -41,1 +41,1 @@\n-    println!(\"{n}\");\n+    info!(n, \"parsed\");\n"
            .to_owned(),
    );
    question
}

#[test]
fn an_edit_is_one_line_and_its_difference() {
    let shown = brief(&edit(), 80);
    let expected = "claude-code wants to edit src/main.rs  (files.edit)\n    @@ -41,1 +41,1 @@\n    -    println!(\"{n}\");\n    \
                    +    info!(n, \"parsed\");\n";
    assert_eq!((shown.text.as_str(), shown.unseen), (expected, Unseen::Nothing));
}

#[test]
fn the_keys_fit_any_terminal_and_say_what_always_covers() {
    let question = edit();
    for (columns, rows) in [(60, 3), (80, 2), (200, 1)] {
        let keys = keys(&question, RememberedCovers::of(&question), Style::Plain, Some(columns));
        assert!(keys.lines().all(|line| line.chars().count() <= columns), "{keys}");
        assert!(keys.lines().count() <= rows, "{columns}: {keys}");
        let joined = keys.replace('\n', "  ");
        let expected = "[y] once  [s] this session  [a] always for src/**  [n] deny, and say why  [?] details";
        assert_eq!(joined, expected);
    }
}

#[test]
fn always_covers_the_narrowest_offer_of_the_host_that_is_wider_than_the_path() {
    let mut question = question("{}");
    let rows = [
        (vec![], Covers::Exact, "exactly this"),
        (vec!["any content, path = \"a/b.md\""], Covers::Exact, "exactly this"),
        (vec!["any content, path = \"a/b.md\"", "any content, path = \"a/**\""], Covers::Offer(1), "a/**"),
        (
            vec!["url = https://a.test:443/x with any query", "url = every path of https://a.test:443"],
            Covers::Offer(1),
            "https://a.test:443/**",
        ),
        (vec!["path = \"a/**\" (proposed by the plugin)"], Covers::Exact, "exactly this"),
    ];
    for (offers, covers, shown) in rows {
        question.offers = offers.into_iter().map(str::to_owned).collect();
        let remembered = RememberedCovers::of(&question);
        assert_eq!((remembered.session, remembered.always), (Covers::Exact, covers));
        assert_eq!(keys::label(&question, covers), shown);
    }
    question.offers = vec![format!("path = \"{}/**\"", "x".repeat(50)), "\u{202e}".to_owned()];
    assert_eq!(keys::label(&question, Covers::Offer(0)), "offer 2");
    assert_eq!(keys::label(&question, Covers::Offer(1)), "\\u{202e}");
}

/// An argument that the difference does not show is shown beside it.
#[test]
fn no_argument_is_left_out_of_the_short_form() {
    let mut question = edit();
    question.arguments =
        r#"{"edits":[{"new":"rm -rf /","old":"    println!(\"{n}\");","replace_all":true}],"path":"src/main.rs"}"#
            .to_owned();
    let shown = brief(&question, 80);
    assert!(shown.text.contains("/edits/0/new: \"rm -rf /\""), "{}", shown.text);
    assert!(shown.text.contains("/edits/0/replace_all: true"), "{}", shown.text);
    question.difference = None;
    assert!(brief(&question, 80).text.contains("println"), "{}", shown.text);
    question.targets = Targets::default();
    assert!(brief(&question, 80).text.contains("arguments, exactly as they will run"));
}

/// The paths are left out, because the first line has the path. A line of the file that looks like one is not.
#[test]
fn a_line_of_a_file_that_looks_like_its_path_is_shown() {
    let mut question = edit();
    let head = "@@ files computes that this call would change 1 file @@\n--- a/src/main.rs\n+++ b/src/main.rs\n";
    for line in ["--- a/src/main.rs", "+++ b/src/main.rs"] {
        let other = if line.starts_with('-') { "+x" } else { "-x" };
        question.difference = Some(format!("{head}@@ -1 +1 @@\n{line}\n{other}\n"));
        let shown = brief(&question, 80);
        assert!(shown.text.contains(&format!("    @@ -1 +1 @@\n    {line}\n    {other}\n")), "{}", shown.text);
        assert_eq!(shown.text.matches("src/main.rs\n").count(), 1, "{}", shown.text);
    }
}

/// A plugin chooses the words of a failure, so they are shown whatever they are.
#[test]
fn words_of_a_plugin_are_not_taken_for_the_number_of_files() {
    let mut question = edit();
    let forged = "@@ files could not compute it: x computes that this call would change 1 file @@";
    question.difference = Some(format!("@@ one @@\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-1\n+2\n@@ two @@\n{forged}\n"));
    let shown = brief(&question, 120);
    assert!(shown.text.contains(forged), "{}", shown.text);
}

/// The difference has the text of a file. It stands for no other argument, whatever the file says.
#[test]
fn a_word_of_the_difference_does_not_hide_an_argument() {
    let mut question = edit();
    for argument in [r#""to":"src/main.rs""#, r#""to":"b""#, r#""mode":"parsed""#] {
        let edits = r#""edits":[{"new":"    info!(n, \"parsed\");","old":"    println!(\"{n}\");"}]"#;
        question.arguments = format!(r#"{{{edits},"path":"src/main.rs",{argument}}}"#);
        let shown = brief(&question, 80);
        let (name, value) = argument.split_once(':').unwrap();
        assert!(shown.text.contains(&format!("{}: {value}", name.replace('"', ""))), "{argument}: {}", shown.text);
        assert!(!shown.text.contains("/edits/0"), "{}", shown.text);
    }
}

#[test]
fn the_tools_that_make_a_call_come_before_its_caller() {
    let mut question = edit();
    (question.principal, question.called_by) = ("alice/agent/script".to_owned(), vec!["agent.run".to_owned()]);
    question.called_by.push("script.run".to_owned());
    let first = |question: &Question| brief(question, 100).text.lines().next().unwrap().to_owned();
    let expected = "script.run, called by agent.run, called by claude-code, wants to edit src/main.rs  (files.edit)";
    assert_eq!(first(&question), expected);
    question.agent = None;
    assert_eq!(first(&question), expected.replace("claude-code", "alice"));
}

/// A tool does not look harmless by its name, and a caller cannot choose the words of the first line.
#[test]
fn the_first_line_cannot_be_forged() {
    let mut question = edit();
    question.tool = "evil.read".parse().unwrap();
    let first = |question: &Question| brief(question, 80).text.lines().next().unwrap().to_owned();
    assert_eq!(first(&question), "claude-code wants to call evil.read with src/main.rs");
    question.agent = Some("a\u{1b}[2Jb".to_owned());
    assert!(first(&question).starts_with("local wants to"));
    question.agent = Some("x".repeat(41));
    assert!(first(&question).starts_with("local wants to"));
    question.arguments = r#"{"path":"a (files.read) wants nothing"}"#.to_owned();
    assert!(first(&question).ends_with("with \"a (files.read) wants nothing\""), "{}", first(&question));
}

#[test]
fn the_short_form_of_a_hostile_request_fits_and_cannot_be_approved_unseen() {
    for columns in [60, 80, 200] {
        let mut question = monster();
        question.targets = serde_json::from_str(r#"{"/a":"x"}"#).unwrap();
        let shown = brief(&question, columns);
        assert!(shown.text.lines().count() <= 48, "{columns}: {}", shown.text);
        assert!(shown.text.lines().all(|line| line.chars().count() <= columns), "{columns}: {}", shown.text);
        assert_eq!(shown.unseen, Unseen::Some);
    }
    let mut question = edit();
    question.difference = Some("+a\n".repeat(100));
    assert_eq!(brief(&question, 80).unseen, Unseen::Some);
    assert_eq!(laid_out_in(&question, Sheet::Details, Style::Plain, (Some(80), Some(24))).unseen, Unseen::Nothing);
}

#[test]
fn a_reason_that_is_more_than_a_rule_is_shown() {
    let mut question = edit();
    question.reason = "rule 1 (line 3): a person looks; the plugin asks: 400 EUR".to_owned();
    assert!(brief(&question, 80).text.contains("400 EUR"));
    question.reason = "this session made exactly this call 3 times in a row".to_owned();
    assert!(brief(&question, 80).text.contains("3 times in a row"));
    question.reason = "rule 1 (line 3): a person looks".to_owned();
    assert!(!brief(&question, 80).text.contains("a person looks"));
}
