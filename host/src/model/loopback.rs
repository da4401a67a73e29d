//! Whether a host is this machine.

use std::net::IpAddr;

/// Whether a host (`HOST` or `HOST:PORT`) is a loopback address or `localhost`.
pub fn is_loopback_host(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    name == "localhost"
        || name
            .parse::<IpAddr>()
            .is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_is_loopback() {
        for host in [
            "localhost",
            "localhost:1",
            "127.0.0.1:5000",
            "127.9.9.9",
            "[::1]:5000",
        ] {
            assert!(is_loopback_host(host), "{host}");
        }
        for host in [
            "ghcr.io",
            "127.0.0.1.evil.com",
            "localhost.evil.com:1",
            "0.0.0.0",
            "10.0.0.1",
            "[::2]:1",
            "",
        ] {
            assert!(!is_loopback_host(host), "{host}");
        }
    }
}
