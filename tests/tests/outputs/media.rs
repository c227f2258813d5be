//! Images and documents that were kept: how a model reads them, and what is too large.

use crate::outputs::desk::{LOCAL, SHOWN, call, files, named, policy, read_on};
use portcullis::outputs::Reader;
use portcullis::plugins::Contract;
use portcullis::{Code, Host, Output, Part, Reply, Request};
use portcullis_tests::{Site, allow_all, built_guest_of};
use serde_json::{Value, json};

/// The largest image that an answer shows, in bytes.
const SHOWN_MAX: usize = 3_750_000;

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n";

fn site() -> Site {
    let site = Site::new();
    site.plugin("scribe", &built_guest_of(Contract::V0_2, "output"));
    site
}

fn part(media_type: &str, begins: &[u8], bytes: usize) -> Value {
    json!({ "media_type": media_type, "begins": begins, "bytes": bytes })
}

/// Returns the bytes of a part that is not text.
fn data(begins: &[u8], bytes: usize) -> Vec<u8> {
    let rest = |at: usize| u8::try_from(at % 251).unwrap();
    begins.iter().copied().chain((begins.len()..bytes).map(rest)).collect()
}

async fn returned(host: &Host, parts: &[Value]) -> Reply {
    let reply = call(host, "scribe.parts", json!({ "parts": parts })).await;
    assert_eq!(reply.code, Code::Completed, "{}", reply.message);
    reply
}

/// Reads the output that the notice of a reply names.
async fn read(host: &Host, reply: &Reply) -> Reply {
    let arguments = named(&reply.message, "output.read").unwrap_or_else(|| panic!("no call: {}", reply.message));
    call(host, "output.read", arguments).await
}

fn parts(reply: &Reply) -> &[Part] {
    match &reply.output {
        Some(Output::Parts(parts)) => parts,
        other => panic!("no parts: {other:?} {}", reply.message),
    }
}

#[tokio::test]
async fn kept_images_and_documents_are_read_as_parts() {
    let site = site();
    let host = site.open(&policy()).await;
    for (media_type, begins) in [("image/png", PNG), ("application/pdf", b"%PDF-1.7"), ("audio/wav", b"RIFF")] {
        let reply = returned(&host, &[part("text/plain", b"", 10), part(media_type, begins, 20_000)]).await;
        assert!(parts(&reply).iter().all(|part| matches!(part, Part::Text(_))), "{}", reply.message);
        let kept = files(&site);
        for _ in 0..2 {
            let again = read(&host, &reply).await;
            let [part] = parts(&again) else { panic!("{}", again.message) };
            let blob = match part {
                Part::Image(blob) if media_type == "image/png" => blob,
                Part::File(blob) if media_type != "image/png" => blob,
                other => panic!("{other:?}"),
            };
            assert_eq!(blob.media_type, media_type);
            assert!(blob.data == data(begins, 20_000), "{media_type}");
            assert!(again.reference.is_none(), "it is not kept again: {:?}", again.reference);
        }
        assert_eq!(files(&site), kept);
    }
}

#[tokio::test]
async fn a_kept_text_document_is_read_by_lines() {
    let site = site();
    let host = site.open(&policy()).await;
    for media_type in ["text/csv", "application/ld+json"] {
        let reply = returned(&host, &[part(media_type, b"", 3 * SHOWN)]).await;
        if media_type == "text/csv" {
            let whole = read_on(&host, &reply.message).await;
            let expected: String = ('a'..='z').collect::<String>() + "\n";
            assert_eq!(whole, expected.repeat(500)[..3 * SHOWN].trim_end_matches('\n'));
        }
        let arguments = named(&reply.message, "output.read").unwrap();
        let second = json!({ "reference": arguments["reference"], "offset": 2, "limit": 1 });
        let page = call(&host, "output.read", second).await;
        assert!(page.message.starts_with("     2\t"), "{media_type}: {}", page.message);
    }
}

#[tokio::test]
async fn an_image_that_is_too_large_for_an_answer_is_refused_with_the_reason() {
    let site = site();
    let host = site.open(&allow_all("output = \"4 KiB\"\ntransfer = \"16 MiB\"\ntime = \"60 s\"")).await;
    let largest = returned(&host, &[part("image/png", PNG, SHOWN_MAX)]).await;
    let shown = read(&host, &largest).await;
    let [Part::Image(image)] = parts(&shown) else { panic!("{}", shown.message) };
    assert_eq!(image.data.len(), SHOWN_MAX);
    let larger = returned(&host, &[part("image/png", PNG, SHOWN_MAX + 1)]).await;
    assert!(
        larger.message.contains("too large for output.read, which shows at most 3750000 bytes"),
        "{}",
        larger.message
    );
    let reference = larger.reference.unwrap();
    let refused = call(&host, "output.read", json!({ "reference": reference.id })).await;
    assert_eq!(refused.code, Code::ToolFailed, "{}", refused.message);
    assert!(refused.message.contains("3750001 bytes, and an answer has at most 3750000"), "{}", refused.message);
    // A program reads it in pieces.
    let reader = Reader { session: "default", principal: &LOCAL };
    assert_eq!(host.outputs().read(reader, &reference.id, 0, 8).await.unwrap(), PNG);
}

#[tokio::test]
async fn an_image_has_no_lines_and_only_its_owner_reads_it() {
    let site = site();
    let host = site.open(&policy()).await;
    let reply = returned(&host, &[part("image/png", PNG, 20_000)]).await;
    let reference = reply.reference.unwrap().id;
    for argument in ["offset", "limit", "column"] {
        let reply = call(&host, "output.read", json!({ "reference": reference, argument: 1 })).await;
        assert_eq!(reply.code, Code::ToolRejectedArguments, "{}", reply.message);
        assert!(reply.message.contains("is not text (image/png), so it has no lines"), "{}", reply.message);
    }
    let request = || Request::new("output.read", json!({ "reference": reference }).to_string());
    for request in [request().session("other"), request().principal("alice".parse().unwrap())] {
        let reply = host.call(request).await;
        assert_eq!(reply.code, Code::ToolRejectedArguments, "{}", reply.message);
        assert!(reply.message.contains("there is no output"), "{}", reply.message);
    }
}
