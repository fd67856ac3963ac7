//! The protocol between Throughline and `throughline-sync`: one JSON request a line on standard input, one JSON reply a line
//! on standard output, in turns. `throughline-sync` ends when its input ends.
//!
//! The main program reads and writes the local store and has no network code. `throughline-sync` has the network and sees
//! nothing of the store but what it is given to send.

#![forbid(unsafe_code)]

use std::io::{self, BufRead, Read as _};

use serde::{Deserialize, Serialize};

/// The protocol version. The two programs are installed separately.
pub const VERSION: u32 = 2;

/// The version of the server's schema that this build knows.
pub const SCHEMA: i32 = 2;

/// The longest line, bytes.
pub const MAX_LINE: u64 = 64 << 20;

/// The longest body of a record, bytes. The server's schema has the same limit.
pub const MAX_BODY: usize = 256 << 10;

/// A request.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "lowercase")]
pub enum Request {
    /// Connects, and says who we are.
    Connect {
        /// [`VERSION`].
        version: u32,
        /// The server's address with name and password.
        url: String,
        /// The longest that one request may take, milliseconds.
        timeout_ms: u64,
        /// This machine's identifier; empty for a session that only searches.
        device: String,
        /// This machine's name.
        name: String,
    },
    /// Appends records to this machine's series.
    Push {
        /// In the order of the series.
        records: Vec<Outgoing>,
    },
    /// Seals the team, which must have no texts yet: from then on the server takes only what this key has sealed.
    Seal {
        /// The key's fingerprint: 64 hexadecimal digits, from which the key cannot be computed.
        fingerprint: String,
    },
    /// Asks which series there are.
    Series,
    /// Asks for records.
    Pull {
        /// Each series, and the last place that is known.
        after: Vec<Cursor>,
        /// The most records.
        limit: u32,
    },
    /// Searches on the server.
    Search {
        /// Words.
        query: String,
        /// The key of a project; none for all.
        project: Option<String>,
        /// The query's vector, of the built-in model.
        vector: Option<Vec<f32>>,
        /// The most results.
        limit: u32,
    },
}

/// A record to be sent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outgoing {
    /// `memory` or `tombstone`.
    pub kind: String,
    /// Its place in the series.
    pub sequence: i64,
    /// The SHA-256 of the body, hexadecimal.
    pub hash: String,
    /// What stays the same when a memory is edited.
    pub item: String,
    /// How the project is recognized; empty for a tombstone.
    pub project: String,
    /// Of a tombstone: the one revision that it deletes; empty for all of the item.
    pub target: String,
    /// The JSON.
    pub body: String,
    /// The text's vector, of the built-in model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vector: Option<Vec<f32>>,
}

/// How far a series was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cursor {
    /// The device.
    pub device: String,
    /// `memory` or `tombstone`.
    pub kind: String,
    /// The last place that is known.
    pub sequence: i64,
}

/// A series on the server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeriesHead {
    /// The device.
    pub device: String,
    /// `memory` or `tombstone`.
    pub kind: String,
    /// The last place.
    pub last: i64,
    /// Whose device it is.
    pub member: String,
    /// The device's name.
    pub name: String,
}

/// A record that was read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Pulled {
    /// The device whose series it is in.
    pub device: String,
    /// `memory` or `tombstone`.
    pub kind: String,
    /// Its place.
    pub sequence: i64,
    /// The SHA-256 of the body.
    pub hash: String,
    /// Its item.
    pub item: String,
    /// Whether its author may decide about the item.
    pub decides: bool,
    /// The JSON; none if it was erased.
    pub body: Option<String>,
}

/// A memory that the server found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FoundRecord {
    /// The JSON of its record.
    pub body: String,
    /// Its author.
    pub member: String,
    /// How well it fits: only the order of one answer has a meaning.
    pub score: f64,
}

/// A record that the server refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// Its hash.
    pub hash: String,
    /// The server's rule.
    pub rule: String,
}

