//! The part of a large output that is passed on, and the rest, which is kept.

use crate::outputs::desk::{
    SHOWN, all_lines, bytes_of, call, files, lines, named, open, read_on, reference, site, text,
};
use portcullis::outputs::Reader;
use portcullis::{Code, LimitKind, Output};
use portcullis_tests::{Manifest, guest, outcome_of};
use serde_json::json;

#[tokio::test]
async fn a_small_output_is_passed_on_completely_and_never_written_to_disk() {
    let site = site().await;
    let host = open(&site).await;
    let reply = lines(&host, 64).await;
    assert_eq!(text(&reply), all_lines(64));
    assert_eq!(reply.message, all_lines(64));
    assert_eq!(reply.reference, None);
    assert_eq!(files(&site), [""; 0]);
}

#[tokio::test]
async fn text_is_cut_after_a_complete_line_and_the_notice_says_how_to_read_the_rest() {
    let site = site().await;
    let host = open(&site).await;
    let returned = "returned: sixty-four bytes of text with a line feed at the end.\n".repeat(1000);
    let written = (json!({ "count": 1000, "bytes": 64 }), all_lines(1000));
    for (tool, (arguments, whole)) in
        [("scribe.lines", written), ("scribe.returned", (json!({ "bytes": 64_000 }), returned))]
    {
        let reply = call(&host, tool, arguments).await;
        let shown = text(&reply);
        let (head, notice) = shown.split_at(shown.find("\n[Portcullis: ").unwrap());
        assert_eq!(head, &whole[..SHOWN], "{tool}");
        let missing = whole.len() - SHOWN;
        assert!(
            notice.contains(&format!("{missing} bytes in 936 lines are missing of 64000 bytes in 1000 lines")),
            "{notice}"
        );
        assert_eq!(named(notice, "output.read").unwrap(), json!({ "reference": reference(&reply), "offset": 65 }));
        assert_eq!(head.to_owned() + &read_on(&host, notice).await, whole.trim_end_matches('\n'));
        let kept = reply.reference.clone().unwrap();
        assert_eq!(
            (kept.bytes, kept.lines, &*kept.media_type, kept.complete),
            (64_000, Some(1000), "text/plain", true)
        );
        assert_eq!(bytes_of(&host, &kept.id), whole.as_bytes());
        assert_eq!(reply.usage.bytes_out, 64_000);
        assert_eq!(outcome_of(&host, &reply.id)["reference"], kept.id);
    }
}

#[tokio::test]
async fn an_endless_line_is_cut_at_a_character_and_can_be_read_in_pieces() {
    let site = site().await;
    let host = open(&site).await;
    // Characters of three bytes, so that neither the output's limit nor a page's is a multiple of them.
    let whole = "€".repeat(20_000);
    let pieces: Vec<&[u8]> = whole.as_bytes().chunks(1000).collect();
    let reply = call(&host, "scribe.pieces", json!({ "pieces": pieces })).await;
    let shown = text(&reply);
    let (head, notice) = shown.split_at(shown.find("\n[Portcullis: ").unwrap());
    assert_eq!(head, "€".repeat(SHOWN / 3));
    let next = named(notice, "output.read").unwrap();
    assert_eq!(next, json!({ "reference": reference(&reply), "offset": 1, "column": SHOWN / 3 * 3 + 1 }));
    assert_eq!(head.to_owned() + &read_on(&host, notice).await, whole);
}

#[tokio::test]
async fn fifty_mebibytes_can_be_read_back_in_pages() {
    let site = site().await;
    let policy = portcullis_tests::allow_all("output = \"1 MiB\"\ntime = \"5 min\"");
    let host = site.open(&policy).await;
    let count = 50 * 1024 * 16;
    let reply = lines(&host, count).await;
    assert_eq!(reply.reference.as_ref().unwrap().bytes, 50 << 20);
    // Every line is read once and in order. Each page after the first comes from the previous page's notice.
    let (mut expected, mut next) = (1, Some(json!({ "reference": reference(&reply) })));
    let mut pages = 0;
    while let Some(mut arguments) = next {
        arguments["limit"] = json!(100_000);
        let page = call(&host, "output.read", arguments).await;
        for line in text(&page).lines().filter(|line| !line.starts_with("[Portcullis: ")) {
            let (number, line) = line.trim_start().split_once('\t').unwrap();
            assert_eq!(number.parse::<u64>().unwrap(), expected);
            assert!(line.starts_with(&format!("line {expected} .")), "{line}");
            expected += 1;
        }
        next = named(text(&page), "output.read");
        pages += 1;
    }
    assert_eq!(expected, count + 1);
    assert!(pages > 50, "{pages}");
}

