//! Converts the result of a call to the types that plugins answer with.

use crate::error::ServerError;
use data_encoding::BASE64;
use portcullis_definitions::manifest::{Answer, Blob, Failure, Output, Part, Success};
use rmcp::model::{CallToolResult, ContentBlock, PromptMessage, Resource, ResourceContents, Role};
use serde_json::Value;
use std::fmt::Write as _;

/// The media type of a file that has none.
const UNKNOWN_MEDIA_TYPE: &str = "application/octet-stream";

/// Converts the result of a call. A tool with an output schema answers with JSON, if the server sends any.
pub(crate) fn convert(
    result: CallToolResult,
    has_output_schema: bool,
    bytes_max: usize,
) -> Result<Answer, ServerError> {
    if result.is_error == Some(true) {
        return failure(result.content, bytes_max);
    }
    // The specification has servers repeat structured content as text. A tool without a schema returns the text.
    let structured = match &result.structured_content {
        Some(value) if has_output_schema || result.content.is_empty() => Some(value.to_string()),
        _ => None,
    };
    check_size(structured.as_ref().map_or_else(|| bytes_of_all(&result.content), String::len), bytes_max)?;
    let output = match structured {
        Some(json) => Output::Json(json),
        None => output(result.content)?,
    };
    Ok(Ok(Success { title: None, output, metadata: None }))
}

/// Returns a list of a server as text.
pub(crate) fn listed(list: &Value) -> Answer {
    Ok(Success { title: None, output: Output::Text(list.to_string()), metadata: None })
}

/// Converts the contents of a resource.
pub(crate) fn resource(contents: Vec<ResourceContents>, bytes_max: usize) -> Result<Answer, ServerError> {
    let blocks = contents.into_iter().map(|content| match content {
        // As text, so that a model can read it.
        ResourceContents::TextResourceContents { text, .. } => ContentBlock::text(text),
        content => ContentBlock::resource(content),
    });
    blocks_as_answer(blocks.collect(), bytes_max)
}

/// Converts the messages of a prompt, each with who says it.
pub(crate) fn prompt(messages: Vec<PromptMessage>, bytes_max: usize) -> Result<Answer, ServerError> {
    let blocks = messages.into_iter().flat_map(|PromptMessage { role, content, .. }| {
        let role = match role {
            Role::User => "user:",
            Role::Assistant => "assistant:",
        };
        [ContentBlock::text(role), content]
    });
    blocks_as_answer(blocks.collect(), bytes_max)
}

fn blocks_as_answer(blocks: Vec<ContentBlock>, bytes_max: usize) -> Result<Answer, ServerError> {
    check_size(bytes_of_all(&blocks), bytes_max)?;
    Ok(Ok(Success { title: None, output: output(blocks)?, metadata: None }))
}

fn check_size(bytes: usize, bytes_max: usize) -> Result<(), ServerError> {
    if bytes > bytes_max { Err(ServerError::ResultTooLarge { bytes, max: bytes_max }) } else { Ok(()) }
}

/// Returns how many bytes the blocks have after they are converted. It is called before Base64 is decoded, so that a
/// result over the limit takes no more memory.
fn bytes_of_all(blocks: &[ContentBlock]) -> usize {
    blocks.iter().map(bytes_of).sum()
}

/// Returns how many bytes a block has after it is converted, or a few more.
fn bytes_of(block: &ContentBlock) -> usize {
    match block {
        ContentBlock::Text(text) => text.text.len(),
        ContentBlock::Image(image) => image.data.len() / 4 * 3 + image.mime_type.len(),
        ContentBlock::Audio(audio) => audio.data.len() / 4 * 3 + audio.mime_type.len(),
        ContentBlock::Resource(embedded) => match &embedded.resource {
            ResourceContents::TextResourceContents { uri, mime_type, text, .. } => {
                uri.len() + mime_type.as_ref().map_or(0, String::len) + text.len()
            }
            ResourceContents::BlobResourceContents { uri, mime_type, blob, .. } => {
                uri.len() + mime_type.as_ref().map_or(0, String::len) + blob.len() / 4 * 3
            }
            _ => 0,
        },
        ContentBlock::ResourceLink(link) => link_text(link).len(),
        _ => 0,
    }
}

fn output(content: Vec<ContentBlock>) -> Result<Output, ServerError> {
    let mut parts = content.into_iter().map(part).collect::<Result<Vec<_>, _>>()?;
    Ok(match parts.pop() {
        None => Output::Text(String::new()),
        Some(Part::Text(text)) if parts.is_empty() => Output::Text(text),
        Some(last) => {
            parts.push(last);
            Output::Parts(parts)
        }
    })
}

/// Converts the content of a failed call. Structured content has no place in it.
fn failure(content: Vec<ContentBlock>, bytes_max: usize) -> Result<Answer, ServerError> {
    check_size(bytes_of_all(&content), bytes_max)?;
    let text = failure_text(content)?;
    // The descriptions of images and files can be longer than what they stand for.
    check_size(text.len(), bytes_max)?;
    Ok(Err(Failure::Failed(text)))
}

/// Joins the texts of a failed call.
fn failure_text(content: Vec<ContentBlock>) -> Result<String, ServerError> {
    let texts = content.into_iter().map(|block| {
        Ok(match part(block)? {
            Part::Text(text) => text,
            Part::Image(blob) | Part::File(blob) => format!("[{}]", blob.described()),
        })
    });
    let joined = texts.collect::<Result<Vec<_>, ServerError>>()?.join("\n");
    Ok(if joined.is_empty() { "the server gives no reason".to_owned() } else { joined })
}

