//! What the audit log keeps of a call, and when an entry counts as written.
//!
//! This file must not know what an entry looks like, or where it is stored.

/// What the audit log keeps of arguments and outputs. A greater value keeps more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Payloads {
    /// Only their digests.
    Digest,
    /// Their full content.
    Keep,
}

impl Payloads {
    /// Both values, the one that keeps less first.
    pub const ALL: [Self; 2] = [Self::Digest, Self::Keep];

    /// Returns the word that policies use.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Digest => "digest",
            Self::Keep => "keep",
        }
    }
}

/// Whether the audit log keeps the places that arguments name, such as a path. A greater value keeps more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TargetKeeping {
    /// It does not.
    Drop,
    /// It keeps them even if it keeps only the digests of arguments.
    Keep,
}

impl TargetKeeping {
    /// Both values, the one that keeps less first.
    pub const ALL: [Self; 2] = [Self::Drop, Self::Keep];

    /// Returns the word that policies use.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Drop => "drop",
            Self::Keep => "keep",
        }
    }
}

/// What an entry survives before it takes effect. A greater value survives more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Durability {
    /// The end of the process.
    Process,
    /// A power failure: the entry is flushed to the disk.
    Machine,
}

impl Durability {
    /// Both values, the one that survives less first.
    pub const ALL: [Self; 2] = [Self::Process, Self::Machine];

    /// Returns the word that policies use.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Process => "process",
            Self::Machine => "machine",
        }
    }
}

/// The section `[record]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordKeeping {
    /// What is kept of arguments and outputs.
    pub payloads: Payloads,
    /// Whether the places that arguments name are kept.
    pub targets: TargetKeeping,
    /// What an entry survives before it takes effect.
    pub durable: Durability,
}

impl Default for RecordKeeping {
    /// Returns the defaults.
    fn default() -> Self {
        Self { payloads: Payloads::Digest, targets: TargetKeeping::Keep, durable: Durability::Process }
    }
}

/// The section `[record]` of one policy text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct RecordSettings {
    pub(crate) payloads: Option<Payloads>,
    pub(crate) targets: Option<TargetKeeping>,
    pub(crate) durable: Option<Durability>,
}

impl RecordKeeping {
    /// Applies the settings of a trusted text.
    pub(crate) fn set(&mut self, settings: &RecordSettings) {
        self.payloads = settings.payloads.unwrap_or(self.payloads);
        self.targets = settings.targets.unwrap_or(self.targets);
        self.durable = settings.durable.unwrap_or(self.durable);
    }

    /// Applies the settings of an untrusted text that keep less or survive more.
    pub(crate) fn narrow(&mut self, settings: &RecordSettings) {
        // A setting that the text lacks keeps its value in `wanted`, so the comparisons leave it as it is.
        let mut wanted = *self;
        wanted.set(settings);
        self.payloads = self.payloads.min(wanted.payloads);
        self.targets = self.targets.min(wanted.targets);
        self.durable = self.durable.max(wanted.durable);
    }
}
