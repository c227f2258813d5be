//! A path in a message. JSON has only texts, and a path may have any bytes: one that is no text becomes a list of them.

use serde::{Deserialize, Deserializer, Serializer};
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

pub(crate) fn serialize<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    match path.to_str() {
        Some(text) => serializer.serialize_str(text),
        None => serializer.collect_seq(path.as_os_str().as_bytes()),
    }
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PathBuf, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum PathText {
        Text(PathBuf),
        Bytes(Vec<u8>),
    }
    Ok(match PathText::deserialize(deserializer)? {
        PathText::Text(path) => path,
        PathText::Bytes(bytes) => OsString::from_vec(bytes).into(),
    })
}
