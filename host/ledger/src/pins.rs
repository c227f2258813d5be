//! Pins of generated tools: which tools a plugin made under one policy, by the hashes of their definitions. Each pin
//! is a file of the state directory with a seal, so that only a host with this key can have written it.

use crate::mac::{derived, keyed};
use crate::state_directory::{HostDirectories, PlaceError};
use crate::state_folder::StateFolder;
use hmac::{Hmac, Mac};
use portcullis_definitions::text::hex;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::path::Path;

/// The directory of the pins, in the state directory.
const PINS_DIRECTORY: &str = "generated";

/// Maximum size of a pin, in bytes: two thousand names of 64 bytes and their hashes take 300 KB.
const PIN_BYTES_MAX: u64 = 1024 * 1024;

/// Maximum size of the definitions of a source, in bytes: the 4 MiB that a server may list, as texts in JSON.
const DEFINITIONS_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// The label from which the key of the seals is derived, so that a seal never equals another MAC of the key.
const SEAL_LABEL: &[u8] = b"portcullis generated tools, version 1";

/// What a plugin generates tools from: its name, its settings, and its directories. A pin applies to one source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PinSource(String);

impl PinSource {
    /// Identifies a source. `directories` is each key with the place that it is bound to.
    pub fn new(plugin: &str, settings: &BTreeMap<String, String>, directories: &[(&str, &str)]) -> Self {
        // Serializing strings cannot fail.
        let text = serde_json::to_vec(&(plugin, settings, directories)).unwrap_or_default();
        Self(hex(&Sha256::digest(text)))
    }
}

/// The hash of each generated definition, in hexadecimal, by the name of the tool.
pub type PinnedTools = BTreeMap<String, String>;

/// The text of each pinned definition, by the name of the tool.
pub type PinnedDefinitions = BTreeMap<String, String>;

/// What is kept for a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pin {
    /// Nothing.
    Absent,
    /// These tools.
    Tools(PinnedTools),
    /// A file that no host with this key has written.
    Damaged,
}

#[derive(Serialize, Deserialize)]
struct PinFile {
    tools: PinnedTools,
    seal: String,
}

/// The pins of a state directory.
pub struct GeneratedPins {
    folder: StateFolder,
    seal: Hmac<Sha256>,
}

impl fmt::Debug for GeneratedPins {
    /// Leaves out the key.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("GeneratedPins").field("path", &self.path()).finish_non_exhaustive()
    }
}

impl GeneratedPins {
    /// Opens the pins. Creates their directory if it does not exist.
    ///
    /// # Errors
    /// The directory cannot be created or opened.
    pub fn open(state: &HostDirectories) -> Result<Self, PlaceError> {
        let folder = StateFolder::open(state, PINS_DIRECTORY, "the pins of generated tools")?;
        Ok(Self { folder, seal: keyed(&derived(&state.key, SEAL_LABEL)) })
    }

    /// Returns the directory of the pins. It changes when a pin is written.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Returns the pin of a source.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn read(&self, source: &PinSource) -> io::Result<Pin> {
        let Some(bytes) = self.folder.read(&source.0, PIN_BYTES_MAX)? else { return Ok(Pin::Absent) };
        Ok(self.opened(source, &bytes).map_or(Pin::Damaged, Pin::Tools))
    }

    /// Returns the tools of a file with a valid seal.
    fn opened(&self, source: &PinSource, bytes: &[u8]) -> Option<PinnedTools> {
        let PinFile { tools, seal } = serde_json::from_slice(bytes).ok()?;
        let expected = self.seal_of(source, &tools);
        // Look at every byte. An early exit would show by its time how much of a forged seal is right.
        let differ = expected.bytes().zip(seal.bytes()).fold(0, |differ, (one, other)| differ | (one ^ other));
        (expected.len() == seal.len() && differ == 0).then_some(tools)
    }

    /// Returns the pin of a source. If there is none, these tools become the first.
    ///
    /// # Errors
    /// The file cannot be read or written.
    pub fn read_or_keep_first(&self, source: &PinSource, tools: &PinnedTools) -> io::Result<Pin> {
        match self.read(source)? {
            Pin::Absent => {
                self.keep_first(source, tools)?;
                // Another host may have been faster.
                self.read(source)
            }
            pin @ (Pin::Tools(_) | Pin::Damaged) => Ok(pin),
        }
    }

    /// Keeps the first pin of a source. If another host was faster, its pin stays.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn keep_first(&self, source: &PinSource, tools: &PinnedTools) -> io::Result<()> {
        self.folder.keep_first(&source.0, &self.sealed(source, tools)?)
    }

    /// Replaces the pin of a source.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn replace(&self, source: &PinSource, tools: &PinnedTools) -> io::Result<()> {
        self.folder.replace(&source.0, &self.sealed(source, tools)?)
    }

    /// Returns the kept definitions of a source that have the hashes of its pin. A text that differs from its hash is
    /// left out, so the file needs no seal.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn definitions(&self, source: &PinSource, tools: &PinnedTools) -> io::Result<PinnedDefinitions> {
        let Some(bytes) = self.folder.read(&definitions_file(source), DEFINITIONS_BYTES_MAX)? else {
            return Ok(PinnedDefinitions::new());
        };
        // Without its text, a tool that differs now is withheld. So a file that cannot be parsed permits nothing.
        let mut kept: PinnedDefinitions = serde_json::from_slice(&bytes).unwrap_or_default();
        kept.retain(|name, text| {
            tools.get(name).is_some_and(|pinned| *pinned == hex(&Sha256::digest(text.as_bytes())))
        });
        Ok(kept)
    }

    /// Keeps the definitions of a source, in place of those before.
    ///
    /// # Errors
    /// They are too long, or the file cannot be written.
    pub fn keep_definitions(&self, source: &PinSource, definitions: &PinnedDefinitions) -> io::Result<()> {
        let bytes = serde_json::to_vec(definitions)?;
        // `definitions` would read only the beginning of a longer file, and then take none of its texts.
        if bytes.len() as u64 > DEFINITIONS_BYTES_MAX {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "the definitions are too long to be kept"));
        }
        self.folder.replace(&definitions_file(source), &bytes)
    }

    /// Returns the bytes of a pin.
    fn sealed(&self, source: &PinSource, tools: &PinnedTools) -> io::Result<Vec<u8>> {
        Ok(serde_json::to_vec(&PinFile { tools: tools.clone(), seal: self.seal_of(source, tools) })?)
    }

    /// Computes the seal of a pin. The source is part of it, so that a pin is not valid for another source.
    fn seal_of(&self, source: &PinSource, tools: &PinnedTools) -> String {
        let mut mac = self.seal.clone();
        // Serializing strings cannot fail.
        mac.update(&serde_json::to_vec(&(&source.0, tools)).unwrap_or_default());
        hex(&mac.finalize().into_bytes())
    }
}

/// Returns the file of the definitions of a source.
fn definitions_file(source: &PinSource) -> String {
    format!("{}.definitions", source.0)
}
