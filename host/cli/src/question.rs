//! The text of an approval request: everything that the approver needs, on one screen, in the host's order.
//!
//! This module does no I/O. It builds text, and encodes every character that comes from a model or a plugin.

mod hidden;
mod sheet;

use crate::answer::Unseen;
use crate::json;
use crate::style::{Style, TextStyle};
use crate::terminal::Terminal;
use crate::time::span;
use portcullis::Question;
use portcullis::approvals::Subject;
use portcullis::text::{Lines, OneLine};
pub(crate) use sheet::Extent;
use sheet::QuestionSheet;
use std::time::Duration;

/// The reply to an approval if the file has changed since the request was shown.
pub(crate) const FILE_CHANGED: &str = "The file has changed since the request was shown. Review it again.";

/// Rows of a screen of unknown height.
const HEIGHT_DEFAULT: usize = 24;

/// Rows below a request: the legend, and the line for the answer.
const ANSWER_ROWS: usize = 3;

/// Rows of a screen that the arguments may take.
const ARGUMENT_ROWS_MAX: usize = 10;

/// Rows of a screen that a difference may take.
const DIFFERENCE_ROWS_MAX: usize = 12;

/// Handles that are listed on a screen.
const HANDLES_MAX: usize = 4;

/// Offers that are listed on a screen.
const OFFERS_MAX: usize = 6;

/// Digits of a hash that are shown, enough to distinguish a user's plugins. The audit log has all of them.
const HASH_DIGITS: usize = 12;

/// A request as text, and whether the text leaves something out.
pub(crate) struct ShownQuestion {
    pub(crate) text: String,
    pub(crate) unseen: Unseen,
}

/// Lays a request out for a terminal: whole if it fits the screen, otherwise cut to one screen.
pub(crate) fn laid_out(question: &Question, extent: Extent, terminal: Terminal) -> ShownQuestion {
    let (style, width) = (terminal.note_style(), terminal.note_width());
    let whole = shown(question, Extent::Whole, style, width);
    let room = terminal.note_height().unwrap_or(HEIGHT_DEFAULT).saturating_sub(ANSWER_ROWS);
    if extent == Extent::Whole || whole.text.lines().count() <= room {
        return whole;
    }
    shown(question, Extent::Screen, style, width)
}

/// Lays out a request without its prompt.
pub(crate) fn shown(question: &Question, extent: Extent, style: Style, width: Option<usize>) -> ShownQuestion {
    let mut sheet = QuestionSheet::new(extent, style, width);
    sheet.line(TextStyle::Strong, heading(&question.subject));
    let hash = question.plugin_sha256.get(..HASH_DIGITS).unwrap_or(&question.plugin_sha256);
    let mut field = |label, value: &str, look| sheet.field(label, value, look);
    field("tool", &format!("{}   (plugin {hash}…)", question.tool), TextStyle::Plain);
    let permissions = question.permissions.to_string();
    field("permissions", if permissions.is_empty() { "none" } else { &permissions }, TextStyle::Plain);
    field("for", &caller(question), TextStyle::Plain);
    sheet.fields("handles", &question.handles, HANDLES_MAX, "handles");
    sheet.field("because", &question.reason, TextStyle::Plain);
    if let Some(changed) = &question.changed {
        let changed = format!("since the remembered approval: {changed}");
        sheet.field("changed", &changed, TextStyle::Strong);
    }
    arguments(&mut sheet, question);
    if let Some(difference) = &question.difference {
        show_difference(&mut sheet, difference);
    }
    if let Subject::Resource { permission, resource, reason } = &question.subject {
        show_resource(&mut sheet, permission, resource, reason);
    }
    show_offers(&mut sheet, question);
    ShownQuestion { unseen: sheet.unseen(), text: sheet.text }
}

/// Returns the lines that list the possible answers. The times are how long a session and an always approval last.
pub(crate) fn legend(question: &Question, style: Style, times: Option<(Duration, Duration)>) -> String {
    let mut sheet = QuestionSheet::new(Extent::Screen, style, None);
    let [session, always] = match times {
        Some((session, always)) => [session, always].map(|time| format!(" ({})", span(time))),
        None => Default::default(),
    };
    let last = question.offers.len() + 1;
    let numbers = if last == 1 { String::new() } else { format!(", or s2, a2 … to {last}") };
    sheet.line(TextStyle::Quiet, &format!("  y once, s this session{session}, a always{always}{numbers}"));
    sheet.line(TextStyle::Quiet, "  n deny (text after n goes to the model as a note), more shows everything");
    sheet.text
}

fn heading(subject: &Subject) -> &'static str {
    match subject {
        Subject::Call => "This call needs your approval.",
        Subject::Repeat => "The same call was made several times in a row. Allow it once more?",
        Subject::Resource { .. } => "A running call asks for something more.",
    }
}

