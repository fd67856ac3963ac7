//! A stand-in for servers of embeddings on loopback. It speaks the protocols of OpenAI and of Gemini, and has the faults that
//! servers have, one a request, as the test wants them.

use std::io::{BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};

use crate::http::{self, write_json};

/// How many numbers a vector has where nobody asks for another number.
pub const DIMS: usize = 8;

/// What the server does with a request.
#[derive(Clone, Debug)]
pub enum Act {
    /// Answers rightly.
    Right,
    /// Answers rightly in OpenAI's protocol, with the list the other way round.
    Backwards,
    /// Answers with this status, these headers (each with its line's end) and this body.
    Says(u16, String, String),
    /// Writes these bytes, which need be no HTTP, and closes.
    Raw(Vec<u8>),
    /// Never answers.
    Silent,
    /// Announces a body, writes half of it, and closes.
    Half,
    /// Writes spaces until the client disconnects.
    Endless,
}

/// What the server was asked.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The path.
    pub path: String,
    /// Names in small letters.
    pub headers: Vec<(String, String)>,
    /// The body; null where it is no JSON.
    pub body: Value,
    /// The body's length, bytes.
    pub bytes: usize,
}

impl Asked {
    /// The value of a header.
    pub fn header(&self, wanted: &str) -> Option<&str> {
        self.headers.iter().find(|(name, _)| name == wanted).map(|(_, value)| value.as_str())
    }

    /// The texts to embed.
    pub fn texts(&self) -> Vec<&str> {
        let texts = |list: &'static str| self.body[list].as_array().into_iter().flatten();
        let gemini = texts("requests").map(|request| &request["content"]["parts"][0]["text"]);
        texts("input").chain(gemini).filter_map(Value::as_str).collect()
    }
}

/// A running server. It ends with the test's process.
pub struct FakeProvider {
    port: u16,
    asked: Arc<Mutex<Vec<Asked>>>,
    written: Arc<AtomicU64>,
}

impl FakeProvider {
    /// Listens on a free port. The first request meets the first act, and so on; the last one is repeated.
    pub fn start(acts: impl Into<Vec<Act>>) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
        let port = listener.local_addr().expect("its address").port();
        let (asked, written) = (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicU64::new(0)));
        let (shared, count, acts) = (Arc::clone(&asked), Arc::clone(&written), acts.into());
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (asked, written, acts) = (Arc::clone(&shared), Arc::clone(&count), acts.clone());
                std::thread::spawn(move || {
                    // A client that goes away in the middle is what some tests are about.
                    drop(serve(stream, &acts, &asked, &written));
                });
            }
        });
        Self { port, asked, written }
    }

    /// What `base_url` must be.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/v1", self.port)
    }

    /// All requests so far.
    pub fn asked(&self) -> Vec<Asked> {
        self.asked.lock().expect("no holder panics").clone()
    }

    /// How many bytes [`Act::Endless`] got rid of.
    pub fn written(&self) -> u64 {
        self.written.load(Ordering::Relaxed)
    }
}

/// The numbers that the server gives for a text: others for each text, and never of length 1.
#[expect(clippy::cast_precision_loss, reason = "they are small")]
pub fn numbers_of(text: &str, dims: usize) -> Vec<f32> {
    let sum = text.bytes().fold(7_usize, |sum, byte| (sum * 31 + usize::from(byte)) % 10_007);
    (1..=dims).map(|place| ((sum * place) % 97) as f32 - 47.5).collect()
}

/// The vector of length 1 that a right embedder makes of [`numbers_of`].
pub fn vector_of(text: &str, dims: usize) -> Vec<f32> {
    let numbers = numbers_of(text, dims);
    let length = numbers.iter().map(|number| number * number).sum::<f32>().sqrt();
    numbers.iter().map(|number| number / length).collect()
}

fn serve(stream: TcpStream, acts: &[Act], asked: &Mutex<Vec<Asked>>, written: &AtomicU64) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut out = stream;
    while let Some(request) = http::read(&mut reader)? {
        let body = serde_json::from_slice(&request.body).unwrap_or_default();
        let one = Asked { path: request.path, headers: request.headers, body, bytes: request.body.len() };
        let number = {
            let mut all = asked.lock().expect("no holder panics");
            all.push(one.clone());
            all.len() - 1
        };
        match &acts[number.min(acts.len() - 1)] {
            Act::Right => write_json(&mut out, 200, &right(&one))?,
            Act::Backwards => {
                let mut answer = right(&one);
                answer["data"].as_array_mut().expect("OpenAI's protocol").reverse();
                write_json(&mut out, 200, &answer)?;
            }
            Act::Says(status, headers, body) => {
                write!(out, "HTTP/1.1 {status} -\r\n{headers}content-length: {}\r\n\r\n{body}", body.len())?;
            }
            Act::Raw(bytes) => return out.write_all(bytes),
            Act::Silent => std::thread::sleep(Duration::from_mins(1)),
            Act::Half => {
                let body = right(&one).to_string();
                return write!(out, "HTTP/1.1 200 -\r\ncontent-length: {}\r\n\r\n{}", body.len(), &body[..body.len() / 2]);
            }
            Act::Endless => {
                write!(out, "HTTP/1.1 200 -\r\nconnection: close\r\n\r\n")?;
                let spaces = vec![b' '; 64 << 10];
                loop {
                    out.write_all(&spaces)?;
                    written.fetch_add(64 << 10, Ordering::Relaxed);
                }
            }
        }
    }
    Ok(())
}

/// What a server without faults answers.
fn right(asked: &Asked) -> Value {
    let dims = |wanted: &Value| wanted.as_u64().map_or(DIMS, |dims| usize::try_from(dims).expect("a small number"));
    if asked.path.ends_with(":batchEmbedContents") {
        let requests = asked.body["requests"].as_array().into_iter().flatten();
        let dims: Vec<_> = requests.map(|request| dims(&request["outputDimensionality"])).collect();
        let values = asked.texts().into_iter().zip(dims).map(|(text, dims)| json!({"values": numbers_of(text, dims)}));
        return json!({"embeddings": values.collect::<Vec<_>>()});
    }
    let dims = dims(&asked.body["dimensions"]);
    let data: Vec<_> = asked
        .texts()
        .iter()
        .enumerate()
        .map(|(index, text)| json!({"object": "embedding", "index": index, "embedding": numbers_of(text, dims)}))
        .collect();
    json!({"object": "list", "data": data, "model": asked.body["model"], "usage": {"prompt_tokens": 1, "total_tokens": 1}})
}
