//! The HTTP client of the programs that may use a network, `throughline-embedder` and `throughline-model`: one POST with retries,
//! a deadline and a size limit. `request` reads what such a program is asked, and writes its answer.
//!
//! No redirect is followed, only `https` leaves the machine, and no message contains a key. `deny.toml` says which programs may
//! depend on this crate.

#![forbid(unsafe_code)]

pub mod reply;
pub mod request;
mod retry;
mod tls;

use std::io;
use std::time::{Duration, Instant, SystemTime};

use throughline_embedder_wire::{Endpoint, Fault, FaultKind};
use ureq::http::{HeaderMap, HeaderValue, Response, StatusCode};
use ureq::{Agent, Body, Error};

use crate::reply::parse_error_message;

/// The maximum number of bytes read from an error response.
const MAX_ERROR_BYTES: u64 = 64 << 10;

/// How the key is sent to the server.
#[derive(Clone, Copy, Debug)]
pub enum Authorization {
    /// `Authorization: Bearer KEY`.
    Bearer,
    /// `x-goog-api-key: KEY`.
    GoogleApiKey,
    /// `x-api-key: KEY`.
    XApiKey,
}

/// How a client talks to its server.
#[derive(Clone, Copy, Debug)]
pub struct Options<'a> {
    /// The program's name, for the server's log.
    pub program: &'a str,
    /// The server's address; see [`Endpoint`].
    pub base_url: &'a str,
    /// How the key is sent.
    pub authorization: Authorization,
    /// Further headers.
    pub headers: &'a [(&'static str, &'static str)],
    /// The maximum time for one request, including retries, in milliseconds.
    pub timeout_ms: u64,
    /// The maximum number of attempts, including the first.
    pub tries: u32,
    /// The wait before the second attempt, in milliseconds. It doubles with each attempt.
    pub backoff_ms: u64,
    /// Whether to try again after the server may have done the work and charged for it.
    pub repeat_charged: bool,
}

/// A server and the settings for talking to it. It does not implement `Debug` because it holds the key.
pub struct Client {
    agent: Agent,
    endpoint: Endpoint,
    key: Option<Key>,
    headers: Vec<(&'static str, &'static str)>,
    timeout_ms: u64,
    tries: u32,
    backoff_ms: u64,
    repeat_charged: bool,
}

/// A key, ready to be sent. It does not implement `Debug`.
pub struct Key {
    /// Where the key comes from, such as the name of a variable.
    source: String,
    secret: String,
    header: Option<(&'static str, HeaderValue)>,
}

/// Why a request got no answer.
#[derive(Debug)]
pub struct PostError {
    /// What happened.
    pub fault: Fault,
    /// Whether the server may have done the work, and charged for it.
    pub may_be_charged: bool,
}

/// A failed attempt.
struct AttemptError {
    fault: Fault,
    /// Whether another attempt within this request may succeed.
    is_retryable: bool,
    /// Whether the server may have done the work.
    may_be_charged: bool,
}

impl Client {
    /// Validates the address. Makes no connection.
    pub fn new(options: &Options<'_>, key: Option<Key>) -> Result<Self, Fault> {
        let endpoint = Endpoint::parse(options.base_url)
            .map_err(|what| Fault::permanent(FaultKind::Request, format!("base_url cannot be used: {what}")))?;
        let mut config = Agent::config_builder()
            .http_status_as_error(false)
            // Never follow redirects: the key and the texts must go to the configured address and nowhere else.
            .max_redirects(0)
            .max_redirects_will_error(false)
            .https_only(!endpoint.is_loopback)
            .user_agent(format!("{}/{}", options.program, env!("CARGO_PKG_VERSION")));
        if endpoint.is_loopback {
            config = config.proxy(None);
        }
        if endpoint.url.starts_with("https:") {
            config = config.tls_config(tls::config()?);
        }
        let mut headers = options.headers.to_vec();
        headers.push(("content-type", "application/json"));
        let Options { timeout_ms, tries, backoff_ms, repeat_charged, .. } = *options;
        let agent = config.build().new_agent();
        let key = key.map(|key| key.with_header(options.authorization)).transpose()?;
        Ok(Self { agent, endpoint, key, headers, timeout_ms, tries, backoff_ms, repeat_charged })
    }

