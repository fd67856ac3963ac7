//! Server addresses: https, or plain http on this machine only, so that no key and no text crosses a network
//! unencrypted.

use std::net::{IpAddr, Ipv6Addr};

/// A validated base URL, such as `https://api.openai.com/v1`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// The URL without a trailing slash.
    pub url: String,
    /// The host and port as written in the URL.
    pub authority: String,
    /// Whether the host is this machine. If so, no proxy is used.
    pub is_loopback: bool,
}

/// The longest accepted URL, in bytes.
const MAX_URL_BYTES: usize = 2_000;

impl Endpoint {
    /// Parses a base URL. Errors say what is wrong but never quote the URL, since it may contain a key.
    ///
    /// Accepts only URLs that every parser reads the same way, so that the host checked here is the host that is
    /// connected to.
    pub fn parse(url: &str) -> Result<Self, &'static str> {
        if url.len() > MAX_URL_BYTES {
            return Err("it is too long");
        }
        let (is_secure, rest) = match url.split_once("://") {
            Some(("https", rest)) => (true, rest),
            Some(("http", rest)) => (false, rest),
            _ => return Err("it must begin with https:// (or, on this machine, with http://)"),
        };
        let (authority, path) = rest.find('/').map_or((rest, ""), |slash| rest.split_at(slash));
        if authority.contains('@') {
            return Err("it contains a user name or a password; keys must come from the environment");
        }
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-._~".contains(c);
        if path.contains(['?', '#']) {
            return Err("it has a query or a fragment");
        }
        if !path.chars().all(|c| is_plain(c) || "/:".contains(c)) || path.split('/').any(|part| part == "..") {
            return Err("its path contains characters other than letters, digits and -._~:/");
        }
        let (host, port) = if let Some(bracketed) = authority.strip_prefix('[') {
            let (address, port) = bracketed.split_once(']').ok_or("its host is not a valid address")?;
            let address: Ipv6Addr = address.parse().map_err(|_| "its host is not a valid address")?;
            (Host::Address(address.into()), port.strip_prefix(':').or(port.is_empty().then_some("443")))
        } else {
            let (name, port) = authority.split_once(':').unwrap_or((authority, "443"));
            let is_name = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "-.".contains(c));
            if !is_name {
                return Err("its host is neither a name nor an address");
            }
            (name.parse().map_or(Host::Name(name), Host::Address), Some(port))
        };
        if !port
            .is_some_and(|port| port.bytes().all(|byte| byte.is_ascii_digit()) && port.parse::<u16>().is_ok_and(|n| n > 0))
        {
            return Err("its port is not a number from 1 to 65535");
        }
        let is_loopback = match host {
            Host::Address(address) => address.is_loopback(),
            Host::Name(name) => name.eq_ignore_ascii_case("localhost"),
        };
        if !is_secure && !is_loopback {
            return Err("plain http is allowed only for this machine (localhost, 127.0.0.1, [::1]); use https");
        }
        Ok(Self { url: url.trim_end_matches('/').to_owned(), authority: authority.to_owned(), is_loopback })
    }
}

enum Host<'a> {
    Name(&'a str),
    Address(IpAddr),
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn https_anywhere_and_http_at_home() {
        for (url, is_loopback) in [
            ("https://api.openai.com/v1", false),
            ("https://example.org:8443/a/b-c_d~e.f/", false),
            ("https://127.0.0.1", true),
            ("http://127.0.0.1:11434/v1", true),
            ("http://127.9.9.9/v1", true),
            ("http://localhost:1", true),
            ("http://LocalHost", true),
            ("http://[::1]:8080/v1", true),
            ("https://[2001:db8::1]/v1", false),
        ] {
            assert_eq!(Endpoint::parse(url).map(|endpoint| endpoint.is_loopback), Ok(is_loopback), "{url}");
        }
    }

    #[test]
    fn anything_else_is_refused() {
        for url in [
            "",
            "api.openai.com",
            "ftp://localhost",
            "HTTPS//x",
            "http://example.org/v1",
            "http://localhost.example.org",
            "http://127.0.0.1.example.org",
            "http://0.0.0.0:1",
            "http://192.168.1.2/v1",
            "http://[::ffff:8.8.8.8]/",
            "https://user:secret@example.org",
            "http://localhost\\@example.org",
            "http://localhost@example.org",
            "https://example.org?key=1",
            "https://example.org/v1?key=1",
            "https://example.org/v1#a",
            "https://example.org/../x",
            "https://example.org/a b",
            "https://example.org/\r\nx-key: 1",
            "https://example.org:0",
            "https://example.org:99999",
            "https://example.org:+1",
            "https://example.org:",
            "https://[::1",
            "https://[::1]x",
            "https:///v1",
            "https://예시.example",
        ] {
            assert!(Endpoint::parse(url).is_err(), "{url}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_one_or_an_error(url in "(https?://)?[a-z0-9.:@/\\[\\]?#\\\\ -]{0,30}") {
            if let Ok(endpoint) = Endpoint::parse(&url) {
                prop_assert!(url.starts_with("https://") || endpoint.is_loopback);
                prop_assert!(!endpoint.url.contains(['@', '?', '#', ' ', '\\']));
            }
        }
    }
}
