//! The SDKs and the templates, embedded when this program was built.

/// A file below `sdk`.
pub(crate) struct EmbeddedFile {
    /// Its path below `sdk`, with `/` between the parts.
    pub(crate) path: &'static str,
    /// Its content.
    pub(crate) bytes: &'static [u8],
}

include!(concat!(env!("OUT_DIR"), "/embedded.rs"));

/// Returns the files below a folder of `sdk`, with their paths relative to it.
pub(crate) fn below(folder: &str) -> impl Iterator<Item = (&'static str, &'static [u8])> {
    let folder = format!("{folder}/");
    FILES.iter().filter_map(move |file| Some((file.path.strip_prefix(folder.as_str())?, file.bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_sdk_includes_the_contract() {
        assert!(below("rust").any(|(path, _)| path == "wit/tool.wit"));
        assert!(below("rust").all(|(path, _)| !path.contains("target/")));
    }
}