    /// Posts `body` and returns the response body, of at most `most` bytes, retrying as often as the options allow.
    pub fn post(&self, path: &str, body: &[u8], most: u64) -> Result<Vec<u8>, PostError> {
        let until = Instant::now() + Duration::from_millis(self.timeout_ms);
        let backoff = Duration::from_millis(self.backoff_ms);
        let mut tried = 1;
        let mut may_be_charged = false;
        loop {
            let mut missed = match self.attempt(path, body, most, until) {
                Ok(body) => return Ok(body),
                Err(missed) => missed,
            };
            may_be_charged |= missed.may_be_charged;
            let asked = missed.fault.retry_after_ms.map(Duration::from_millis);
            let wait = retry::backoff_delay(tried, backoff, asked, retry::random_fraction());
            let is_retryable = missed.is_retryable && (self.repeat_charged || !missed.may_be_charged);
            // Give up if the wait leaves no time for another attempt.
            if !is_retryable || tried >= self.tries || Instant::now() + wait >= until {
                if tried > 1 {
                    missed.fault.message = format!("{} (attempt {tried}, giving up)", missed.fault.message);
                }
                return Err(PostError { fault: missed.fault, may_be_charged });
            }
            std::thread::sleep(wait);
            tried += 1;
        }
    }

    /// Makes one attempt.
    fn attempt(&self, path: &str, body: &[u8], most: u64, until: Instant) -> Result<Vec<u8>, AttemptError> {
        let left = until.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
        let mut request =
            self.agent.post(format!("{}{path}", self.endpoint.url)).config().timeout_global(Some(left)).build();
        for (name, value) in &self.headers {
            request = request.header(*name, *value);
        }
        if let Some(Key { header: Some((name, value)), .. }) = &self.key {
            request = request.header(*name, value.clone());
        }
        let mut response = request.send(body).map_err(|error| self.transport_error(&error))?;
        if response.status() != StatusCode::OK {
            return Err(self.status_error(&mut response));
        }
        response.body_mut().with_config().limit(most).read_to_vec().map_err(|error| self.transport_error(&error))
    }

    /// Maps a response other than 200 to a fault.
    fn status_error(&self, response: &mut Response<Body>) -> AttemptError {
        let status = response.status();
        let from = &self.endpoint.authority;
        if status.is_redirection() {
            let message = format!("{from} answered {status} with a redirect, which is not followed");
            return AttemptError {
                fault: Fault::permanent(FaultKind::Refused, message),
                is_retryable: false,
                may_be_charged: false,
            };
        }
        if matches!(status.as_u16(), 401 | 403) {
            // Leave out the server's message: it tends to quote the key.
            let message = match &self.key {
                Some(key) => format!("{from} answered {status}: it rejects the key in {}", key.source),
                None => format!("{from} answered {status}: it needs a key, but key_env names none"),
            };
            return AttemptError {
                fault: Fault::permanent(FaultKind::Key, message),
                is_retryable: false,
                may_be_charged: false,
            };
        }
        let retry_after = parse_retry_after(response.headers());
        let body = response.body_mut().with_config().limit(MAX_ERROR_BYTES).read_to_vec().unwrap_or_default();
        let (said, code) = parse_error_message(&body, self.key.as_ref().map(|key| key.secret.as_str()));
        let said = said.map(|said| format!(": {said}")).unwrap_or_default();
        let message = format!("{from} answered {status}{said}");
        let mut fault = match status.as_u16() {
            // OpenAI's code for an account without credit; waiting does not help.
            429 if code.as_deref() == Some("insufficient_quota") => Fault::permanent(FaultKind::Rate, message),
            429 => Fault::temporary(FaultKind::Rate, message),
            408 => Fault::temporary(FaultKind::Timeout, message),
            500.. => Fault::temporary(FaultKind::Server, message),
            _ => Fault::permanent(FaultKind::Refused, message),
        };
        if fault.retryable {
            fault.retry_after_ms = retry_after.and_then(|wait| u64::try_from(wait.as_millis()).ok());
        }
        AttemptError { is_retryable: fault.retryable, fault, may_be_charged: false }
    }

