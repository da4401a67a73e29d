//! Addresses: which of them may be dialled.
//!
//! Guarantees that without a grant that names it nothing is reached that is not on the public Internet, in whatever form
//! an address is written. Numbers are those of IANA's registries of special-purpose addresses.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::IpNet;

/// Why an address is not dialled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddressFault {
    /// Loopback or private: a grant may name it.
    #[error("{0}, which only an entry under [egress] that names it opens")]
    Unnamed(&'static str),
    /// No grant opens it.
    #[error("{0}, which is never dialled")]
    Never(&'static str),
}

/// What an address is for.
enum Kind {
    Global,
    Nameable(&'static str),
    Never(&'static str),
}

/// May this address be dialled? `named`: what the operator's grant names beside the public Internet.
///
/// # Errors
/// [`AddressFault`].
pub fn judge_address(address: IpAddr, named: &[IpNet]) -> Result<(), AddressFault> {
    match kind(address) {
        Kind::Global => Ok(()),
        Kind::Nameable(_) if named.iter().any(|net| net.contains(&address)) => Ok(()),
        Kind::Nameable(what) => Err(AddressFault::Unnamed(what)),
        Kind::Never(what) => Err(AddressFault::Never(what)),
    }
}

fn kind(address: IpAddr) -> Kind {
    match address {
        IpAddr::V4(address) => kind_v4(address),
        IpAddr::V6(address) => kind_v6(address),
    }
}

fn kind_v4(address: Ipv4Addr) -> Kind {
    match address.octets() {
        [0, ..] => Kind::Never("an address of this network"),
        [127, ..] => Kind::Nameable("a loopback address"),
        [10, ..] | [172, 16..=31, ..] | [192, 168, ..] => Kind::Nameable("a private address"),
        [100, 64..=127, ..] => Kind::Nameable("an address of a carrier's own network"),
        [169, 254, ..] => Kind::Never("a link-local address"),
        [192, 0, 0, _] => Kind::Never("an address of protocols"),
        [192, 0, 2, _] | [198, 51, 100, _] | [203, 0, 113, _] => {
            Kind::Never("an address for documentation")
        }
        [192, 88, 99, _] => Kind::Never("a relay from IPv6"),
        [198, 18 | 19, ..] => Kind::Never("an address for benchmarks"),
        [224..=239, ..] => Kind::Never("a multicast address"),
        [240..=255, ..] => Kind::Never("a reserved address"),
        _ => Kind::Global,
    }
}

fn kind_v6(address: Ipv6Addr) -> Kind {
    match address.segments() {
        [0, 0, 0, 0, 0, 0, 0, 0] => Kind::Never("the unspecified address"),
        [0, 0, 0, 0, 0, 0, 0, 1] => Kind::Nameable("a loopback address"),
        [0, 0, 0, 0, 0, 0 | 0xffff, ..] | [0, 0, 0, 0, 0xffff, 0, ..] => {
            Kind::Never("an IPv6 form of an IPv4 address")
        }
        [0x64, 0xff9b, ..] => Kind::Never("an address that is translated to IPv4"),
        [0x2001, 0, ..] | [0x2002, ..] => Kind::Never("a tunnel to an IPv4 address"),
        [0x2001, 0xdb8, ..] | [0x3fff, 0..=0x0fff, ..] => {
            Kind::Never("an address for documentation")
        }
        [0x2001, 0x0001..=0x01ff, ..] => Kind::Never("an address of protocols"),
        // ISATAP: an IPv4 address at the end of any prefix.
        [.., 0 | 0x200, 0x5efe, _, _] => Kind::Never("an IPv6 form of an IPv4 address"),
        [0x2000..=0x3fff, ..] => Kind::Global,
        [0xfc00..=0xfdff, ..] => Kind::Nameable("a private address"),
        [0xfe80..=0xfeff, ..] => Kind::Never("a link-local address"),
        [0xff00..=0xffff, ..] => Kind::Never("a multicast address"),
        _ => Kind::Never("a reserved address"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(address: &str, named: &[&str]) -> Result<(), AddressFault> {
        let named: Vec<IpNet> = named.iter().map(|net| net.parse().unwrap()).collect();
        judge_address(address.parse().unwrap(), &named)
    }

    #[test]
    #[expect(clippy::too_many_lines, reason = "one table of addresses")]
    fn only_the_public_internet_is_open() {
        for open in [
            "1.1.1.1",
            "93.184.216.34",
            "100.63.255.255",
            "100.128.0.0",
            "172.15.255.255",
            "172.32.0.0",
            "192.0.1.1",
            "223.255.255.255",
            "2606:4700:4700::1111",
            "2a00:1450::1",
            "2001:4860:4860::8888",
        ] {
            assert_eq!(judged(open, &[]), Ok(()), "{open}");
        }
        for shut in [
            "0.0.0.0",
            "0.1.2.3",
            "10.0.0.5",
            "100.64.0.1",
            "100.127.255.255",
            "127.0.0.1",
            "127.255.255.254",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.8",
            "192.0.0.170",
            "192.0.2.1",
            "192.88.99.1",
            "192.168.1.1",
            "198.18.0.1",
            "198.19.255.255",
            "198.51.100.1",
            "203.0.113.9",
            "224.0.0.1",
            "239.1.1.1",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::127.0.0.1",
            "::ffff:127.0.0.1",
            "::ffff:8.8.8.8",
            "::ffff:0:127.0.0.1",
            "64:ff9b::7f00:1",
            "64:ff9b::808:808",
            "64:ff9b:1::1",
            "100::1",
            "2001::1",
            "2001:10::1",
            "2001:20::1",
            "2001:2::1",
            "2001:db8::1",
            "2002:7f00:1::",
            "2606:4700::5efe:7f00:1",
            "2606:4700::200:5efe:7f00:1",
            "3fff::1",
            "5f00::1",
            "fc00::1",
            "fd12::1",
            "fe80::1",
            "fec0::1",
            "ff02::1",
            "ff0e::1",
            "4000::1",
        ] {
            assert!(judged(shut, &[]).is_err(), "{shut}");
        }
    }

    #[test]
    fn a_grant_opens_what_it_names_and_no_more() {
        for (address, named, open) in [
            ("127.0.0.1", &["127.0.0.1/32"][..], true),
            ("127.0.0.2", &["127.0.0.1/32"], false),
            ("10.1.2.3", &["10.1.0.0/16"], true),
            ("10.2.2.3", &["10.1.0.0/16"], false),
            ("100.64.0.1", &["100.64.0.0/10"], true),
            ("::1", &["::1/128"], true),
            ("fd00::1", &["fd00::/8"], true),
            // What is never dialled is not, whatever is named.
            ("169.254.169.254", &["0.0.0.0/0"], false),
            ("0.0.0.0", &["0.0.0.0/0"], false),
            ("224.0.0.1", &["0.0.0.0/0"], false),
            ("::ffff:127.0.0.1", &["::/0"], false),
            ("64:ff9b::7f00:1", &["::/0"], false),
            ("fe80::1", &["::/0"], false),
        ] {
            assert_eq!(judged(address, named).is_ok(), open, "{address} {named:?}");
        }
    }
}
