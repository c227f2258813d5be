//! What a record keeps of a call, and when it counts as written.
//!
//! It must not know what a record looks like, nor where it is kept.

/// What a record keeps of arguments and outputs. A greater one keeps more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Payloads {
    /// Their digest.
    Digest,
    /// All of them.
    Keep,
}

impl Payloads {
    /// Both words, from the one that keeps less.
    pub const ALL: [Self; 2] = [Self::Digest, Self::Keep];

    /// The word that policies use.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Digest => "digest",
            Self::Keep => "keep",
        }
    }
}

/// What a record survives before it takes effect. A greater one survives more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Durability {
    /// The end of the process.
    Process,
    /// The end of the machine's power: it is flushed to the disk.
    Machine,
}

impl Durability {
    /// Both words, from the one that survives less.
    pub const ALL: [Self; 2] = [Self::Process, Self::Machine];

    /// The word that policies use.
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
    /// What a record survives before it takes effect.
    pub durable: Durability,
}

impl Default for RecordKeeping {
    /// What holds where a policy says nothing.
    fn default() -> Self {
        Self { payloads: Payloads::Digest, durable: Durability::Process }
    }
}

/// What one text says under `[record]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct RecordSettings {
    pub(crate) payloads: Option<Payloads>,
    pub(crate) durable: Option<Durability>,
}

impl RecordKeeping {
    /// As a trusted text says.
    pub(crate) fn set(&mut self, settings: &RecordSettings) {
        self.payloads = settings.payloads.unwrap_or(self.payloads);
        self.durable = settings.durable.unwrap_or(self.durable);
    }

    /// As an untrusted text says, where that keeps less or survives more.
    pub(crate) fn narrow(&mut self, settings: &RecordSettings) {
        let mut wanted = *self;
        wanted.set(settings);
        self.payloads = self.payloads.min(wanted.payloads);
        self.durable = self.durable.max(wanted.durable);
    }
}
