//! Pages that attack their reader: the guest's stack, memory and time, and the model.

use crate::web::lab::{Lab, NAMED, at, serving};
use portcullis::{Code, Reply};

async fn fetched(html: String) -> Reply {
    let server = serving("text/html", html);
    Lab::of(&server).await.fetch(&at(NAMED, &server, "/")).await
}

#[tokio::test]
async fn a_page_that_nests_too_deeply_is_a_clear_error() {
    for open in ["<div>", "<b>", "<ul><li>", "<table><tr><td>", "<blockquote>", "<a><b>", "<font color=x>", "<svg>"] {
        let reply = fetched(open.repeat(100_000)).await;
        assert_eq!(reply.code, Code::ToolFailed, "{open}: {}", reply.message);
        assert!(reply.message.contains("nests more than 256 elements"), "{open}: {}", reply.message);
    }
}

/// The deepest pages that are accepted fit the stack of a guest.
#[tokio::test]
async fn a_page_just_below_the_nesting_limit_is_read() {
    for (open, close, each) in [
        ("<div>", "</div>", 1),
        ("<div>a", "b</div>", 1),
        ("<blockquote>", "</blockquote>", 1),
        ("<ul><li>a", "</li></ul>", 2),
        ("<dl><dd>a", "</dd></dl>", 2),
        ("<table><tr><td>a<td>", "</table>", 4),
        ("<em>a", "</em>", 1),
        ("<span>", "</span>", 1),
    ] {
        let depth = 248 / each;
        let reply = fetched(format!("{}text{}", open.repeat(depth), close.repeat(depth))).await;
        assert_eq!(reply.code, Code::Completed, "{open}: {}", reply.message);
    }
}

/// Each page is as expensive as possible for one part of the parser or the writer. The call ends with a result or at a
/// limit.
#[tokio::test]
async fn a_page_that_is_made_to_be_slow_or_large_ends() {
    let pages = [
        ("siblings", "<b>x</b>".repeat(100_000)),
        ("paragraphs", "<p>".repeat(500_000)),
        ("attributes", format!("<p {}>", (0..5_000).map(|number| format!("a{number} ")).collect::<String>())),
        ("formatting", (0..2_000).map(|number| format!("<font a{number}><p>")).collect()),
        ("misnesting", "<b><i></b>".repeat(20_000)),
        ("tables", "<table><tr><td>x".repeat(60)),
        ("spans", "<table><tr><td colspan=9999999 rowspan=9999999>x<td>y<tr><td>z".to_owned()),
        ("escapes", "<p>*_[\\".repeat(50_000)),
        ("backticks", format!("<p>{}", "`a``b```".repeat(50_000))),
        ("styles", format!("<style>{}</style><p>x", ".a{display:none}".repeat(100_000))),
        ("open comments", "<!--".repeat(300_000)),
        ("entities", "&amp;&#x41;".repeat(200_000)),
    ];
    for (name, html) in pages {
        let reply = fetched(html).await;
        let ends = matches!(reply.code, Code::Completed | Code::ToolFailed | Code::Limit(_));
        assert!(ends, "{name}: {:?} {}", reply.code, reply.message);
    }
}

#[tokio::test]
async fn hidden_text_does_not_reach_the_model() {
    let html = "<body><p>Shown.</p><p style='display:none'>HIDDEN</p><p hidden>HIDDEN</p><!-- HIDDEN -->\
                <script>HIDDEN</script><style>.x{opacity:0}</style><div class=x>HIDDEN</div>\
                <p style='position:absolute;left:-9999px'>HIDDEN</p><template>HIDDEN</template>\
                <p>a\u{200b}\u{202e}\u{e0048}\u{e0049}b</p><a href='javascript:HIDDEN'>link</a>";
    let server = serving("text/html; charset=utf-8", html);
    let text = Lab::of(&server).await.text(&at(NAMED, &server, "/")).await;
    assert!(text.ends_with("\n\nShown.\n\nab\n\nlink\n"), "{text:?}");
}