fn part(block: ContentBlock) -> Result<Part, ServerError> {
    Ok(match block {
        ContentBlock::Text(text) => Part::Text(text.text),
        ContentBlock::Image(image) => Part::Image(blob(None, image.mime_type, decoded(&image.data)?)),
        ContentBlock::Audio(audio) => Part::File(blob(None, audio.mime_type, decoded(&audio.data)?)),
        ContentBlock::Resource(embedded) => Part::File(file(embedded.resource)?),
        ContentBlock::ResourceLink(link) => Part::Text(link_text(&link)),
        _ => return Err(malformed("it has a block of content of an unknown type")),
    })
}

/// Maximum length of the name of a file, in bytes.
const NAME_BYTES_MAX: usize = 100;

/// Names that are devices on some systems.
const DEVICES: [&str; 4] = ["con", "prn", "aux", "nul"];

/// Returns the last part of a resource's address, if it is a plain name of a file on every system.
fn file_name(uri: &str) -> Option<String> {
    let path = uri.split(['?', '#']).next().unwrap_or_default();
    let name = path.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    let is_plain = |character: char| character.is_ascii_alphanumeric() || "._-".contains(character);
    let stem = name.split('.').next().unwrap_or_default().to_ascii_lowercase();
    let is_device =
        DEVICES.contains(&&*stem) || (stem.len() == 4 && (stem.starts_with("com") || stem.starts_with("lpt")));
    let is_sound = !name.is_empty()
        && name.len() <= NAME_BYTES_MAX
        && name.chars().all(is_plain)
        && !name.starts_with(['.', '-'])
        && !name.ends_with('.')
        && !is_device;
    is_sound.then(|| name.to_owned())
}

/// Converts an embedded resource. Its address is only a name: nothing follows it.
fn file(resource: ResourceContents) -> Result<Blob, ServerError> {
    Ok(match resource {
        ResourceContents::TextResourceContents { uri, mime_type, text, .. } => {
            blob(file_name(&uri), mime_type.unwrap_or_else(|| "text/plain".to_owned()), text.into_bytes())
        }
        ResourceContents::BlobResourceContents { uri, mime_type, blob: data, .. } => {
            blob(file_name(&uri), mime_type.unwrap_or_else(|| UNKNOWN_MEDIA_TYPE.to_owned()), decoded(&data)?)
        }
        _ => return Err(malformed("it has a resource of an unknown kind")),
    })
}

fn blob(name: Option<String>, media_type: String, data: Vec<u8>) -> Blob {
    Blob { name, media_type, data, is_kept: false }
}

/// Describes a link to a resource, which the host does not follow.
fn link_text(link: &Resource) -> String {
    let mut text = format!("Resource \"{}\" at {}", link.name, link.uri);
    // Writing to a string cannot fail.
    if let Some(media_type) = &link.mime_type {
        let _ = write!(text, " ({media_type})");
    }
    if let Some(description) = &link.description {
        let _ = write!(text, ": {description}");
    }
    text
}

fn decoded(data: &str) -> Result<Vec<u8>, ServerError> {
    BASE64.decode(data.as_bytes()).map_err(|error| malformed(&format!("its data is not Base64: {error}")))
}

fn malformed(problem: &str) -> ServerError {
    ServerError::Malformed { problem: problem.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// The limit of a result in these tests, in bytes.
    const BYTES_MAX: usize = 1000;

    /// Converts the result of a call of a tool with an output schema.
    fn converted(result: Value) -> Result<Answer, ServerError> {
        convert(serde_json::from_value(result).unwrap(), true, BYTES_MAX)
    }

    #[test]
    fn the_text_of_a_failure_has_the_limit_of_a_result() {
        let failed = |content: Value| json!({"isError": true, "structuredContent": {"a": 1}, "content": content});
        let within = converted(failed(json!([{"type": "text", "text": "x".repeat(BYTES_MAX)}])));
        assert!(matches!(&within, Ok(Err(Failure::Failed(text))) if text.len() == BYTES_MAX), "{within:?}");
        let image = json!({"type": "image", "data": "", "mimeType": "image/png"});
        for content in [json!([{"type": "text", "text": "x".repeat(BYTES_MAX + 1)}]), vec![image; 100].into()] {
            let over = converted(failed(content));
            assert!(matches!(over, Err(ServerError::ResultTooLarge { max: BYTES_MAX, .. })), "{over:?}");
        }
    }

    #[test]
    fn the_media_type_of_a_file_counts_for_its_size() {
        for data in ["text", "blob"] {
            let resource = json!({"uri": "file:///a", "mimeType": "x".repeat(BYTES_MAX + 1), data: "AAAA"});
            let over = converted(json!({"content": [{"type": "resource", "resource": resource}]}));
            assert!(matches!(over, Err(ServerError::ResultTooLarge { .. })), "{data}: {over:?}");
        }
    }

    #[test]
    fn the_name_of_a_file_is_the_last_part_of_its_address_if_it_is_plain() {
        for (uri, name) in [
            ("file:///a/report.pdf", Some("report.pdf")),
            ("test://embedded-resource", Some("embedded-resource")),
            ("note://1/?x=y#z", Some("1")),
            ("note://", None),
            ("file:///a/..", None),
            ("file:///a/.hidden", None),
            ("file:///a/-rf", None),
            ("file:///a/nul.txt", None),
            ("file:///a/b%20c", None),
        ] {
            assert_eq!(file_name(uri).as_deref(), name, "{uri}");
        }
        assert_eq!(file_name(&"x".repeat(NAME_BYTES_MAX + 1)), None);
    }
}
