//! Which addresses a connection may go to.
//!
//! Only addresses that the IANA registries list as public internet are permitted. Any other address needs a binding
//! that names it. This file must not know how an address was resolved.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Shortest prefix of an IPv4 range: one network of the size that a large company has.
const LEAST_BITS_V4: u8 = 8;
/// Shortest prefix of an IPv6 range. A shorter one would mix private and public addresses.
const LEAST_BITS_V6: u8 = 16;

/// Addresses that are not public internet by the IANA IPv4 Special-Purpose Address Registry
/// (<https://www.iana.org/assignments/iana-ipv4-special-registry/>), RFC 5771 for multicast, and one address of a
/// cloud. Ranges that are assigned to one protocol are refused as a whole, even where the registry calls them
/// reachable, because no web server uses them.
const SPECIAL_V4: [(Ipv4Addr, u8); 20] = [
    (Ipv4Addr::new(0, 0, 0, 0), 8),        // This network.
    (Ipv4Addr::new(10, 0, 0, 0), 8),       // Private use.
    (Ipv4Addr::new(100, 64, 0, 0), 10),    // Shared by a provider and its customers; 100.100.100.200 of Alibaba.
    (Ipv4Addr::new(127, 0, 0, 0), 8),      // Loopback.
    (Ipv4Addr::new(168, 63, 129, 16), 32), // Global by the registries, but on Azure the host of the machine itself.
    (Ipv4Addr::new(169, 254, 0, 0), 16),   // Link-local; 169.254.169.254 of most clouds.
    (Ipv4Addr::new(172, 16, 0, 0), 12),    // Private use.
    (Ipv4Addr::new(192, 0, 0, 0), 24),     // Protocol assignments; 192.0.0.192 of Oracle.
    (Ipv4Addr::new(192, 0, 2, 0), 24),     // Documentation.
    (Ipv4Addr::new(192, 31, 196, 0), 24),  // AS112: answers reverse lookups that should not leave a network.
    (Ipv4Addr::new(192, 52, 193, 0), 24),  // Automatic multicast tunnelling.
    (Ipv4Addr::new(192, 88, 99, 0), 24),   // Relays of 6to4, which is deprecated.
    (Ipv4Addr::new(192, 168, 0, 0), 16),   // Private use.
    (Ipv4Addr::new(192, 175, 48, 0), 24),  // AS112.
    (Ipv4Addr::new(198, 18, 0, 0), 15),    // Benchmarking.
    (Ipv4Addr::new(198, 51, 100, 0), 24),  // Documentation.
    (Ipv4Addr::new(203, 0, 113, 0), 24),   // Documentation.
    (Ipv4Addr::new(224, 0, 0, 0), 4),      // Multicast.
    (Ipv4Addr::new(240, 0, 0, 0), 4),      // Reserved.
    (Ipv4Addr::BROADCAST, 32),             // All hosts of the network.
];

/// Global unicast addresses by the IANA IPv6 Address Space registry. All others are refused: loopback, unspecified,
/// mapped and compatible IPv4 addresses, NAT64 (`64:ff9b::/96`, `64:ff9b:1::/48`), discard-only, segment routing
/// (`5f00::/16`), unique local (`fc00::/7`, with `fd00:ec2::254` of Amazon), link-local and multicast.
const UNICAST_V6: (Ipv6Addr, u8) = (Ipv6Addr::new(0x2000, 0, 0, 0, 0, 0, 0, 0), 3);

/// The global unicast addresses that are not public internet, by the IANA IPv6 Special-Purpose Address Registry
/// (<https://www.iana.org/assignments/iana-ipv6-special-registry/>).
const SPECIAL_V6: [(Ipv6Addr, u8); 5] = [
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23), // Protocol assignments: Teredo, ORCHID, benchmarking and others.
    (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0), 32), // Documentation.
    (Ipv6Addr::new(0x2002, 0, 0, 0, 0, 0, 0, 0), 16), // 6to4: each contains an IPv4 address.
    (Ipv6Addr::new(0x2620, 0x4f, 0x8000, 0, 0, 0, 0, 0), 48), // AS112.
    (Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20), // Documentation.
];

/// Returns whether an address is public internet by the IANA special-purpose registries. Addresses that embed an IPv4
/// address (mapped, 6to4, NAT64, Teredo) are never public.
pub fn is_global(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => !SPECIAL_V4.iter().any(|(first, bits)| shares_v4(*first, address, *bits)),
        IpAddr::V6(address) => {
            let (unicast, bits) = UNICAST_V6;
            let special = SPECIAL_V6.iter().any(|(first, bits)| shares_v6(*first, address, *bits));
            shares_v6(unicast, address, bits) && !special
        }
    }
}

