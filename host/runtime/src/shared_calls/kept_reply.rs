//! A reply as a shared ledger keeps it. Unlike the JSON of a reply, it gives back exactly the same reply, except what
//! only the host of the call needs.

use super::known_code::code_of_name;
use crate::outputs::Reference;
use crate::reply::{CallUsage, Reply};
use data_encoding::BASE64;
use portcullis_definitions::manifest::{Blob, Output, Part};
use portcullis_sandbox::Usage;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::time::Duration;

/// A reply as a shared ledger keeps it.
#[derive(Serialize, Deserialize)]
pub(super) struct KeptReply {
    id: String,
    tool: String,
    code: String,
    output: Option<KeptAnswer>,
    title: Option<String>,
    metadata: Option<Value>,
    message: String,
    reference: Option<KeptReference>,
    retry_after: Option<Duration>,
    approval_request: Option<String>,
    wall: Duration,
    cpu: Duration,
    memory_bytes: u64,
    bytes_in: u64,
    bytes_out: u64,
}

#[derive(Serialize, Deserialize)]
enum KeptAnswer {
    Text(String),
    Json(String),
    Parts(Vec<KeptPart>),
}

#[derive(Serialize, Deserialize)]
enum KeptPart {
    Text(String),
    Image(KeptBlob),
    File(KeptBlob),
}

#[derive(Serialize, Deserialize)]
struct KeptBlob {
    name: Option<String>,
    media_type: String,
    /// In base64.
    data: String,
    is_kept: bool,
}

#[derive(Serialize, Deserialize)]
struct KeptReference {
    id: String,
    bytes: u64,
    lines: Option<u64>,
    media_type: String,
    complete: bool,
}

impl KeptReply {
    /// Returns what is kept of a reply.
    pub(super) fn of(reply: &Reply) -> Self {
        let CallUsage { run, bytes_in, bytes_out } = reply.usage;
        Self {
            id: reply.id.clone(),
            tool: reply.tool.clone(),
            code: reply.code.as_str().to_owned(),
            output: reply.output.as_ref().map(kept_answer),
            title: reply.title.clone(),
            metadata: reply.metadata.clone(),
            message: reply.message.clone(),
            reference: reply.reference.as_ref().map(kept_reference),
            retry_after: reply.retry_after,
            approval_request: reply.approval_request.clone(),
            wall: run.wall,
            cpu: run.cpu,
            memory_bytes: run.memory_bytes,
            bytes_in,
            bytes_out,
        }
    }

    /// Returns the reply. `None` if this host does not know its code, or if data is not base64.
    pub(super) fn reply(self) -> Option<Reply> {
        let run = Usage { wall: self.wall, cpu: self.cpu, memory_bytes: self.memory_bytes };
        let (code, output) = (code_of_name(&self.code)?, self.output.map(answer));
        Some(Reply {
            output: match output {
                Some(answer) => Some(answer?),
                None => None,
            },
            title: self.title,
            metadata: self.metadata,
            reference: self.reference.map(reference),
            retry_after: self.retry_after,
            approval_request: self.approval_request,
            usage: CallUsage { run, bytes_in: self.bytes_in, bytes_out: self.bytes_out },
            ..Reply::failed(self.id, self.tool, code, self.message)
        })
    }
}

fn kept_answer(output: &Output) -> KeptAnswer {
    match output {
        Output::Text(text) => KeptAnswer::Text(text.clone()),
        Output::Json(text) => KeptAnswer::Json(text.clone()),
        Output::Parts(parts) => KeptAnswer::Parts(parts.iter().map(kept_part).collect()),
    }
}

fn kept_part(part: &Part) -> KeptPart {
    match part {
        Part::Text(text) => KeptPart::Text(text.clone()),
        Part::Image(blob) => KeptPart::Image(kept_blob(blob)),
        Part::File(blob) => KeptPart::File(kept_blob(blob)),
    }
}

fn kept_blob(blob: &Blob) -> KeptBlob {
    let Blob { name, media_type, data, is_kept } = blob;
    KeptBlob { name: name.clone(), media_type: media_type.clone(), data: BASE64.encode(data), is_kept: *is_kept }
}

