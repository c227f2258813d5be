//! Malicious tool names: the call gets an error, and the name is always escaped. S48.

use portcullis::text::is_deceptive;
use portcullis::{Code, Host, Request};
use portcullis_tests::{Manifest, Site, allow_all, guest};

/// Names that look like an existing one.
const ALIKE: [&str; 22] = [
    "Good.run",
    "good.Run",
    "GOOD.RUN",
    "good.run ",
    " good.run",
    "good .run",
    "good. run",
    "good.run\n",
    "good.run\0",
    "gооd.run",
    "ｇｏｏｄ.run",
    "good.\u{200b}run",
    "good\u{ad}.run",
    "go\u{301}od.run",
    "good\u{ff0e}run",
    "good.ru\u{578}",
    "good..run",
    ".good.run",
    "good.run.",
    "good",
    "good.",
    ".run",
];

async fn assert_unknown(host: &Host, name: &str) {
    for arguments in ["{}", r#"{"a":1}"#] {
        let reply = host.call(Request::new(name, arguments)).await;
        assert_eq!(reply.code, Code::UnknownTool, "{name:?}");
        assert_eq!(reply.tool, name, "the reply's document has the unchanged name");
        let found = reply.message.chars().find(|character| is_deceptive(*character) && *character != '\n');
        assert_eq!(found, None, "{:?}", reply.message);
        assert!(reply.message.len() < 2000, "{} bytes", reply.message.len());
        assert!(host.explain(Request::new(name, arguments)).await.is_err());
    }
}

#[tokio::test]
async fn a_naughty_name_is_unknown() {
    let site = Site::new();
    let host = site.open(&allow_all("")).await;
    for name in naughty_strings::BLNS {
        assert_unknown(&host, name).await;
        assert_unknown(&host, &format!("good.{name}")).await;
        assert_unknown(&host, &format!("{name}.run")).await;
    }
    assert_eq!(host.call(Request::new("good.run", "{}")).await.code, Code::Completed);
    assert_eq!(host.audit().verify().await.unwrap().fault, None);
}

#[tokio::test]
async fn a_name_that_looks_like_a_known_one_is_another() {
    let site = Site::new();
    let host = site.open(&allow_all("")).await;
    for name in ALIKE {
        assert_unknown(&host, name).await;
    }
    for name in
        ["a".repeat(1 << 20), format!("good.run{}", "\u{202e}".repeat(100_000)), "é".repeat(65), ".".repeat(4000)]
    {
        assert_unknown(&host, &name).await;
    }
}

/// The error for a similar name lists the known names.
#[tokio::test]
async fn the_error_for_a_similar_name_lists_the_known_names() {
    let site = Site::new();
    site.plugin("other", &guest("good", &Manifest::of("other")));
    let host = site.open(&allow_all("")).await;
    for (name, near) in [("good.walk", "good.run"), ("othr.run", "other.run"), ("run", "good.run"), ("x", "other.run")]
    {
        let reply = host.call(Request::new(name, "{}")).await;
        assert_eq!(reply.code, Code::UnknownTool);
        assert!(reply.message.contains(near), "{name}: {}", reply.message);
    }
}

/// A plugin with a name that is not plain is not loaded, nor one with such a tool name.
#[tokio::test]
async fn a_naughty_name_is_not_loaded() {
    let naughty = naughty_strings::BLNS.iter().chain(&ALIKE);
    for name in naughty.filter(|name| name.len() < 200).step_by(8) {
        let site = Site::new();
        site.plugin(
            "naughty",
            &guest("good", &Manifest::of("naughty").tool(|tool| (*name).clone_into(&mut tool.name))),
        );
        site.plugin("named", &guest("good", &Manifest::of(name)));
        let host = site.open(&allow_all("")).await;
        let plain = |character: char| matches!(character, 'a'..='z' | '0'..='9' | '-' | '_');
        let refused =
            name.is_empty() || !name.chars().all(plain) || !name.starts_with(|first: char| first.is_ascii_lowercase());
        assert!(host.catalog().refusal("named").is_some(), "{name:?}");
        assert_eq!(host.catalog().refusal("naughty").is_some(), refused, "{name:?}");
        for refused in host.catalog().refused() {
            let shown = refused.error.to_string();
            assert!(!shown.contains(is_deceptive), "{shown:?}");
        }
    }
}
