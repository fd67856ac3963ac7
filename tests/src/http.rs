//! As much of HTTP/1.1 as our stand-ins for servers need.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;

use serde_json::Value;

/// A request that was read whole.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    /// `POST`.
    pub method: String,
    /// With its query.
    pub path: String,
    /// Names in small letters.
    pub headers: Vec<(String, String)>,
    /// Without its chunks' heads.
    pub body: Vec<u8>,
}

/// The next request; none at the connection's end.
pub(crate) fn read(reader: &mut BufReader<TcpStream>) -> std::io::Result<Option<Request>> {
    let mut line = String::new();
    if reader.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let mut words = line.split_whitespace().map(str::to_owned);
    let (Some(method), Some(path)) = (words.next(), words.next()) else {
        return Ok(None);
    };
    let mut headers: Vec<(String, String)> = Vec::new();
    loop {
        let mut header = String::new();
        reader.read_line(&mut header)?;
        let Some((name, value)) = header.trim().split_once(':') else { break };
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let value = |wanted: &str| headers.iter().find(|(name, _)| name == wanted).map(|(_, value)| value.as_str());
    let length = value("content-length").and_then(|value| value.parse().ok()).unwrap_or(0);
    let mut body = Vec::new();
    if value("transfer-encoding") == Some("chunked") {
        loop {
            let mut size = String::new();
            reader.read_line(&mut size)?;
            let size = u64::from_str_radix(size.trim(), 16).unwrap_or(0);
            reader.take(size).read_to_end(&mut body)?;
            reader.read_line(&mut String::new())?;
            if size == 0 {
                break;
            }
        }
    } else {
        reader.take(length).read_to_end(&mut body)?;
    }
    Ok(Some(Request { method, path, headers, body }))
}

/// Answers with this JSON.
pub(crate) fn write_json(out: &mut TcpStream, code: u16, body: &Value) -> std::io::Result<()> {
    let body = body.to_string();
    write!(out, "HTTP/1.1 {code} -\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}", body.len())
}