fn kept_reference(reference: &Reference) -> KeptReference {
    let Reference { id, bytes, lines, media_type, complete } = reference;
    let (id, media_type) = (id.clone(), media_type.clone());
    KeptReference { id, bytes: *bytes, lines: *lines, media_type, complete: *complete }
}

fn answer(kept: KeptAnswer) -> Option<Output> {
    Some(match kept {
        KeptAnswer::Text(text) => Output::Text(text),
        KeptAnswer::Json(text) => Output::Json(text),
        KeptAnswer::Parts(parts) => Output::Parts(parts.into_iter().map(part).collect::<Option<_>>()?),
    })
}

fn part(kept: KeptPart) -> Option<Part> {
    Some(match kept {
        KeptPart::Text(text) => Part::Text(text),
        KeptPart::Image(kept) => Part::Image(blob(kept)?),
        KeptPart::File(kept) => Part::File(blob(kept)?),
    })
}

fn blob(kept: KeptBlob) -> Option<Blob> {
    let KeptBlob { name, media_type, data, is_kept } = kept;
    Some(Blob { name, media_type, data: BASE64.decode(data.as_bytes()).ok()?, is_kept })
}

fn reference(kept: KeptReference) -> Reference {
    let KeptReference { id, bytes, lines, media_type, complete } = kept;
    Reference { id, bytes, lines, media_type, complete }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reply::Code;
    use serde_json::json;

    fn reply(output: Option<Output>) -> Reply {
        let run = Usage { wall: Duration::from_nanos(7), cpu: Duration::from_micros(3), memory_bytes: 65_536 };
        let media_type = "text/plain".to_owned();
        Reply {
            output,
            title: Some("title".to_owned()),
            metadata: Some(json!({ "key": [1, 2.5, null] })),
            reference: Some(Reference { id: "r".to_owned(), bytes: 9, lines: Some(2), media_type, complete: false }),
            retry_after: Some(Duration::from_millis(1500)),
            approval_request: Some("q".to_owned()),
            usage: CallUsage { run, bytes_in: 1, bytes_out: 2 },
            ..Reply::failed("id".to_owned(), "a.b".to_owned(), Code::Completed, "message \u{0} \u{1b}".to_owned())
        }
    }

    #[test]
    fn a_kept_reply_is_the_same_reply() {
        let blob = |is_kept| Blob { name: None, media_type: "image/png".to_owned(), data: vec![0, 255, 10], is_kept };
        let parts = vec![Part::Text("a".to_owned()), Part::Image(blob(true)), Part::File(blob(false))];
        let outputs = [
            None,
            Some(Output::Text("text\u{0}".to_owned())),
            Some(Output::Json(r#"{ "b": 1.0, "a": 1e400 }"#.to_owned())),
            Some(Output::Parts(parts)),
        ];
        for output in outputs {
            let reply = reply(output);
            let text = serde_json::to_string(&KeptReply::of(&reply)).unwrap();
            assert!(!text.contains('\0'), "a database cannot keep this character");
            let kept: KeptReply = serde_json::from_str(&text).unwrap();
            assert_eq!(format!("{:?}", kept.reply().unwrap()), format!("{reply:?}"));
        }
    }

    /// Every code that `docs/codes.md` documents is known, so that no reply is lost for its code.
    #[test]
    fn every_code_is_read_back() {
        let document = include_str!("../../../../docs/codes.md");
        let table = document.split("## Exit codes").next().unwrap();
        let rows = table.lines().filter(|line| line.starts_with('|') && line.contains('`'));
        let codes: Vec<_> =
            rows.filter_map(|row| row.split('|').nth(2)).flat_map(|cell| cell.split('`').skip(1).step_by(2)).collect();
        assert!(codes.len() > 30, "{codes:?}");
        for name in codes {
            assert_eq!(code_of_name(name).map(Code::as_str), Some(name));
        }
        assert_eq!(code_of_name("other"), None);
    }
}
