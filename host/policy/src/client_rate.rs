//! How many tool calls one principal may send to a server over HTTP.
//!
//! A trusted text sets a number. An untrusted one can only lower it. This file must not know what the server does if no
//! text sets one.

/// The numbers that one text sets.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ClientRateSettings {
    pub(crate) calls_per_second: Option<u32>,
    pub(crate) calls_burst: Option<u32>,
}

/// How many tool calls one principal may send to a server over HTTP, as far as the policy says so.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClientRate {
    calls_per_second: LayeredNumber,
    calls_burst: LayeredNumber,
}

/// A number of the trusted texts, and the lowest one of the others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct LayeredNumber {
    set: Option<u32>,
    at_most: Option<u32>,
}

impl LayeredNumber {
    fn narrow(&mut self, number: Option<u32>) {
        self.at_most = self.at_most.into_iter().chain(number).min();
    }

    fn or(self, default: u32) -> u32 {
        // An untrusted text cannot raise the default of the server, either.
        let set = self.set.unwrap_or(default);
        self.at_most.map_or(set, |at_most| at_most.min(set))
    }
}

impl ClientRate {
    /// Returns the maximum average calls in a second. `default` counts if no trusted text sets a number.
    pub fn calls_per_second(&self, default: u32) -> u32 {
        self.calls_per_second.or(default)
    }

    /// Returns the maximum calls at once. `default` counts if no trusted text sets a number.
    pub fn calls_burst(&self, default: u32) -> u32 {
        self.calls_burst.or(default)
    }

    /// Applies the settings of a trusted text.
    pub(crate) fn set(&mut self, settings: &ClientRateSettings) {
        self.calls_per_second.set = settings.calls_per_second.or(self.calls_per_second.set);
        self.calls_burst.set = settings.calls_burst.or(self.calls_burst.set);
    }

    /// Applies the settings of an untrusted text that are lower.
    pub(crate) fn narrow(&mut self, settings: &ClientRateSettings) {
        self.calls_per_second.narrow(settings.calls_per_second);
        self.calls_burst.narrow(settings.calls_burst);
    }
}