fn shares_v4(first: Ipv4Addr, second: Ipv4Addr, bits: u8) -> bool {
    let differing = first.to_bits() ^ second.to_bits();
    differing.leading_zeros() >= u32::from(bits)
}

fn shares_v6(first: Ipv6Addr, second: Ipv6Addr, bits: u8) -> bool {
    let differing = first.to_bits() ^ second.to_bits();
    differing.leading_zeros() >= u32::from(bits)
}

/// A range of addresses that a policy names, such as `10.0.0.0/8` or `127.0.0.1`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AddressRange {
    first: IpAddr,
    bits: u8,
}

/// Why a text is not an address range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// It is not an address, or the text after the slash is not a prefix length.
    #[error("invalid address or address range")]
    Spelling,
    /// The address has bits set after the prefix.
    #[error("the address has bits set after the prefix")]
    HostBits,
    /// The range covers addresses of many owners.
    #[error("the range is too broad")]
    TooBroad,
    /// It is an IPv4-mapped IPv6 address.
    #[error("this is an IPv4-mapped IPv6 address")]
    Mapped,
}

impl AddressError {
    /// Returns how to fix it.
    pub fn remedy(self) -> &'static str {
        match self {
            Self::Spelling => "write an address such as \"127.0.0.1\" or \"::1\", or a range such as \"10.0.0.0/8\"",
            Self::HostBits => "write the first address of the range, such as \"10.0.0.0/8\"",
            Self::TooBroad => "write a prefix of at least /8 for IPv4 and /16 for IPv6",
            Self::Mapped => "write the IPv4 address",
        }
    }
}

impl AddressRange {
    /// Parses an address, or a range as `first address/bits`.
    ///
    /// # Errors
    ///
    /// The text is neither, has bits set after the prefix, or covers too many addresses.
    pub fn new(text: &str) -> Result<Self, AddressError> {
        let (address, bits) = match text.split_once('/') {
            Some((address, bits)) => (address, Some(bits)),
            None => (text, None),
        };
        let first: IpAddr = address.parse().map_err(|_| AddressError::Spelling)?;
        let (whole, least) = match first {
            IpAddr::V4(_) => (32, LEAST_BITS_V4),
            IpAddr::V6(_) => (128, LEAST_BITS_V6),
        };
        let bits = bits.map_or(Ok(whole), |bits| read_bits(bits, whole))?;
        if bits < least {
            return Err(AddressError::TooBroad);
        }
        // `contains` compares canonical addresses, so a mapped range would never match.
        if first.to_canonical() != first {
            return Err(AddressError::Mapped);
        }
        let open = match first {
            IpAddr::V4(first) => first.to_bits().trailing_zeros() < u32::from(whole - bits),
            IpAddr::V6(first) => first.to_bits().trailing_zeros() < u32::from(whole - bits),
        };
        if open { Err(AddressError::HostBits) } else { Ok(Self { first, bits }) }
    }

    /// Returns whether no address of the range is public internet.
    pub(crate) fn is_private(&self) -> bool {
        match self.first {
            IpAddr::V4(first) => {
                // The range must be within a special one. A range that only overlaps one has public addresses, too.
                SPECIAL_V4.iter().any(|(special, bits)| *bits <= self.bits && shares_v4(*special, first, *bits))
            }
            IpAddr::V6(first) => {
                let (unicast, bits) = UNICAST_V6;
                let special =
                    SPECIAL_V6.iter().any(|(special, bits)| *bits <= self.bits && shares_v6(*special, first, *bits));
                // No range is wider than this prefix, so each is entirely inside or outside of global unicast.
                special || !shares_v6(unicast, first, bits)
            }
        }
    }

    /// Returns whether the range contains `address`. An IPv4-mapped IPv6 address counts as the IPv4 address.
    pub fn contains(&self, address: IpAddr) -> bool {
        match (self.first, address.to_canonical()) {
            (IpAddr::V4(first), IpAddr::V4(address)) => shares_v4(first, address, self.bits),
            (IpAddr::V6(first), IpAddr::V6(address)) => shares_v6(first, address, self.bits),
            (IpAddr::V4(_), IpAddr::V6(_)) | (IpAddr::V6(_), IpAddr::V4(_)) => false,
        }
    }
}

/// Parses a prefix length in plain decimal.
fn read_bits(text: &str, whole: u8) -> Result<u8, AddressError> {
    // `parse` also accepts a plus sign and leading zeros.
    let plain = text.bytes().all(|byte| byte.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
    let bits = text.parse().ok().filter(|bits| plain && *bits <= whole);
    bits.ok_or(AddressError::Spelling)
}

impl fmt::Display for AddressRange {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whole = if self.first.is_ipv4() { 32 } else { 128 };
        if self.bits == whole { self.first.fmt(formatter) } else { write!(formatter, "{}/{}", self.first, self.bits) }
    }
}
