//! The expected result of a call.

use portcullis::Outcome;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::{self, Formatter};

/// The outcomes that a case can expect.
const OUTCOMES: [Outcome; 9] = [
    Outcome::Completed,
    Outcome::Failed,
    Outcome::Invalid,
    Outcome::Denied,
    Outcome::Pending,
    Outcome::Cancelled,
    Outcome::Limit,
    Outcome::Trapped,
    Outcome::Refused,
];

/// Hexadecimal digits of a SHA-256.
const SHA256_DIGITS: usize = 64;

/// The expected result.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Expect {
    #[serde(deserialize_with = "outcome")]
    pub(super) outcome: Outcome,
    #[serde(default, deserialize_with = "present")]
    pub(super) code: Option<String>,
    #[serde(default, deserialize_with = "present")]
    pub(super) text: Option<String>,
    /// The length of the whole text in bytes. The reply may contain only its beginning.
    #[serde(default, deserialize_with = "present")]
    pub(super) text_bytes: Option<u64>,
    /// The SHA-256 of the whole text.
    #[serde(default, deserialize_with = "sha256")]
    pub(super) text_sha256: Option<String>,
    #[serde(default, deserialize_with = "present")]
    pub(super) json: Option<Value>,
    #[serde(default, deserialize_with = "present")]
    pub(super) parts: Option<Vec<ExpectedPart>>,
    #[serde(default)]
    pub(super) contains: Vec<String>,
    #[serde(default, deserialize_with = "present")]
    pub(super) message: Option<String>,
    #[serde(default, deserialize_with = "present")]
    pub(super) title: Option<Option<String>>,
    #[serde(default, deserialize_with = "present")]
    pub(super) metadata: Option<Value>,
    #[serde(default)]
    pub(super) log: Vec<String>,
    #[serde(default, deserialize_with = "present")]
    pub(super) progress: Option<Vec<ExpectedReport>>,
    #[serde(default)]
    pub(super) files: BTreeMap<String, Option<String>>,
    #[serde(default, deserialize_with = "present")]
    pub(super) requests: Option<Vec<ExpectedRequest>>,
}

impl Expect {
    /// Returns whether the whole text is needed, not only the part in the reply.
    pub(super) fn wants_whole_text(&self) -> bool {
        self.text_bytes.is_some() || self.text_sha256.is_some()
    }
}

/// A piece of an output in parts.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub(super) enum ExpectedPart {
    Text(String),
    Image(ExpectedBlob),
    File(ExpectedBlob),
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ExpectedBlob {
    pub(super) media_type: String,
    /// The expected length.
    #[serde(default, deserialize_with = "present")]
    pub(super) bytes: Option<usize>,
}

/// A report of progress.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ExpectedReport {
    #[serde(default, deserialize_with = "present")]
    pub(super) title: Option<Option<String>>,
    #[serde(default, deserialize_with = "present")]
    pub(super) fraction: Option<Option<f32>>,
    #[serde(default, deserialize_with = "present")]
    pub(super) metadata: Option<Value>,
}

/// A request that the server has seen.
#[derive(Clone, Debug)]
pub(super) struct ExpectedRequest {
    /// Its method and path.
    pub(super) line: String,
    /// Some of its headers. `None` means that the request must not have the header.
    pub(super) headers: BTreeMap<String, Option<String>>,
    /// A string is compared with the whole body as text, any other value as JSON.
    pub(super) body: Option<Value>,
}

impl<'de> Deserialize<'de> for ExpectedRequest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(WrittenRequest)
    }
}

/// A request as it is in the file: a request line, or an object.
struct WrittenRequest;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ExpectedMembers {
    #[serde(default = "get")]
    method: String,
    path: String,
    #[serde(default)]
    headers: BTreeMap<String, Option<String>>,
    #[serde(default, deserialize_with = "present")]
    body: Option<Value>,
}

impl<'de> Visitor<'de> for WrittenRequest {
    type Value = ExpectedRequest;

    fn expecting(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.write_str("a request: a string such as \"GET /a\", or an object with its `method` and `path`")
    }

    fn visit_str<E: Error>(self, line: &str) -> Result<ExpectedRequest, E> {
        Ok(ExpectedRequest { line: line.to_owned(), headers: BTreeMap::new(), body: None })
    }

    fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<ExpectedRequest, A::Error> {
        let ExpectedMembers { method, path, headers, body } =
            ExpectedMembers::deserialize(MapAccessDeserializer::new(members))?;
        Ok(ExpectedRequest { line: format!("{method} {path}"), headers, body })
    }
}

/// Deserializes a member that is present. Unlike in serde's default, `null` is a value and not an absent member.
pub(super) fn present<'de, T: Deserialize<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

/// The default method of a request.
pub(super) fn get() -> String {
    "GET".to_owned()
}

fn outcome<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Outcome, D::Error> {
    let word = String::deserialize(deserializer)?;
    OUTCOMES.into_iter().find(|outcome| outcome.as_str() == word).ok_or_else(|| {
        let words = OUTCOMES.map(Outcome::as_str).join(", ");
        D::Error::custom(format_args!("there is no outcome `{}`: use one of {words}", word.escape_debug()))
    })
}

fn sha256<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let digits = String::deserialize(deserializer)?.to_ascii_lowercase();
    let whole = digits.len() == SHA256_DIGITS && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    if whole { Ok(Some(digits)) } else { Err(D::Error::custom("a SHA-256 has 64 hexadecimal digits")) }
}
