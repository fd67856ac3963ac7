//! Newline-delimited messages on standard input and output. Unlike the SDK's own transport, it answers invalid messages
//! with an error: a client that waits for a response would otherwise wait forever.
//!
//! Input and output each have a thread, because reading cannot be cancelled, and because a client that does not read
//! must not keep the server from reading.

use std::io::{self, BufRead, Read, Write};
use std::sync::{Arc, mpsc as threads};
use std::thread::{self, JoinHandle};

use anyhow::{Context as _, Result};
use rmcp::model::{ClientJsonRpcMessage, ErrorCode, ErrorData, JsonRpcMessage, RequestId, ServerJsonRpcMessage};
use rmcp::service::{RoleServer, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde::Deserialize;
use tokio::sync::{mpsc, watch};

/// The longest message, in bytes: a text of 64 KiB in which every byte is escaped, a title like it, and some reserve.
pub(super) const MAX_MESSAGE_BYTES: usize = 1 << 20;

/// How many messages are buffered before the reader stops reading (back-pressure).
const QUEUE_LENGTH: usize = 64;

/// A parsed line.
enum Incoming {
    Message(Box<ClientJsonRpcMessage>),
    Bad(Option<RequestId>, ErrorData),
}

/// The transport over standard input and output.
pub(super) struct Stdio {
    incoming: mpsc::Receiver<Incoming>,
    outgoing: Option<threads::Sender<Vec<u8>>>,
    writer: Option<JoinHandle<()>>,
    /// Becomes true when standard output is closed.
    disconnected: watch::Receiver<bool>,
    is_open: bool,
}

/// Opens the transport. The second value becomes true when the client has disconnected.
pub(super) fn stdio() -> Result<(Stdio, watch::Receiver<bool>)> {
    let (is_gone, gone) = watch::channel(false);
    let is_gone = Arc::new(is_gone);
    let (arrived, incoming) = mpsc::channel(QUEUE_LENGTH);
    let (outgoing, leaving) = threads::channel::<Vec<u8>>();
    let reader_gone = Arc::clone(&is_gone);
    thread::Builder::new()
        .name("reader".into())
        .spawn(move || {
            read(&mut io::stdin().lock(), |it| arrived.blocking_send(it).is_ok());
            reader_gone.send_replace(true);
        })
        .context("standard input cannot be read")?;
    let (set_disconnected, disconnected) = watch::channel(false);
    let writer = thread::Builder::new()
        .name("writer".into())
        .spawn(move || {
            let mut out = io::stdout().lock();
            for line in leaving {
                if out.write_all(&line).and_then(|()| out.flush()).is_err() {
                    is_gone.send_replace(true);
                    set_disconnected.send_replace(true);
                    return;
                }
            }
        })
        .context("standard output cannot be written")?;
    let transport = Stdio { incoming, outgoing: Some(outgoing), writer: Some(writer), disconnected, is_open: false };
    Ok((transport, gone))
}

impl Stdio {
    fn put(&self, message: &ServerJsonRpcMessage) -> io::Result<()> {
        let mut line = serde_json::to_vec(message)?;
        line.push(b'\n');
        let outgoing = self.outgoing.as_ref().ok_or(io::ErrorKind::BrokenPipe)?;
        outgoing.send(line).map_err(|_| io::ErrorKind::BrokenPipe.into())
    }
}

impl Transport<RoleServer> for Stdio {
    type Error = io::Error;

    fn send(&mut self, item: TxJsonRpcMessage<RoleServer>) -> impl Future<Output = io::Result<()>> + Send + 'static {
        std::future::ready(self.put(&item))
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            let incoming = tokio::select! {
                // Messages that arrived before the end are still answered.
                biased;
                incoming = self.incoming.recv() => incoming?,
                _ = self.disconnected.changed() => return None,
            };
            match incoming {
                Incoming::Bad(id, error) => self.put(&JsonRpcMessage::error(error, id)).ok()?,
                // Notifications before the session starts are dropped; the SDK would stop at one.
                Incoming::Message(message) if !self.is_open && !matches!(*message, JsonRpcMessage::Request(_)) => {}
                Incoming::Message(message) => {
                    self.is_open = true;
                    return Some(*message);
                }
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.outgoing = None;
        // The last messages should still arrive if somebody reads them.
        if let Some(writer) = self.writer.take() {
            let _ = writer.join();
        }
        Ok(())
    }
}

/// Reads lines until the end of the input, or until `give` returns `false`.
fn read(input: &mut impl BufRead, mut give: impl FnMut(Incoming) -> bool) {
    let mut line = Vec::new();
    loop {
        line.clear();
        let Ok(bytes) = input.by_ref().take(MAX_MESSAGE_BYTES as u64 + 1).read_until(b'\n', &mut line) else { return };
        if bytes == 0 {
            return;
        }
        let incoming = if line.len() > MAX_MESSAGE_BYTES && line.last() != Some(&b'\n') {
            let mut rest = LineRest { input, is_over: false };
            let id = head(&line, &mut rest).unwrap_or_default().id;
            if io::copy(&mut rest, &mut io::sink()).is_err() {
                return;
            }
            line.shrink_to(0);
            let what = format!("the message is larger than {} KiB", MAX_MESSAGE_BYTES >> 10);
            Some(Incoming::Bad(id, ErrorData::invalid_request(what, None)))
        } else {
            parse_message(line.trim_ascii())
        };
        if incoming.is_some_and(|incoming| !give(incoming)) {
            return;
        }
    }
}

/// Parses a line; `None` if it is empty or an invalid notification.
fn parse_message(line: &[u8]) -> Option<Incoming> {
    if line.is_empty() {
        return None;
    }
    match serde_json::from_slice(line) {
        Ok(message) => Some(Incoming::Message(Box::new(message))),
        Err(error) => {
            let head = head(line, io::empty());
            let (code, what) = match &head {
                // Notifications get no response, not even an error.
                Ok(Head { id: None, method: Some(_) }) => return None,
                Ok(_) if error.to_string().starts_with("recursion") => {
                    (ErrorCode::INVALID_REQUEST, "the message is nested too deeply")
                }
                Ok(_) => (ErrorCode::INVALID_REQUEST, "not a JSON-RPC 2.0 message"),
                Err(_) => (ErrorCode::PARSE_ERROR, "not valid JSON"),
            };
            let id = head.unwrap_or_default().id;
            Some(Incoming::Bad(id, ErrorData::new(code, what, None)))
        }
    }
}

/// The fields that an error response needs. Everything else is skipped, however deep or long it is.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Head {
    #[serde(deserialize_with = "id")]
    id: Option<RequestId>,
    method: Option<serde::de::IgnoredAny>,
}

