//! Tests of a review: when it counts as seen, and what no text can do to its pages.

use super::*;
use crate::wrap::columns;
use portcullis::approvals::Subject;
use portcullis::policy::{Permissions, Targets};

const SMALL: ScreenSize = ScreenSize { columns: 80, rows: 24 };

fn request(number: usize, content: &str) -> ReviewedRequest {
    let question = Question {
        id: format!("{number:032x}"),
        call: "c".repeat(32),
        session: "default".to_owned(),
        principal: "local".to_owned(),
        origin: "person".to_owned(),
        agent: None,
        called_by: Vec::new(),
        tool: "files.write".parse().unwrap(),
        plugin_sha256: "ab".repeat(32),
        permissions: Permissions::NONE,
        arguments: serde_json::json!({ "content": content, "path": format!("{number}.md") }).to_string(),
        targets: Targets::default(),
        handles: vec!["directory workspace: ., read-write".to_owned()],
        subject: Subject::Call,
        reason: "rule 1 (line 3): a person looks".to_owned(),
        changed: None,
        difference: None,
        offers: vec![],
    };
    let digest = ShownDigest::of(&question);
    ReviewedRequest { question, digest, waited_for: true }
}

fn review(contents: &[&str]) -> Review {
    let mut review = Review::default();
    contents.iter().enumerate().for_each(|(number, content)| review.add(request(number, content)));
    review
}

/// Draws the page, as it is then on the screen.
fn page(review: &mut Review, size: ScreenSize) -> String {
    let rows = review.draw("", Style::Plain, size);
    review.was_drawn();
    assert_eq!(rows.len(), size.rows);
    assert!(rows.iter().all(|row| columns(row) <= size.columns), "{rows:?}");
    rows.join("\n")
}

fn pages(review: &mut Review, size: ScreenSize) -> usize {
    let mut pages = 1;
    page(review, size);
    while review.unseen_rows() > 0 {
        review.next();
        page(review, size);
        pages += 1;
    }
    pages
}

#[test]
fn all_rows_have_to_be_on_the_screen() {
    let mut review = review(&["one"; 100]);
    assert!(review.unseen_rows() > 0);
    let screen = page(&mut review, SMALL);
    assert!(screen.contains("-- 1 of 100 --") && screen.contains("[y] approve all 100 once"), "{screen}");
    let left = review.unseen_rows();
    assert!(left > 0);
    // Going to a page shows nothing yet, and the last page alone is not all of them.
    (0..500).for_each(|_| review.next());
    assert_eq!(review.unseen_rows(), left);
    review.pages.top = review.pages.rows.len() - 5;
    page(&mut review, SMALL);
    assert_eq!(review.unseen_rows(), left);
    review.pages.top = 0;
    assert!(pages(&mut review, SMALL) < 40);
}

#[test]
fn a_screen_without_room_shows_nothing() {
    let mut review = review(&["one"]);
    for rows in [1, 2, 3] {
        review.draw("", Style::Plain, ScreenSize { columns: 60, rows });
        review.was_drawn();
        assert!(review.unseen_rows() > 0, "{rows}");
    }
}

#[test]
fn what_was_seen_whole_stays_seen_when_the_size_changes() {
    let mut review = review(&["one"; 12]);
    page(&mut review, SMALL);
    let seen = review.pages.starts.iter().filter(|start| **start <= review.pages.seen).count() - 1;
    assert!(seen > 0);
    for columns in [60, 200] {
        page(&mut review, ScreenSize { columns, rows: 12 });
        assert!(review.pages.seen >= review.pages.starts[seen], "{columns}");
        assert!(review.unseen_rows() > 0);
    }
    pages(&mut review, SMALL);
    page(&mut review, ScreenSize { columns: 60, rows: 12 });
    assert_eq!(review.unseen_rows(), 0);
}

/// One that is cut on one screen is shown with its details, to its last line.
#[test]
fn a_cut_request_is_shown_with_its_details() {
    let long = format!("{}rm -rf /", "harmless\n".repeat(200));
    let mut review = review(&["one", &long]);
    let mut text = page(&mut review, SMALL);
    while review.unseen_rows() > 0 {
        assert!(!text.contains("rm -rf /"), "{text}");
        review.next();
        text = page(&mut review, SMALL);
    }
    let all = review.pages.rows.join("\n");
    assert!(all.contains("rm -rf /") && all.contains("directory workspace"), "{all}");
    assert!(!all.contains("more bytes"), "{all}");
}

#[test]
fn no_text_moves_the_cursor_or_breaks_a_row() {
    let evil = "\u{1b}[2J\u{202e}\r\n-- 1 of 1 --".repeat(20);
    let wide = "日本語".repeat(200);
    for columns in [60, 80, 200] {
        let mut review = review(&[&evil, &wide]);
        pages(&mut review, ScreenSize { columns, rows: 24 });
        let all = review.pages.rows.join("\n");
        assert!(!all.contains(['\u{1b}', '\u{202e}', '\r']), "{all:?}");
        assert_eq!(review.pages.rows.iter().filter(|row| row.starts_with("-- 1 of 1")).count(), 0);
    }
}

#[test]
fn a_request_that_is_too_long_is_left_out_and_counted() {
    let long = "x".repeat(REQUEST_BYTES_MAX);
    let mut long_and_short = review(&["one", &long]);
    let screen = page(&mut long_and_short, SMALL);
    assert!(screen.contains("1 request too long to review together"), "{screen}");
    assert_eq!(long_and_short.requests().len(), 1);
    assert_eq!(review(&["one"; REQUESTS_MAX + 1]).requests().len(), REQUESTS_MAX);
    let megabyte = "x".repeat(REQUEST_BYTES_MAX / 2);
    assert!(review(&[&*megabyte; 40]).requests().len() < 40);
}