#[tokio::test]
async fn large_json_is_kept_as_json_and_shown_as_text() {
    let site = site().await;
    site.plugin("long-json", &guest("long-json", &Manifest::of("long-json")));
    let host = open(&site).await;
    let reply = call(&host, "long-json.run", json!({})).await;
    assert!(text(&reply).starts_with("\"xxx"), "{:.80}", text(&reply));
    let kept = reply.reference.clone().unwrap();
    assert_eq!((kept.bytes, &*kept.media_type), (1 << 20, "application/json"));
    let back: String = serde_json::from_slice(&bytes_of(&host, &kept.id)).unwrap();
    assert_eq!(back.len(), (1 << 20) - 2);
}

#[tokio::test]
async fn large_json_with_an_output_schema_is_an_error_and_is_kept() {
    let site = site().await;
    let promises = Manifest::of("promises").tool(|tool| tool.output_schema = Some(r#"{"type":"string"}"#.to_owned()));
    site.plugin("promises", &guest("long-json", &promises));
    let host = open(&site).await;
    let reply = call(&host, "promises.run", json!({})).await;
    assert_eq!(reply.code, Code::Limit(LimitKind::Output), "{}", reply.message);
    assert!(reply.message.starts_with("Error executing tool: its answer has 1048576 bytes"), "{}", reply.message);
    assert_eq!(named(&reply.message, "output.read").unwrap()["reference"], reference(&reply));
    assert_eq!(bytes_of(&host, &reference(&reply)).len(), 1 << 20);
}

#[tokio::test]
async fn json_after_written_text_is_an_error_and_the_text_is_kept() {
    let site = site().await;
    let host = open(&site).await;
    for then in ["json", "parts"] {
        let reply = call(&host, "scribe.pieces", json!({ "pieces": [b"begun\n"], "then": then })).await;
        assert_eq!(reply.code, Code::InvalidOutput, "{}", reply.message);
        assert!(reply.message.contains("it wrote text, so it must return the end of that text"), "{}", reply.message);
        assert_eq!(bytes_of(&host, &reference(&reply)), b"begun\n");
    }
}

#[tokio::test]
async fn the_text_that_a_stopped_tool_has_written_is_kept() {
    let site = site().await;
    let policy = portcullis_tests::allow_all("output = \"4096 B\"\nkept-output = \"100 KiB\"\ntime = \"60 s\"");
    let host = site.open(&policy).await;
    let reply = call(&host, "scribe.endless", json!({})).await;
    assert_eq!(reply.code, Code::Limit(LimitKind::KeptOutput), "{}", reply.message);
    let kept = reply.reference.clone().unwrap();
    assert!(!kept.complete);
    let bytes = bytes_of(&host, &kept.id);
    assert!(!bytes.is_empty() && bytes.len() <= 100 << 10, "{}", bytes.len());
    assert!(all_lines(5000).as_bytes().starts_with(&bytes));
    assert!(reply.message.contains(&format!("up to this point is kept ({} bytes,", kept.bytes)), "{}", reply.message);
    // Even if it is short, and however the tool ended.
    for (then, code) in [(json!({ "fail": "no more" }), Code::ToolFailed), (json!("trap"), Code::Trapped)] {
        let reply = call(&host, "scribe.pieces", json!({ "pieces": [b"a word"], "then": then })).await;
        assert_eq!(reply.code, code, "{}", reply.message);
        assert!(reply.message.starts_with("Error executing tool: "), "{}", reply.message);
        assert_eq!(bytes_of(&host, &reference(&reply)), b"a word");
        let page = call(&host, "output.read", json!({ "reference": reference(&reply) })).await;
        assert_eq!(
            text(&page),
            "     1\ta word\n[Portcullis: this is all that was kept, 1 lines. The tool was stopped while it wrote.]\n"
        );
    }
}

#[tokio::test]
async fn a_list_shows_only_the_callers_outputs_newest_first() {
    let site = site().await;
    let host = open(&site).await;
    let mut ids = Vec::new();
    for count in [100, 200, 300] {
        ids.insert(0, reference(&lines(&host, count).await));
    }
    let reader = Reader { session: "default", principal: &crate::outputs::desk::LOCAL };
    let listed = host.outputs().list(reader).await.unwrap();
    assert_eq!(listed.iter().map(|kept| kept.reference.id.clone()).collect::<Vec<_>>(), ids);
    assert_eq!(host.outputs().get(reader, &ids[0]).await.unwrap(), listed[0]);
    assert_eq!(listed[0].tool, "scribe.lines");
    assert!(matches!(lines(&host, 1).await.output, Some(Output::Text(_))));
}