/// A reply.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "did", rename_all = "lowercase")]
pub enum Reply {
    /// The answer to [`Request::Connect`].
    Connected {
        /// The team.
        tenant: String,
        /// Who we are.
        member: String,
        /// `reader`, `contributor`, `curator` or `admin`.
        role: String,
        /// Whether the server has vectors.
        vectors: bool,
        /// The fingerprint of the key that seals the team; empty if it is not sealed.
        seal: String,
    },
    /// The answer to [`Request::Seal`].
    Sealed {
        /// The fingerprint of the key that seals the team.
        seal: String,
    },
    /// The answer to [`Request::Push`].
    Pushed {
        /// The hashes of the records that the server has.
        stored: Vec<String>,
        /// Those that it refused.
        refused: Vec<Refusal>,
        /// Whether another record has one of these places: another machine writes with our identifier.
        conflict: bool,
    },
    /// The answer to [`Request::Series`].
    Series {
        /// All series of the team.
        series: Vec<SeriesHead>,
    },
    /// The answer to [`Request::Pull`].
    Pulled {
        /// The records, each series in its order.
        records: Vec<Pulled>,
    },
    /// The answer to [`Request::Search`].
    Found {
        /// The best first.
        found: Vec<FoundRecord>,
        /// Whether vectors took part.
        vectors: bool,
    },
    /// The request failed.
    Failed(Fault),
}

/// Why a request failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    /// What kind of failure it is.
    pub kind: FaultKind,
    /// One sentence in lower case.
    pub message: String,
    /// What a person can do.
    pub hint: String,
}

/// The kinds of failures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FaultKind {
    /// The address cannot be used.
    Address,
    /// The server does not answer, or the connection broke.
    Unreachable,
    /// The server took too long.
    Slow,
    /// Name or password is wrong, or the member was removed.
    Denied,
    /// The certificate is not the right one.
    Certificate,
    /// The server's schema is another one.
    Schema,
    /// The team is sealed and this machine has not its key, or the other way round.
    Key,
    /// The server's disk is full, or it has too many connections.
    Full,
    /// The answer is not what a server can say: malformed, or in contradiction to an earlier one.
    #[serde(rename = "lie")]
    InvalidAnswer,
    /// The two programs do not understand each other.
    Protocol,
    /// Anything else that the server reports.
    Server,
}

impl Fault {
    /// Creates a failure.
    pub fn new(kind: FaultKind, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { kind, message: message.into(), hint: hint.into() }
    }
}

/// Reads a line as a value; `None` at the end of the input.
pub fn read<T: serde::de::DeserializeOwned>(input: &mut impl BufRead) -> io::Result<Option<T>> {
    let mut line = Vec::new();
    input.by_ref().take(MAX_LINE + 1).read_until(b'\n', &mut line)?;
    if line.is_empty() {
        return Ok(None);
    }
    if line.last() != Some(&b'\n') {
        let what = if line.len() as u64 > MAX_LINE { "a line is too long" } else { "a line has no end" };
        return Err(io::Error::new(io::ErrorKind::InvalidData, what));
    }
    serde_json::from_slice(&line).map(Some).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error.to_string()))
}

/// Writes a value as a line.
pub fn write(output: &mut impl io::Write, value: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(value).map_err(io::Error::other)?;
    line.push(b'\n');
    output.write_all(&line)?;
    output.flush()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_line_without_an_end_is_an_error() {
        assert!(read::<Request>(&mut &b""[..]).unwrap().is_none());
        assert!(matches!(read::<Request>(&mut &b"{\"do\":\"series\"}\n"[..]).unwrap(), Some(Request::Series)));
        assert!(read::<Request>(&mut &b"{\"do\":\"series\"}"[..]).is_err());
        assert!(read::<Request>(&mut &b"{\"do\":\"drop\"}\n"[..]).is_err());
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(body in "\\PC{0,80}", sequence in any::<i64>(), decides in any::<bool>()) {
            let pulled = Pulled {
                device: "d".into(), kind: "memory".into(), sequence, hash: String::new(), item: String::new(), decides,
                body: Some(body),
            };
            let mut line = Vec::new();
            write(&mut line, &Reply::Pulled { records: vec![pulled.clone()] }).unwrap();
            let Some(Reply::Pulled { records }) = read(&mut line.as_slice()).unwrap() else { panic!("another reply") };
            prop_assert_eq!(records, [pulled]);
        }
    }
}
