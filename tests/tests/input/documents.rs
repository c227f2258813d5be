//! Arguments that parsers could read differently are rejected: duplicate keys, invalid text, JSON inside strings. J01,
//! J02, J05, J06.

use crate::input::desk::Desk;
use portcullis::{Code, Request};

#[tokio::test]
async fn a_duplicate_key_is_rejected() {
    let desk = Desk::new().await;
    let documents = [
        r#"{"path":"/ok","path":"/etc/shadow"}"#,
        r#"{"path":"/ok","path":"/ok"}"#,
        r#"{"path":"/ok","pa\u0074h":"/etc/shadow"}"#,
        r#"{"\u0070\u0061\u0074\u0068":1,"path":2}"#,
        r#"{"😀":1,"\ud83d\ude00":2}"#,
        r#"{"":1,"":2}"#,
        r#"{"a":{"b":1,"c":2,"b":3}}"#,
        r#"{"a":[{"b":1,"b":1}]}"#,
        r#""{\"path\":1,\"path\":2}""#,
        r#"{"a\u0000":1,"a\u0000":2}"#,
    ];
    for document in documents {
        assert!(desk.refused(document).contains("twice"), "{document}");
    }
    for different in [r#"{"a":1,"A":2}"#, r#"{"é":1,"e\u0301":2}"#, r#"{"a":{"a":1}}"#, r#"{"a":1,"a ":2}"#] {
        assert!(desk.arguments(different).is_ok(), "{different}");
    }
}

#[tokio::test]
async fn bytes_that_are_not_utf8_are_rejected() {
    let desk = Desk::new().await;
    let sequences: [&[u8]; 16] = [
        b"\xff",
        b"\xfe\xff",
        b"\x80",
        b"\xbf",
        b"\xc0\xaf",
        b"\xc1\xbf",
        b"\xe0\x80\xaf",
        b"\xf0\x80\x80\xaf",
        b"\xed\xa0\x80",
        b"\xed\xbf\xbf",
        b"\xed\xa0\xbd\xed\xb8\x80",
        b"\xf4\x90\x80\x80",
        b"\xf8\x88\x80\x80\x80",
        b"\xe2\x82",
        b"\xf0\x9f\x98",
        b"\xe9",
    ];
    for sequence in sequences {
        for (before, after) in
            [("{\"v\":\"", "\"}"), ("{\"", "\":1}"), ("", "{}"), ("{}", ""), ("\"{\\\"v\\\":\\\"", "\\\"}\"")]
        {
            let bytes = [before.as_bytes(), sequence, after.as_bytes()].concat();
            desk.refused(&bytes);
        }
    }
    for encoding in [&b"\xfe\xff\0{\0}"[..], b"\xff\xfe{\0}\0", b"{\0}\0", b"\0{\0}", b"+ACI-", b"\xef\xbb\xbf{}"] {
        desk.refused(encoding);
    }
}

#[tokio::test]
async fn half_a_surrogate_is_rejected_and_a_nul_is_accepted() {
    let desk = Desk::new().await;
    let halves = [r"\ud800", r"\udc00", r"\udfff\ud800", r"\ud800\ud800", r"\ud83dx", r"\uD83D\u0041", r"\ude00\ud83d"];
    for half in halves {
        desk.refused(format!("{{\"v\":\"{half}\"}}"));
        desk.refused(format!("{{\"{half}\":1}}"));
    }
    assert_eq!(desk.arguments(r#"{"v":"\ud83d\uDE00"}"#).unwrap(), r#"{"v":"😀"}"#);
    assert_eq!(desk.arguments(r#"{"v":"a\u0000b"}"#).unwrap(), r#"{"v":"a\u0000b"}"#);
    let reply = desk.host.call(Request::new("good.run", r#"{"v":"a\u0000b"}"#)).await;
    assert_eq!((reply.code, reply.message.as_str()), (Code::Completed, r#"{"v":"a\u0000b"}"#));
}

#[tokio::test]
async fn text_that_is_almost_json_is_rejected() {
    let desk = Desk::new().await;
    let documents = [
        "",
        " ",
        "null",
        "true",
        "1",
        "[]",
        "[{}]",
        "{",
        "}",
        "{}{}",
        "{} x",
        "{},",
        "{a:1}",
        "{'a':1}",
        "{\"a\":1,}",
        "{\"a\" 1}",
        "{\"a\":}",
        "{\"a\":NaN}",
        "{\"a\":Infinity}",
        "{\"a\":-Infinity}",
        "{\"a\":undefined}",
        "{\"a\":1}//c",
        "{/*c*/}",
        "#\n{}",
        "{\"a\":0x10}",
        "{\"a\":01}",
        "{\"a\":+1}",
        "{\"a\":.5}",
        "{\"a\":5.}",
        "{\"a\":1_000}",
        "{\"a\":\"\n\"}",
        "{\"a\":\"\t\"}",
        "{\"a\":\"\u{1}\"}",
        "{\"a\":\"\\x41\"}",
        "{\"a\":\"\\'\"}",
        "{\"a\":\"\\u00\"}",
        "{\"a\":tru}",
        "{\"a\":True}",
        "\u{c}{}",
        "\u{a0}{}",
        "\u{2028}{}",
        "{}\0",
        "\u{feff}{}",
    ];
    for document in documents {
        desk.refused(document);
    }
    for document in ["{}", " {} ", "\t\r\n{ }\n", "{\"a\":\"\u{7f}\u{2028}\u{2029}\"}"] {
        assert!(desk.arguments(document).is_ok(), "{document:?}");
    }
}

/// Many models pass their arguments as a string. One level is accepted, two are not.
#[tokio::test]
async fn a_string_that_contains_the_object_is_parsed_once() {
    let desk = Desk::new().await;
    let mut document = r#"{"b":[1.0,"\n"],"a":"é"}"#.to_owned();
    let expected = desk.arguments(&document).unwrap();
    document = serde_json::to_string(&document).unwrap();
    assert_eq!(desk.arguments(&document).unwrap(), expected);
    document = serde_json::to_string(&document).unwrap();
    desk.refused(&document);
    for inner in ["", "null", "[]", "1", "\"{}\"", "{}{}", "{\"a\":1,\"a\":1}", "\u{feff}{}"] {
        desk.refused(serde_json::to_string(inner).unwrap());
    }
    assert_eq!(desk.arguments(r#"{"v":"{\"a\":1,\"a\":1}"}"#).unwrap(), r#"{"v":"{\"a\":1,\"a\":1}"}"#);
}

/// An error quotes the arguments in escaped form.
#[tokio::test]
async fn an_error_cannot_deceive_a_terminal() {
    let desk = Desk::new().await;
    for text in ["\u{1b}[2J", "\u{9b}31m", "\u{202e}", "\u{200b}", "\u{e0041}", "\n\n", "\u{2028}"] {
        let key = serde_json::to_string(text).unwrap();
        for document in [format!("{{{key}:1,{key}:2}}"), format!("{{{text}"), format!("{{\"a\":{text}}}")] {
            let message = desk.refused(&document);
            assert!(!message.contains(portcullis::text::is_deceptive), "{message:?}");
        }
    }
}
