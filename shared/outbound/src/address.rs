//! Which addresses are the public internet.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Ranges of IPv4 that are not: IANA's special-purpose registry, and what clouds keep for themselves.
const REFUSED_V4: &[(Ipv4Addr, u32, &str)] = &[
    (Ipv4Addr::UNSPECIFIED, 8, "this network"),
    (Ipv4Addr::new(10, 0, 0, 0), 8, "a private network"),
    (Ipv4Addr::new(100, 64, 0, 0), 10, "carrier-grade NAT"),
    (Ipv4Addr::new(127, 0, 0, 0), 8, "loopback"),
    (Ipv4Addr::new(168, 63, 129, 16), 32, "a cloud's own services"),
    (Ipv4Addr::new(169, 254, 0, 0), 16, "link-local and instance metadata"),
    (Ipv4Addr::new(172, 16, 0, 0), 12, "a private network"),
    (Ipv4Addr::new(192, 0, 0, 0), 24, "protocol assignments"),
    (Ipv4Addr::new(192, 0, 2, 0), 24, "documentation"),
    (Ipv4Addr::new(192, 31, 196, 0), 24, "AS112"),
    (Ipv4Addr::new(192, 52, 193, 0), 24, "AMT"),
    (Ipv4Addr::new(192, 88, 99, 0), 24, "6to4 relays"),
    (Ipv4Addr::new(192, 168, 0, 0), 16, "a private network"),
    (Ipv4Addr::new(192, 175, 48, 0), 24, "AS112"),
    (Ipv4Addr::new(198, 18, 0, 0), 15, "benchmarking"),
    (Ipv4Addr::new(198, 51, 100, 0), 24, "documentation"),
    (Ipv4Addr::new(203, 0, 113, 0), 24, "documentation"),
    (Ipv4Addr::new(224, 0, 0, 0), 4, "multicast"),
    (Ipv4Addr::new(240, 0, 0, 0), 4, "reserved"),
];

/// Ranges inside the global unicast range of IPv6, `2000::/3`, that are not the internet either.
const REFUSED_V6: &[(Ipv6Addr, u32, &str)] = &[
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23, "protocol assignments, Teredo and ORCHID"),
    (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0), 32, "documentation"),
    (Ipv6Addr::new(0x2002, 0, 0, 0, 0, 0, 0, 0), 16, "6to4"),
    (Ipv6Addr::new(0x2620, 0x4f, 0x8000, 0, 0, 0, 0, 0), 48, "AS112"),
    (Ipv6Addr::new(0x3ffe, 0, 0, 0, 0, 0, 0, 0), 16, "the former 6bone"),
    (Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20, "documentation"),
];

/// Whether `address` is one of the public internet.
///
/// # Errors
/// What it is instead. An IPv6 address that carries an IPv4 one is refused whatever that is: no public server has only
/// such an address, and each of these forms is a way around the table above it.
pub fn vet(address: IpAddr) -> Result<(), &'static str> {
    match address {
        IpAddr::V4(address) => vet_v4(address),
        IpAddr::V6(address) => vet_v6(address),
    }
}

fn vet_v4(address: Ipv4Addr) -> Result<(), &'static str> {
    let bits = address.to_bits();
    let found = REFUSED_V4.iter().find(|(base, length, _)| (bits ^ base.to_bits()) >> (32 - length) == 0);
    found.map_or(Ok(()), |(_, _, what)| Err(what))
}

fn vet_v6(address: Ipv6Addr) -> Result<(), &'static str> {
    let bits = address.to_bits();
    let within = |base: Ipv6Addr, length: u32| (bits ^ base.to_bits()) >> (128 - length) == 0;
    if !within(Ipv6Addr::new(0x2000, 0, 0, 0, 0, 0, 0, 0), 3) {
        return Err(special_v6(address));
    }
    let found = REFUSED_V6.iter().find(|(base, length, _)| within(*base, *length));
    found.map_or(Ok(()), |(_, _, what)| Err(what))
}

/// What lies outside the global unicast range, for whoever is told.
fn special_v6(address: Ipv6Addr) -> &'static str {
    match address.segments() {
        [0, 0, 0, 0, 0, 0, 0, 0] => "the unspecified address",
        [0, 0, 0, 0, 0, 0, 0, 1] => "loopback",
        [0, 0, 0, 0, 0, 0xffff, ..] => "an IPv4 address in IPv6 clothes",
        [0, 0, 0, 0, ..] => "an IPv4 address in IPv6 clothes, or reserved",
        [0x64, 0xff9b, ..] => "NAT64",
        [0x100, 0, 0, 0, ..] => "discard-only",
        [first, ..] if first & 0xfe00 == 0xfc00 => "a private network (unique local)",
        [first, ..] if first & 0xffc0 == 0xfe80 => "link-local",
        [first, ..] if first & 0xffc0 == 0xfec0 => "site-local",
        [first, ..] if first & 0xff00 == 0xff00 => "multicast",
        _ => "outside the global unicast range",
    }
}