/// Returns the principal, the origin and the session of the caller.
fn caller(question: &Question) -> String {
    format!("{} ({}), session {}", question.principal, question.origin, question.session)
}

fn arguments(sheet: &mut QuestionSheet, question: &Question) {
    let text = &question.arguments;
    sheet.line(TextStyle::Plain, &format!("  arguments, exactly as they will run ({} bytes):", text.len()));
    let encoded = Lines(&json::indent(text)).to_string();
    sheet.block(encoded.lines().map(|line| (TextStyle::Plain, line)), ARGUMENT_ROWS_MAX);
    match hidden::count(text) {
        Some(0) => {}
        Some(count) => careful(sheet, "the arguments contain", count),
        None => sheet.line(TextStyle::Bad, "  Warning: the arguments cannot be parsed."),
    }
}

/// Adds the changes to files, labelled as the plugin's claim.
fn show_difference(sheet: &mut QuestionSheet, difference: &str) {
    sheet.line(TextStyle::Plain, "  what would change, as claimed by the plugin (only the arguments decide):");
    let encoded: Vec<String> = difference.split_terminator('\n').map(|line| OneLine(line).to_string()).collect();
    let look = |line: &str| match line.as_bytes().first() {
        Some(b'+') => TextStyle::Good,
        Some(b'-') => TextStyle::Bad,
        Some(b'@') => TextStyle::Quiet,
        Some(_) | None => TextStyle::Plain,
    };
    let lines = encoded.iter().map(|line| (look(line), line.as_str()));
    sheet.block(lines, DIFFERENCE_ROWS_MAX);
    let count = hidden::of_text(difference);
    if count > 0 {
        careful(sheet, "the change contains", count);
    }
}

fn show_resource(sheet: &mut QuestionSheet, permission: &str, resource: &str, reason: &str) {
    sheet.field("wants to", permission, TextStyle::Plain);
    sheet.line(TextStyle::Plain, "  in the tool's own words, not checked:");
    sheet.field("  what", resource, TextStyle::Plain);
    sheet.field("  why", reason, TextStyle::Plain);
    let count = hidden::of_text(resource) + hidden::of_text(reason);
    if count > 0 {
        careful(sheet, "these words contain", count);
    }
}

fn show_offers(sheet: &mut QuestionSheet, question: &Question) {
    let exact = match question.subject {
        Subject::Call | Subject::Repeat => "exactly these arguments",
        Subject::Resource { .. } => "exactly this",
    };
    sheet.line(TextStyle::Plain, "  a session or always approval covers one of these:");
    sheet.numbered(1, exact);
    let lines = question.offers.iter().enumerate().map(|(place, offer)| (place + 2, offer.as_str()));
    sheet.numbered_list(lines, OFFERS_MAX, "offers");
}

fn careful(sheet: &mut QuestionSheet, what: &str, count: usize) {
    let characters =
        if count == 1 { "1 invisible character".to_owned() } else { format!("{count} invisible characters") };
    sheet.line(TextStyle::Bad, &format!("  Warning: {what} {characters}, shown as escapes."));
}

#[cfg(test)]
mod tests {
    use super::*;
    use portcullis::policy::Permissions;
    use portcullis::text::is_deceptive;

    fn question(arguments: &str) -> Question {
        Question {
            id: "d".repeat(32),
            call: "c".repeat(32),
            session: "default".to_owned(),
            principal: "local".to_owned(),
            origin: "person".to_owned(),
            tool: "files.write".parse().unwrap(),
            plugin_sha256: "ab".repeat(32),
            permissions: Permissions::NONE,
            arguments: arguments.to_owned(),
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
        question.subject = Subject::Resource { permission: "write".to_owned(), resource: long.clone(), reason: long };
        question
    }

    #[test]
    fn a_request_fits_a_small_screen_however_long_its_texts_are() {
        let question = monster();
        let screen = text(&question, Extent::Screen);
        assert!(screen.lines().count() < 72, "{screen}");
        assert!(screen.lines().all(|line| line.chars().count() <= 80), "{screen}");
        assert!(screen.contains("more bytes; type `more` to see all"), "{screen}");
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
        question.subject = Subject::Resource { permission: evil.into(), resource: evil.into(), reason: evil.into() };
        for extent in [Extent::Screen, Extent::Whole] {
            let shown = text(&question, extent);
            assert!(!shown.chars().any(|character| is_deceptive(character) && character != '\n'), "{shown:?}");
            assert!(shown.contains("the arguments contain 3 invisible characters"), "{shown}");
        }
    }

    #[test]
    fn the_legend_lists_the_answers() {
        let times = Some((Duration::from_secs(86_400), Duration::from_secs(90 * 86_400)));
        let legend = legend(&question("{}"), Style::Plain, times);
        assert!(legend.contains("s this session (24 hours), a always (90 days), or s2, a2 … to 2"), "{legend}");
        assert!(legend.lines().all(|line| line.chars().count() <= 80), "{legend}");
    }
}
