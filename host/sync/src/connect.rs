//! Connects to a server: a socket, a loopback address, or TLS.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::net::TcpStream;
use tokio_postgres::{Client, NoTls};

use crate::address::{Address, Endpoint, Trust};
use crate::fault;
use crate::stream::Bounded;
use crate::tls::Tls;
use throughline_sync_wire::Fault;

/// A connection.
pub(crate) struct Connected {
    pub(crate) client: Client,
    /// The server, for messages.
    pub(crate) server: String,
    /// The longest that one request may take.
    pub(crate) timeout: Duration,
    overrun: Arc<AtomicBool>,
}

impl Connected {
    /// Connects, for requests that each take at most `timeout`.
    pub(crate) async fn new(address: &Address, timeout: Duration) -> Result<Self, Fault> {
        let server = address.describe();
        let overrun = Arc::new(AtomicBool::new(false));
        let connecting = connect(address, &server, &overrun);
        let connected = tokio::time::timeout(timeout, connecting).await;
        let slow = || fault::slow(&server, timeout.as_millis());
        let client = match connected {
            Ok(Ok(client)) => client,
            Ok(Err(_)) if overrun.load(Ordering::Relaxed) => {
                return Err(fault::invalid_answer("a message is too long", &server));
            }
            Ok(Err(error)) => return Err(error),
            Err(_) => return Err(slow()),
        };
        Ok(Self { client, server, timeout, overrun })
    }

    /// Waits for an answer, and explains why there is none.
    pub(crate) async fn ask<T>(&self, asked: impl Future<Output = Result<T, tokio_postgres::Error>>) -> Result<T, Fault> {
        match tokio::time::timeout(self.timeout, asked).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(error)) => Err(self.explain(&error)),
            Err(_) => Err(fault::slow(&self.server, self.timeout.as_millis())),
        }
    }

    /// Explains an error.
    pub(crate) fn explain(&self, error: &tokio_postgres::Error) -> Fault {
        if self.overrun.load(Ordering::Relaxed) {
            return fault::invalid_answer("a message is too long", &self.server);
        }
        fault::of(error, &self.server)
    }

    /// Reports that the server says what cannot be.
    pub(crate) fn invalid_answer(&self, what: &str) -> Fault {
        fault::invalid_answer(what, &self.server)
    }
}

async fn connect(address: &Address, server: &str, overrun: &Arc<AtomicBool>) -> Result<Client, Fault> {
    let overrun = Arc::clone(overrun);
    let explain = |error: tokio_postgres::Error| fault::of(&error, server);
    match (&address.endpoint, &address.trust) {
        #[cfg(unix)]
        (Endpoint::Unix(path), _) => {
            let stream =
                tokio::net::UnixStream::connect(path).await.map_err(|error| fault::of_connecting(&error, server))?;
            let stream = Bounded::new(stream, overrun);
            let (client, connection) = address.config.connect_raw(stream, NoTls).await.map_err(explain)?;
            tokio::spawn(connection);
            Ok(client)
        }
        (Endpoint::Tcp(name, port), trust) => {
            let stream =
                TcpStream::connect((name.as_str(), *port)).await.map_err(|error| fault::of_connecting(&error, server))?;
            // Requests are small and each is waited for.
            let _ = stream.set_nodelay(true);
            if *trust == Trust::Local {
                let stream = Bounded::new(stream, overrun);
                let (client, connection) = address.config.connect_raw(stream, NoTls).await.map_err(explain)?;
                tokio::spawn(connection);
                return Ok(client);
            }
            let tls = Tls::new(name, trust, overrun)?;
            let (client, connection) = address.config.connect_raw(stream, tls).await.map_err(explain)?;
            tokio::spawn(connection);
            Ok(client)
        }
    }
}
