//! The addresses that one call has looked up.

use std::net::IpAddr;
use std::time::{Duration, Instant};

/// Maximum names whose addresses one call caches.
const KEPT_NAMES_MAX: usize = 16;
/// How long a call caches the addresses of a name. A call may run for an hour, and services move.
const KEPT_TIME: Duration = Duration::from_secs(60);

/// A cache for the addresses that one call looked up. Its next request to the same name connects to them.
#[derive(Debug, Default)]
pub(super) struct CallAddresses(Vec<KeptName>);

#[derive(Debug)]
struct KeptName {
    name: Box<str>,
    addresses: Vec<IpAddr>,
    since: Instant,
}

impl CallAddresses {
    /// Returns the cached addresses of a name, unless they are too old.
    pub(super) fn get(&self, name: &str, now: Instant) -> Option<Vec<IpAddr>> {
        let kept = self.0.iter().find(|kept| *kept.name == *name)?;
        (now.saturating_duration_since(kept.since) < KEPT_TIME).then(|| kept.addresses.clone())
    }

    /// Caches the addresses of a name. Replaces the oldest entry if the cache is full.
    pub(super) fn keep(&mut self, name: &str, addresses: &[IpAddr], now: Instant) {
        self.0.retain(|kept| *kept.name != *name);
        if self.0.len() == KEPT_NAMES_MAX {
            self.0.remove(0);
        }
        self.0.push(KeptName { name: name.into(), addresses: addresses.to_vec(), since: now });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    #[test]
    fn a_call_caches_a_few_names_for_a_minute() {
        let (mut kept, now) = (CallAddresses::default(), Instant::now());
        let address = [IpAddr::from(Ipv4Addr::LOCALHOST)];
        for number in 0..=KEPT_NAMES_MAX {
            kept.keep(&format!("{number}.test"), &address, now);
        }
        assert_eq!(kept.get("0.test", now), None, "the oldest name was removed");
        assert_eq!(kept.get("1.test", now).as_deref(), Some(&address[..]));
        assert_eq!(kept.get("1.test", now + KEPT_TIME), None);
        kept.keep("1.test", &[], now + KEPT_TIME);
        assert_eq!(kept.get("1.test", now + KEPT_TIME), Some(Vec::new()));
        assert_eq!(kept.0.len(), KEPT_NAMES_MAX);
    }
}
