//! Trusted certificates: the machine's own, so that an administrator's choices apply, or Mozilla's if the machine has
//! none.

use std::sync::Arc;

use throughline_embedder_wire::{Fault, FaultKind};
use ureq::tls::{Certificate, RootCerts, TlsConfig};

/// Environment variables that replace the machine's certificates.
const VARIABLES: [&str; 2] = ["SSL_CERT_FILE", "SSL_CERT_DIR"];

/// Returns the TLS configuration for connections.
pub(crate) fn config() -> Result<TlsConfig, Fault> {
    let found = rustls_native_certs::load_native_certs().certs;
    let roots = if found.is_empty() {
        if let Some(name) = VARIABLES.iter().find(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty())) {
            return Err(Fault::permanent(FaultKind::Request, format!("{name} does not point to readable certificates")));
        }
        RootCerts::WebPki
    } else {
        let certificates: Vec<_> = found.iter().map(|der| Certificate::from_der(der).to_owned()).collect();
        RootCerts::Specific(Arc::new(certificates))
    };
    Ok(TlsConfig::builder().root_certs(roots).build())
}