    /// Maps a connection error to a fault.
    fn transport_error(&self, error: &Error) -> AttemptError {
        let from = &self.endpoint.authority;
        let connection = |what: String| Fault::temporary(FaultKind::Connection, what);
        let (fault, is_retryable) = match error {
            Error::Timeout(_) => {
                let message = format!("{from} did not answer within {} ms", self.timeout_ms);
                (Fault::temporary(FaultKind::Timeout, message), false)
            }
            Error::HostNotFound => (connection(format!("{from} was not found")), true),
            Error::Io(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                (connection(format!("{from} closed the connection before its answer was complete")), true)
            }
            // rustls errors arrive as `InvalidData`. A bad certificate will be just as bad next time.
            Error::Io(error) if error.kind() == io::ErrorKind::InvalidData => {
                (Fault::permanent(FaultKind::Connection, format!("{from} cannot be trusted: {error}")), false)
            }
            Error::Io(error) => (connection(format!("no connection to {from}: {error}")), true),
            Error::Rustls(error) => {
                (Fault::permanent(FaultKind::Connection, format!("{from} cannot be trusted: {error}")), false)
            }
            Error::ConnectionFailed => (connection(format!("no connection to {from}")), true),
            // Leave out the error's message: it could contain a proxy password.
            Error::ConnectProxyFailed(_) | Error::InvalidProxyUrl => {
                (connection(format!("the proxy could not connect to {from}")), true)
            }
            Error::BodyExceedsLimit(most) => {
                (Fault::permanent(FaultKind::Answer, format!("{from} answered with more than {most} bytes")), false)
            }
            Error::LargeResponseHeader(..) | Error::Protocol(_) => {
                (Fault::temporary(FaultKind::Answer, format!("{from} sent an invalid HTTP response")), false)
            }
            other => (Fault::permanent(FaultKind::Request, format!("the request to {from} failed: {other}")), false),
        };
        let is_sent = !matches!(
            error,
            Error::HostNotFound
                | Error::ConnectionFailed
                | Error::ConnectProxyFailed(_)
                | Error::InvalidProxyUrl
                | Error::Rustls(_)
        ) && !matches!(error, Error::Io(error) if error.kind() == io::ErrorKind::ConnectionRefused);
        AttemptError { fault, is_retryable, may_be_charged: is_sent }
    }
}

/// Returns how long the server asks clients to wait before the next request.
fn parse_retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = |name| headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok());
    retry::parse_retry_after(text("retry-after-ms"), text("retry-after"), SystemTime::now())
}

impl Key {
    /// Reads the key from the environment. Errors name the variable and never include its value.
    pub fn from_env(variable: &str) -> Result<Self, Fault> {
        let secret = std::env::var(variable)
            .map_err(|_| Fault::permanent(FaultKind::Key, format!("{variable} is not set, or is not valid UTF-8")))?;
        Self::new(variable, &secret)
    }

    /// Takes a key from a source that is named in errors. Errors never include the key.
    pub fn new(source: &str, secret: &str) -> Result<Self, Fault> {
        let fault = |what: &str| Fault::permanent(FaultKind::Key, format!("{source} {what}"));
        let secret = secret.trim();
        if secret.is_empty() {
            return Err(fault("is empty"));
        }
        if !secret.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(fault("contains characters that no key has"));
        }
        Ok(Self { source: source.to_owned(), secret: secret.to_owned(), header: None })
    }

    fn with_header(mut self, authorization: Authorization) -> Result<Self, Fault> {
        let (name, value) = match authorization {
            Authorization::Bearer => ("authorization", format!("Bearer {}", self.secret)),
            Authorization::GoogleApiKey => ("x-goog-api-key", self.secret.clone()),
            Authorization::XApiKey => ("x-api-key", self.secret.clone()),
        };
        let mut value = HeaderValue::from_str(&value)
            .map_err(|_| Fault::permanent(FaultKind::Key, format!("{} contains characters that no key has", self.source)))?;
        value.set_sensitive(true);
        self.header = Some((name, value));
        Ok(self)
    }
}
