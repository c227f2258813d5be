//! Describes the side effects of a call that ended without an answer, for the model and for the audit log.

use crate::text::{OneLine, cut, is_zero};
use portcullis_sandbox::{Effects, Traffic};
use serde::Serialize;
use std::collections::BTreeMap;

/// Maximum hosts that are named to a model, each with its number of requests.
const HOSTS_TOLD_MAX: usize = 5;

/// Maximum length of a host name that is shown, in bytes. RFC 1035 allows no longer name.
const HOST_BYTES_MAX: usize = 253;

/// The changes that a call made in its directories, as the audit log stores them.
#[derive(Serialize)]
pub(super) struct EffectsLine {
    #[serde(skip_serializing_if = "is_zero")]
    created: u64,
    #[serde(skip_serializing_if = "is_zero")]
    changed: u64,
    #[serde(skip_serializing_if = "is_zero")]
    removed: u64,
    #[serde(skip_serializing_if = "is_zero")]
    renamed: u64,
    #[serde(skip_serializing_if = "is_zero")]
    directories: u64,
    #[serde(skip_serializing_if = "is_zero")]
    written_bytes: u64,
}

impl EffectsLine {
    /// Returns the entry's part for a call that changed something, and `None` for any other call.
    pub(super) fn of(effects: &Effects) -> Option<Self> {
        let Effects { created, changed, removed, renamed, directories, written_bytes } = *effects;
        let line = Self { created, changed, removed, renamed, directories, written_bytes };
        (!effects.is_empty()).then_some(line)
    }
}

/// Returns one sentence about the side effects, or `None` if there are none.
pub(super) fn told(effects: &Effects, traffic: &Traffic) -> Option<String> {
    let mut done = files(effects);
    done.extend(requests(traffic));
    (!done.is_empty()).then(|| format!("Side effects before it ended: {}.", done.join(", ")))
}

fn files(effects: &Effects) -> Vec<String> {
    let Effects { created, changed, removed, renamed, directories, written_bytes } = *effects;
    let mut done: Vec<String> = [
        ("created", created, "file", "files"),
        ("changed", changed, "file", "files"),
        ("made", directories, "directory", "directories"),
        ("renamed", renamed, "name", "names"),
        ("removed", removed, "file or directory", "files or directories"),
    ]
    .into_iter()
    .filter(|(_, count, ..)| *count > 0)
    .map(|(verb, count, one, many)| format!("{verb} {count} {}", if count == 1 { one } else { many }))
    .collect();
    if written_bytes > 0 {
        done.push(format!("written {written_bytes} bytes to files"));
    }
    done
}

/// Lists the requests that a server may have received, by host.
fn requests(traffic: &Traffic) -> Vec<String> {
    let mut hosts: BTreeMap<&str, u64> = BTreeMap::new();
    for exchange in traffic.exchanges.iter().filter(|exchange| exchange.is_sent) {
        *hosts.entry(host(&exchange.url)).or_default() += 1;
    }
    let others: u64 = hosts.values().skip(HOSTS_TOLD_MAX).sum::<u64>() + traffic.more;
    let mut done: Vec<String> = hosts
        .iter()
        .take(HOSTS_TOLD_MAX)
        .map(|(host, count)| {
            let requests = if *count == 1 { "request" } else { "requests" };
            format!("sent {count} {requests} to {}", OneLine(cut(host, HOST_BYTES_MAX)))
        })
        .collect();
    if others > 0 {
        done.push(format!("made {others} further requests"));
    }
    done
}

/// Returns the host of a URL, with its port if it has one.
fn host(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.split(['/', '?', '#']).next().unwrap_or(rest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use portcullis_sandbox::Exchange;

    fn exchange(url: &str, is_sent: bool) -> Exchange {
        let (method, status, error) = ("GET".to_owned(), None, None);
        Exchange { method, url: url.to_owned(), status, error, is_sent, sent_bytes: 0, received_bytes: 0 }
    }

    #[test]
    fn side_effects_are_listed_in_one_sentence() {
        let effects = Effects { created: 2, written_bytes: 1024, ..Effects::default() };
        let one = exchange("https://api.test/x?y", true);
        let refused = exchange("https://no.test/", false);
        let traffic = Traffic { exchanges: vec![one, refused], more: 0, redactions: 0 };
        let told = told(&effects, &traffic).unwrap();
        let expected =
            "Side effects before it ended: created 2 files, written 1024 bytes to files, sent 1 request to api.test.";
        assert_eq!(told, expected);
        assert_eq!(super::told(&Effects::default(), &Traffic::default()), None);
    }
}
