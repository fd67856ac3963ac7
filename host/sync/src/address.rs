//! The address of a server: a PostgreSQL URL, and how its certificate is checked.

use std::path::PathBuf;
use std::str::FromStr as _;

use percent_encoding::percent_decode_str;
use throughline_sync_wire::{Fault, FaultKind};
use tokio_postgres::config::{Host, SslMode};

/// A server's address.
#[derive(Debug, Clone)]
pub(crate) struct Address {
    /// For the client.
    pub(crate) config: tokio_postgres::Config,
    /// Where to connect to.
    pub(crate) endpoint: Endpoint,
    /// How the certificate is checked.
    pub(crate) trust: Trust,
}

/// Where a server listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Endpoint {
    /// A name or address, and a port.
    Tcp(String, u16),
    /// A socket in the file system, which Windows does not have.
    #[cfg(unix)]
    Unix(PathBuf),
}

/// How a server is recognized.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Trust {
    /// By an authority that this system trusts.
    System,
    /// By an authority in this file, in PEM.
    Authority(PathBuf),
    /// By the SHA-256 of its certificate.
    Pinned([u8; 32]),
    /// No encryption: a socket, or a loopback address.
    Local,
}

const FORM: &str = "the form is postgres://NAME:PASSWORD@HOST:5432/DATABASE";

impl Address {
    /// Parses an address. No error quotes it, since it has a password.
    pub(crate) fn parse(url: &str) -> Result<Self, Fault> {
        let bad = |what: &str| Fault::new(FaultKind::Address, format!("the server's address cannot be used: {what}"), FORM);
        if !url.starts_with("postgres://") && !url.starts_with("postgresql://") {
            return Err(bad("it does not begin with postgres://"));
        }
        let (base, query) = url.split_once('?').unwrap_or((url, ""));
        let mut config = tokio_postgres::Config::from_str(base).map_err(|_| bad("it cannot be parsed"))?;
        let (mut mode, mut trust) = (String::new(), Trust::System);
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').ok_or_else(|| bad("a parameter has no value"))?;
            let value = percent_decode_str(value).decode_utf8().map_err(|_| bad("a parameter is not UTF-8"))?;
            match name {
                "sslmode" => mode = value.into_owned(),
                "sslrootcert" => trust = Trust::Authority(value.as_ref().into()),
                "sslpin" => {
                    trust = Trust::Pinned(digest(&value).ok_or_else(|| bad("sslpin is not a SHA-256 in hexadecimal"))?);
                }
                _ => return Err(bad("it has a parameter other than sslmode, sslrootcert and sslpin")),
            }
        }
        let port = config.get_ports().first().copied().unwrap_or(5432);
        let endpoint = match config.get_hosts() {
            [Host::Tcp(name)] => Endpoint::Tcp(name.clone(), port),
            #[cfg(unix)]
            [Host::Unix(folder)] => Endpoint::Unix(folder.join(format!(".s.PGSQL.{port}"))),
            _ => return Err(bad("it has no host, or several")),
        };
        if config.get_user().is_none() {
            return Err(bad("it has no name"));
        }
        let is_local = match &endpoint {
            #[cfg(unix)]
            Endpoint::Unix(_) => true,
            Endpoint::Tcp(name, _) => {
                name == "localhost" || name.parse::<std::net::IpAddr>().is_ok_and(|it| it.is_loopback())
            }
        };
        match mode.as_str() {
            "disable" if is_local => trust = Trust::Local,
            "disable" => return Err(bad("without TLS only this machine may be spoken to; remove sslmode=disable")),
            "" | "require" | "verify-ca" | "verify-full" => {}
            _ => return Err(bad("sslmode is neither disable nor verify-full, which is the default")),
        }
        #[cfg(unix)]
        if matches!(endpoint, Endpoint::Unix(_)) {
            trust = Trust::Local;
        }
        config.ssl_mode(if trust == Trust::Local { SslMode::Disable } else { SslMode::Require });
        config.application_name("throughline-sync");
        // Whatever others have put into other schemas is not found by an unqualified name.
        config.options("-c search_path=pg_catalog");
        Ok(Self { config, endpoint, trust })
    }

    /// Describes the address without name and password.
    pub(crate) fn describe(&self) -> String {
        match &self.endpoint {
            Endpoint::Tcp(name, port) => format!("{name}:{port}"),
            #[cfg(unix)]
            Endpoint::Unix(path) => path.display().to_string(),
        }
    }
}

fn digest(text: &str) -> Option<[u8; 32]> {
    let text: String = text.chars().filter(|c| *c != ':').collect();
    if text.len() != 64 || !text.is_ascii() {
        return None;
    }
    let mut digest = [0; 32];
    for (at, byte) in digest.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&text[2 * at..2 * at + 2], 16).ok()?;
    }
    Some(digest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encrypted_unless_it_is_this_machine() {
        let parse = |url: &str| Address::parse(url).map(|it| (it.endpoint, it.trust));
        let tcp = |name: &str, port| Endpoint::Tcp(name.into(), port);
        assert_eq!(parse("postgres://a:b@db.example/t").unwrap(), (tcp("db.example", 5432), Trust::System));
        assert_eq!(parse("postgres://a:b@db.example:7/t?sslmode=require").unwrap(), (tcp("db.example", 7), Trust::System));
        assert_eq!(parse("postgres://a@127.0.0.1/t?sslmode=disable").unwrap(), (tcp("127.0.0.1", 5432), Trust::Local));
        assert_eq!(
            parse("postgres://a@%2Ftmp%2Fx:7/t").unwrap(),
            (Endpoint::Unix("/tmp/x/.s.PGSQL.7".into()), Trust::Local)
        );
        let pin = "ab".repeat(32);
        assert_eq!(parse(&format!("postgres://a@h/t?sslpin={pin}")).unwrap().1, Trust::Pinned([0xab; 32]));
        assert_eq!(parse("postgres://a@h/t?sslrootcert=%2Fca.pem").unwrap().1, Trust::Authority("/ca.pem".into()));
    }

    #[test]
    fn what_is_refused_is_not_quoted() {
        for url in [
            "",
            "http://a:hunter2@h/t",
            "postgres://a:hunter2@h/t?sslmode=disable",
            "postgres://a:hunter2@h/t?sslmode=allow",
            "postgres://a:hunter2@h/t?sslpin=hunter2",
            "postgres://a:hunter2@h/t?options=-crole%3Dx",
            "postgres://a:hunter2@h,g/t",
            "postgres://h/t",
            "postgres://a:hunter2@h:99999/t",
            "postgres://a:hunter2@h/t?sslmode",
        ] {
            let fault = Address::parse(url).unwrap_err();
            assert_eq!(fault.kind, FaultKind::Address, "{url}");
            assert!(!fault.message.contains("hunter2"), "{url}: {}", fault.message);
        }
    }
}
