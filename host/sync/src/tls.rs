//! TLS for the PostgreSQL client, by rustls: the server's certificate is always checked.

use std::future::Future;
use std::io;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use tokio::net::TcpStream;
use tokio_postgres::tls::TlsConnect;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

use crate::address::Trust;
use crate::pin::Pinned;
use crate::stream::Bounded;
use throughline_sync_wire::{Fault, FaultKind};

/// Makes the handshake with one server.
pub(crate) struct Tls {
    connector: TlsConnector,
    name: ServerName<'static>,
    overrun: Arc<AtomicBool>,
}

impl Tls {
    pub(crate) fn new(name: &str, trust: &Trust, overrun: Arc<AtomicBool>) -> Result<Self, Fault> {
        let bad = |message: String, hint: &str| Fault::new(FaultKind::Certificate, message, hint);
        let provider = Arc::new(default_provider());
        let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .map_err(|error| bad(format!("TLS cannot be used: {error}"), "install throughline-sync again"))?;
        let config = match trust {
            Trust::Pinned(digest) => builder
                .dangerous()
                .with_custom_certificate_verifier(Arc::new(Pinned { digest: *digest, provider }))
                .with_no_client_auth(),
            Trust::Authority(file) => builder.with_root_certificates(authority(file)?).with_no_client_auth(),
            Trust::System | Trust::Local => {
                let mut roots = RootCertStore::empty();
                roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
                builder.with_root_certificates(roots).with_no_client_auth()
            }
        };
        let name = ServerName::try_from(name.to_owned())
            .map_err(|_| bad("the server's name is none that a certificate can have".into(), "correct the address"))?;
        Ok(Self { connector: TlsConnector::from(Arc::new(config)), name, overrun })
    }
}

fn authority(file: &Path) -> Result<RootCertStore, Fault> {
    let bad = |what: String| {
        Fault::new(
            FaultKind::Certificate,
            format!("{}: {what}", file.display()),
            "sslrootcert names a file of certificates in PEM",
        )
    };
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(file).map_err(|error| bad(error.to_string()))? {
        let certificate = certificate.map_err(|error| bad(error.to_string()))?;
        roots.add(certificate).map_err(|error| bad(error.to_string()))?;
    }
    if roots.is_empty() { Err(bad("it has no certificate".into())) } else { Ok(roots) }
}

impl TlsConnect<TcpStream> for Tls {
    type Stream = Bounded<TlsStream<TcpStream>>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Self::Stream>> + Send>>;

    fn connect(self, stream: TcpStream) -> Self::Future {
        Box::pin(async move {
            let stream = self.connector.connect(self.name, stream).await?;
            Ok(Bounded::new(stream, self.overrun))
        })
    }
}
