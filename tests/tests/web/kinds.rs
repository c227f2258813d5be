//! Response bodies of every kind.

use crate::web::lab::{Lab, NAMED, at, serving};
use portcullis::Code;
use portcullis_tests::net::{Behaviour, Server};

#[tokio::test]
async fn a_page_is_read_with_a_summary_of_its_head() {
    let server = serving("text/html; charset=utf-8", "<title>Guide</title><h1>A <a href=/b>b</a></h1><p>Text.</p>");
    let lab = Lab::of(&server).await;
    let url = at(NAMED, &server, "/guide");
    let text = lab.text(&url).await;
    let link = at(NAMED, &server, "/b");
    assert!(text.starts_with(&format!("Title: Guide\nURL: {url}\nType: text/html; charset=utf-8 (read as UTF-8)\n")));
    assert!(text.ends_with(&format!("\n\n# A [b]({link})\n\nText.\n")), "{text}");
    let request = server.texts().remove(0);
    assert!(request.starts_with("GET /guide HTTP/1.1\r\n") && request.contains("accept: text/"), "{request}");
}

#[tokio::test]
async fn bodies_are_shown_according_to_their_type_and_encoding() {
    let cases: [(&'static str, &[u8], &str); 7] = [
        ("application/json", b"{\"a\": [1, 2]}", "\n\n{\"a\": [1, 2]}\n"),
        ("text/plain", b"a  <b>\n", "\n\na  <b>\n"),
        ("text/html; charset=shift_jis", b"<p>\x93\xfa\x96\x7b", "\n\n\u{65e5}\u{672c}\n"),
        ("text/html", b"<meta charset=koi8-r><p>\xc4\xc1", "\n\n\u{434}\u{430}\n"),
        ("text/html", b"\xef\xbb\xbf<p>\xc3\xa9", "\n\n\u{e9}\n"),
        ("text/html", b"<p>caf\xe9 x", "\n\ncaf\u{e9} x\n"),
        ("", b"<!doctype html><p>a", "\n\na\n"),
    ];
    for (content_type, body, end) in cases {
        let server = serving(content_type, body);
        let text = Lab::of(&server).await.text(&at(NAMED, &server, "/")).await;
        assert!(text.ends_with(end), "{content_type}: {text:?}");
    }
}

/// `gzip` of `<p>Zipped.`, as the command-line program writes it.
const ZIPPED: [u8; 30] = [
    0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0xff, 0xb3, 0x29, 0xb0, 0x8b, 0xca, 0x2c, 0x28, 0x48, 0x4d,
    0xd1, 0x03, 0x00, 0xc5, 0x8a, 0x49, 0x58, 0x0a, 0x00, 0x00, 0x00,
];

#[tokio::test]
async fn a_compressed_page_is_read() {
    let server = Server::plain(Behaviour::answer(|_| {
        Behaviour::whole(200, &[("content-type", "text/html"), ("content-encoding", "gzip")], ZIPPED)
    }));
    let text = Lab::of(&server).await.text(&at(NAMED, &server, "/")).await;
    assert!(text.ends_with("\n\nZipped.\n"), "{text}");
}

#[tokio::test]
async fn a_body_that_is_not_text_is_reported_with_its_size() {
    let server = serving("image/png", b"\x89PNG\r\n\x1a\n".as_slice());
    let reply = Lab::of(&server).await.fetch(&at(NAMED, &server, "/a.png")).await;
    assert_eq!(reply.code, Code::ToolFailed, "{}", reply.message);
    assert!(reply.message.contains("is not text: 8 bytes of image/png"), "{}", reply.message);
}

#[tokio::test]
async fn a_missing_page_is_an_error_that_says_so() {
    let server =
        Server::plain(Behaviour::answer(|_| Behaviour::whole(404, &[("content-type", "text/html")], "<h1>Lost</h1>")));
    let reply = Lab::of(&server).await.fetch(&at(NAMED, &server, "/x")).await;
    assert_eq!(reply.code, Code::ToolFailed, "{}", reply.message);
    assert!(reply.message.contains("answered 404: there is no such page"), "{}", reply.message);
    assert!(reply.message.contains("# Lost"), "{}", reply.message);
}