/// An identifier that is neither a number nor a string counts as missing.
fn id<'de, D: serde::Deserializer<'de>>(from: D) -> std::result::Result<Option<RequestId>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Id {
        Number(i64),
        Text(String),
        Other(serde::de::IgnoredAny),
    }
    Ok(match Id::deserialize(from)? {
        Id::Number(number) => Some(RequestId::Number(number)),
        Id::Text(text) => Some(RequestId::String(text.into())),
        Id::Other(_) => None,
    })
}

/// Parses the head of a message that consists of `begin` and `rest`. An array or a scalar has no identifier.
fn head(begin: &[u8], rest: impl Read) -> serde_json::Result<Head> {
    let all = begin.chain(rest);
    if begin.trim_ascii_start().starts_with(b"{") {
        serde_json::from_reader(all)
    } else {
        serde_json::from_reader::<_, serde::de::IgnoredAny>(all).map(|_| Head::default())
    }
}

/// The rest of a line that is too long.
struct LineRest<'a, R> {
    input: &'a mut R,
    is_over: bool,
}

impl<R: BufRead> Read for LineRest<'_, R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.is_over || into.is_empty() {
            return Ok(0);
        }
        let here = self.input.fill_buf()?;
        let most = here.len().min(into.len());
        let end = memchr::memchr(b'\n', &here[..most]);
        let taken = end.unwrap_or(most);
        into[..taken].copy_from_slice(&here[..taken]);
        self.input.consume(end.map_or(taken, |end| end + 1));
        self.is_over = end.is_some() || taken == 0;
        Ok(taken)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn all(input: &[u8]) -> Vec<Incoming> {
        let mut found = Vec::new();
        read(&mut io::BufReader::with_capacity(1 << 10, input), |it| {
            found.push(it);
            true
        });
        found
    }

    #[track_caller]
    fn bad(input: &[u8]) -> (Option<RequestId>, i32) {
        match all(input).as_slice() {
            [Incoming::Bad(id, error)] => (id.clone(), error.code.0),
            _ => panic!("one bad message was wanted"),
        }
    }

    #[test]
    fn what_is_no_message_is_answered_by_its_identifier() {
        assert_eq!(bad(b"{nonsense\n"), (None, -32700));
        assert_eq!(bad(b"[]\n"), (None, -32600));
        assert_eq!(bad(b"[1,{\"id\":1}]\n"), (None, -32600));
        assert_eq!(bad(b"{\"id\":7}\n"), (Some(RequestId::Number(7)), -32600));
        assert_eq!(bad(b"{\"id\":{},\"x\":1}\n"), (None, -32600));
        let deep = format!("{{\"params\":{}{},\"method\":\"ping\",\"id\":\"a\"}}\n", "[".repeat(50_000), "]".repeat(50_000));
        assert_eq!(bad(deep.as_bytes()), (Some(RequestId::String("a".into())), -32600));
        // The last line needs no newline.
        assert!(matches!(all(b"\n\r\n{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}")[..], [Incoming::Message(_)]));
        // Nobody waits for an answer to a notification.
        assert!(all(b"{\"jsonrpc\":\"1.0\",\"method\":\"notifications/x\"}\n").is_empty());
    }

    #[test]
    fn a_giant_is_passed_over_and_what_follows_is_heard() {
        let text = "x".repeat(10 << 20);
        for giant in [
            format!("{{\"jsonrpc\":\"2.0\",\"method\":\"ping\",\"params\":{{\"a\":\"{text}\"}},\"id\":9}}\n"),
            format!("{{\"id\":9,\"params\":{}\n", "[".repeat(10 << 20)),
        ] {
            let lines = giant + "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}\n";
            let found = all(lines.as_bytes());
            assert!(matches!(&found[..], [Incoming::Bad(_, error), Incoming::Message(_)] if error.code.0 == -32600));
        }
        let text = format!("{{\"method\":\"ping\",\"params\":\"{text}\",\"id\":9}}\n");
        assert_eq!(bad(text.as_bytes()).0, Some(RequestId::Number(9)));
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_to_their_end(bytes in prop::collection::vec(any::<u8>(), 0..2_000)) {
            let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty()).count();
            prop_assert!(all(&bytes).len() <= lines);
        }
    }
}
