//! `throughline-embedder` against servers of our own: both protocols, and every fault that a server can have. Whatever is
//! answered, there is a right vector for each text or a fault with a name, after a number of requests that is bounded.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use base64::Engine as _;
use serde_json::{Value, json};
use tests::fake_provider::{Act, DIMS, FakeProvider, vector_of};
use tests::home::Home;
use tests::process::{self, Finished};

/// Stands in the environment and nowhere else: no output may hold a part of it.
const KEY: &str = "key-QWERTYUIOPasdfghjkl";

fn server(url: &str) -> Value {
    json!({"base_url": url, "model": "a-model", "dimensions": null, "key_env": "A_KEY"})
}

fn openai(url: &str) -> Value {
    json!({"kind": "openai", "server": server(url), "encoding_format": "float"})
}

fn gemini(url: &str) -> Value {
    json!({"kind": "gemini", "server": server(url)})
}

fn request(provider: &Value, texts: &[&str]) -> Value {
    json!({"version": 1, "provider": provider, "purpose": "document", "texts": texts,
        "limits": {"timeout_ms": 5000, "batch": 96, "batch_bytes": 250_000, "tries": 4, "backoff_ms": 1}})
}

fn run(input: &[u8], key: Option<&str>) -> Finished {
    let mut command = Command::new(process::embedder());
    command.env_clear().current_dir("/");
    if let Some(key) = key {
        command.env("A_KEY", key);
    }
    let run = process::run(command, input.to_vec(), Duration::from_secs(30));
    assert!(!run.overdue, "it hung: {run:#?}");
    assert!(!format!("{run:?}").contains("QWERTY"), "the key is in its output: {run:#?}");
    run
}

fn answer(request: &Value) -> Value {
    let run = run(request.to_string().as_bytes(), Some(KEY));
    let answer: Value = serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {run:#?}"));
    assert_eq!(run.code, Some(i32::from(!answer["failed"].is_null())), "{run:#?}");
    answer
}

/// The vectors for these texts.
#[track_caller]
fn vectors(request: &Value) -> Vec<Vec<f32>> {
    let answer = answer(request);
    let embedded = &answer["embedded"];
    let vectors = embedded["vectors"].as_array().unwrap_or_else(|| panic!("no vectors: {answer}"));
    let vectors: Vec<Vec<f32>> = vectors.iter().map(decoded).collect();
    assert!(vectors.iter().all(|vector| Some(vector.len() as u64) == embedded["dims"].as_u64()), "{answer}");
    vectors
}

fn decoded(vector: &Value) -> Vec<f32> {
    let bytes = base64::engine::general_purpose::STANDARD.decode(vector.as_str().expect("base64")).expect("base64");
    bytes.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()
}

/// The kind of the fault, and whether it may be over later.
#[track_caller]
fn fault(request: &Value) -> (String, bool) {
    let answer = answer(request);
    let fault = &answer["failed"];
    assert!(fault["message"].as_str().is_some_and(|message| message.len() > 10), "{answer}");
    (fault["kind"].as_str().expect("a kind").to_owned(), fault["retryable"].as_bool().expect("a flag"))
}

#[track_caller]
fn close(found: &[Vec<f32>], texts: &[&str], dims: usize) {
    assert_eq!(found.len(), texts.len());
    for (vector, text) in found.iter().zip(texts) {
        let wanted = vector_of(text, dims);
        assert!(vector.iter().zip(&wanted).all(|(a, b)| (a - b).abs() < 1e-6), "{text}: {vector:?} is not {wanted:?}");
    }
}

/// What comes of one act, which is repeated, and how many requests there were.
fn after(act: Act) -> ((String, bool), usize) {
    let server = FakeProvider::start([act]);
    let fault = fault(&request(&openai(&server.url()), &["a text"]));
    (fault, server.asked().len())
}

fn says(status: u16, body: &str) -> Act {
    Act::Says(status, String::new(), body.to_owned())
}

fn failed(kind: &str, retryable: bool) -> (String, bool) {
    (kind.to_owned(), retryable)
}

#[test]
fn openais_protocol() {
    let server = FakeProvider::start([Act::Right]);
    let texts = ["a text", "인증 토큰", "\u{1f9ea} \"quoted\"\n"];
    let mut wanted = request(&openai(&server.url()), &texts);
    close(&vectors(&wanted), &texts, DIMS);
    let asked = &server.asked()[0];
    assert_eq!(asked.path, "/v1/embeddings");
    assert_eq!(asked.header("authorization"), Some(format!("Bearer {KEY}").as_str()));
    assert_eq!(asked.body, json!({"model": "a-model", "input": texts, "encoding_format": "float"}));
    wanted["provider"]["server"]["dimensions"] = json!(5);
    wanted["provider"]["encoding_format"] = json!("base64");
    close(&vectors(&wanted), &texts, 5);
    assert_eq!(server.asked()[1].body["encoding_format"], "base64");
}

#[test]
fn geminis_protocol() {
    let server = FakeProvider::start([Act::Right]);
    let texts = ["a text", "인증 토큰"];
    let mut wanted = request(&gemini(&server.url()), &texts);
    close(&vectors(&wanted), &texts, DIMS);
    wanted["purpose"] = json!("query");
    wanted["provider"]["server"]["dimensions"] = json!(6);
    close(&vectors(&wanted), &texts, 6);
    let asked = server.asked();
    assert_eq!(asked[0].path, "/v1/models/a-model:batchEmbedContents");
    assert_eq!((asked[0].header("x-goog-api-key"), asked[0].header("authorization")), (Some(KEY), None));
    let one = |text: &str, task: &str| json!({"model": "models/a-model", "content": {"parts": [{"text": text}]}, "taskType": task});
    let documents: Vec<_> = texts.iter().map(|text| one(text, "RETRIEVAL_DOCUMENT")).collect();
    assert_eq!(asked[0].body, json!({"requests": documents}));
    let first = &asked[1].body["requests"][0];
    assert_eq!((&first["taskType"], &first["outputDimensionality"]), (&json!("RETRIEVAL_QUERY"), &json!(6)));
}

#[test]
fn a_server_without_a_key_is_shown_none() {
    let server = FakeProvider::start([Act::Right]);
    let mut wanted = request(&openai(&server.url()), &["a"]);
    wanted["provider"]["server"]["key_env"] = Value::Null;
    assert_eq!(vectors(&wanted).len(), 1);
    assert_eq!(server.asked()[0].header("authorization"), None);
}

#[test]
fn the_list_is_ordered_by_its_index() {
    let server = FakeProvider::start([Act::Backwards]);
    let texts = ["one", "two", "three"];
    close(&vectors(&request(&openai(&server.url()), &texts)), &texts, DIMS);
}

#[test]
fn many_texts_go_in_batches() {
    let texts: Vec<String> = (0..205).map(|number| format!("text number {number}")).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    for (provider, count) in [(openai as fn(&str) -> Value, 3), (gemini, 3)] {
        let server = FakeProvider::start([Act::Right]);
        close(&vectors(&request(&provider(&server.url()), &texts)), &texts, DIMS);
        assert_eq!(server.asked().iter().map(|asked| asked.texts().len()).collect::<Vec<_>>(), [96, 96, 13]);
        assert_eq!(server.asked().len(), count);
    }
    let long = "x".repeat(100_000);
    let server = FakeProvider::start([Act::Right]);
    close(&vectors(&request(&openai(&server.url()), &[long.as_str(); 5])), &[long.as_str(); 5], DIMS);
    let sizes: Vec<_> = server.asked().iter().map(|asked| asked.bytes).collect();
    assert!(sizes.len() == 3 && sizes.iter().all(|bytes| *bytes <= 251_000), "{sizes:?}");
}

#[test]
fn what_passes_is_tried_again() {
    let busy = |header: &str| Act::Says(429, header.to_owned(), "{\"error\":{\"message\":\"slow down\"}}".into());
    for acts in [
        vec![busy("retry-after-ms: 20\r\n"), Act::Right],
        vec![busy("Retry-After: Wed, 21 Oct 2015 07:28:00 GMT\r\n"), Act::Right],
        vec![says(408, ""), says(503, "<html>"), Act::Right],
        vec![says(500, ""), says(502, ""), says(500, ""), Act::Right],
        vec![Act::Half, Act::Right],
        vec![Act::Raw(Vec::new()), Act::Right],
    ] {
        let count = acts.len();
        let server = FakeProvider::start(acts);
        close(&vectors(&request(&openai(&server.url()), &["a text"])), &["a text"], DIMS);
        assert_eq!(server.asked().len(), count);
    }
}

#[test]
fn a_server_is_left_alone_as_long_as_it_wants() {
    let server = FakeProvider::start([Act::Says(429, "Retry-After: 1\r\n".into(), String::new()), Act::Right]);
    let started = std::time::Instant::now();
    assert_eq!(vectors(&request(&openai(&server.url()), &["a"])).len(), 1);
    assert!(started.elapsed() >= Duration::from_secs(1), "{:?}", started.elapsed());
    // Longer than there is time: it is not waited for, and told.
    let server = FakeProvider::start([Act::Says(429, "Retry-After: 3600\r\n".into(), String::new())]);
    let started = std::time::Instant::now();
    let answer = answer(&request(&openai(&server.url()), &["a"]));
    assert_eq!((&answer["failed"]["kind"], &answer["failed"]["retry_after_ms"]), (&json!("rate"), &json!(3_600_000)));
    assert!(started.elapsed() < Duration::from_secs(4), "{:?}", started.elapsed());
    assert_eq!(server.asked().len(), 1);
}

#[test]
fn no_time_that_a_server_names_is_too_much() {
    for header in
        ["Retry-After: 10000000000000000000", "retry-after-ms: 1e300", "Retry-After: Fri, 31 Dec 9999 23:59:59 GMT"]
    {
        assert_eq!(after(Act::Says(503, format!("{header}\r\n"), String::new())).0, failed("server", true), "{header}");
    }
}

#[test]
fn what_goes_on_ends_after_four_tries() {
    assert_eq!(after(says(500, "")), (failed("server", true), 4));
    assert_eq!(after(says(429, "")), (failed("rate", true), 4));
    assert_eq!(after(Act::Half), (failed("connection", true), 4));
    assert_eq!(after(Act::Raw(Vec::new())), (failed("connection", true), 4));
}

#[test]
fn what_lasts_is_asked_once() {
    let echo = format!("{{\"error\":{{\"message\":\"Incorrect API key provided: {KEY}\"}}}}");
    assert_eq!(after(says(401, &echo)), (failed("key", false), 1));
    assert_eq!(after(says(403, &echo)), (failed("key", false), 1));
    assert_eq!(after(says(400, &echo)), (failed("refused", false), 1));
    assert_eq!(after(says(404, "")), (failed("refused", false), 1));
    let broke = "{\"error\":{\"message\":\"no money\",\"code\":\"insufficient_quota\"}}";
    assert_eq!(after(says(429, broke)), (failed("rate", false), 1));
}

#[test]
fn no_wrong_vector_is_taken() {
    let with = |embedding: &str| says(200, &format!("{{\"data\":[{{\"index\":0,\"embedding\":{embedding}}}]}}"));
    for numbers in ["[null,1]", "[1e999]", "[\"1\"]", "{}", "\"AAA\"", "[[1]]"] {
        assert_eq!(after(with(numbers)), (failed("answer", true), 1), "{numbers}");
    }
    for numbers in ["[]", "[0,0]", "[1e39,1]", "\"AADAfwAAgD8=\""] {
        assert_eq!(after(with(numbers)), (failed("answer", false), 1), "{numbers}");
    }
    for body in ["", "<html>welcome to the hotel</html>", "{\"data\":[{\"embedding\":[1]}]}", "{\"error\":\"no\"}", "[1"] {
        assert_eq!(after(says(200, body)), (failed("answer", true), 1), "{body}");
    }
    for body in ["{\"data\":[]}", "{\"data\":[{\"index\":1,\"embedding\":[1]}]}"] {
        assert_eq!(after(says(200, body)), (failed("answer", false), 1), "{body}");
    }
    assert_eq!(after(Act::Raw(b"SSH-2.0-OpenSSH\r\n\r\n".to_vec())), (failed("answer", true), 1));
}

#[test]
fn other_dimensions_than_asked_for_are_refused() {
    let other = says(200, "{\"data\":[{\"index\":0,\"embedding\":[1,2,3]}]}");
    let server = FakeProvider::start([other.clone()]);
    let mut wanted = request(&openai(&server.url()), &["a"]);
    wanted["provider"]["server"]["dimensions"] = json!(4);
    assert_eq!(fault(&wanted), failed("answer", false));
    // From batch to batch too.
    let server = FakeProvider::start([Act::Right, other]);
    let mut wanted = request(&openai(&server.url()), &["a", "b"]);
    wanted["limits"]["batch"] = json!(1);
    assert_eq!(fault(&wanted), failed("answer", false));
    let server = FakeProvider::start([says(200, "{\"embeddings\":[{\"values\":[1]}]}")]);
    assert_eq!(fault(&request(&gemini(&server.url()), &["a", "b"])), failed("answer", false));
}

#[test]
fn a_server_that_never_answers_is_not_waited_for() {
    let server = FakeProvider::start([Act::Silent]);
    let mut wanted = request(&openai(&server.url()), &["a"]);
    wanted["limits"]["timeout_ms"] = json!(300);
    let started = std::time::Instant::now();
    assert_eq!(fault(&wanted), failed("timeout", true));
    assert!(started.elapsed() < Duration::from_secs(4), "{:?}", started.elapsed());
    assert_eq!(server.asked().len(), 1);
}

#[test]
fn an_endless_answer_is_not_read() {
    let server = FakeProvider::start([Act::Endless]);
    assert_eq!(fault(&request(&openai(&server.url()), &["a"])), failed("answer", false));
    assert!(server.written() < 64 << 20, "{}", server.written());
    let header = "HTTP/1.1 200 -\r\nx: ".to_owned() + &"x".repeat(1 << 20);
    assert_eq!(after(Act::Raw(header.into_bytes())).0.0, "answer");
}

#[test]
fn no_redirect_is_followed() {
    let other = FakeProvider::start([Act::Right]);
    for status in [301, 302, 303, 307, 308] {
        let location = format!("location: {}/embeddings\r\n", other.url());
        assert_eq!(after(Act::Says(status, location, String::new())), (failed("refused", false), 1), "{status}");
    }
    assert_eq!(other.asked().len(), 0, "the key travelled: {:?}", other.asked());
}

#[test]
fn nobody_listens() {
    let closed = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap();
    assert_eq!(fault(&request(&openai(&format!("http://{closed}/v1")), &["a"])), failed("connection", true));
}

#[test]
fn what_cannot_be_asked_is_not_asked() {
    for url in
        ["http://example.org/v1", "http://me:secret@127.0.0.1/v1", "ftp://127.0.0.1", "", "https://example.org/v1?key=x"]
    {
        assert_eq!(fault(&request(&openai(url), &["a"])), failed("request", false), "{url}");
    }
    let server = FakeProvider::start([Act::Right]);
    for (key, texts) in [("request", &[][..]), ("request", &["a", " "])] {
        assert_eq!(fault(&request(&openai(&server.url()), texts)), failed(key, false));
    }
    let mut wanted = request(&gemini(&server.url()), &["a"]);
    wanted["provider"]["server"]["model"] = json!("../../files/x?y");
    assert_eq!(fault(&wanted), failed("request", false));
    let good = request(&openai(&server.url()), &["a"]).to_string();
    for key in [None, Some(""), Some(" "), Some("two words"), Some("line\nbreak"), Some("\u{e9}")] {
        let run = run(good.as_bytes(), key);
        let answer: Value = serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {run:#?}"));
        assert_eq!(answer["failed"]["kind"], "key", "{answer}");
        assert!(answer["failed"]["message"].as_str().is_some_and(|message| message.contains("A_KEY")), "{answer}");
    }
    assert_eq!(server.asked().len(), 0);
}

#[test]
fn what_is_no_request_is_answered_too() {
    for input in ["", "hello", "{}", "{\"version\":2}", "{\"version\":1}", "[[[[[["] {
        let run = run(input.as_bytes(), Some(KEY));
        let answer: Value = serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {run:#?}"));
        assert_eq!(answer["failed"]["kind"], "request", "{input}");
    }
}

#[test]
fn it_says_its_version_and_what_it_is() {
    let run = |argument: &str| {
        let mut command = Command::new(process::embedder());
        command.arg(argument).env_clear().current_dir(Path::new("/"));
        process::run(command, Vec::new(), Duration::from_secs(30))
    };
    assert!(run("--version").success().stdout.starts_with("throughline-embedder "));
    drop(run("--help").failure_with_hint());
}

#[test]
fn doctor_says_who_is_asked_and_what_is_missing() {
    let mut home = Home::new();
    let told = |home: &Home, text: &str| {
        let folder = home.throughline().join("config");
        std::fs::create_dir_all(&folder).expect("a folder");
        std::fs::write(folder.join("config.toml"), text).expect("write the configuration");
        let run = home.run(["doctor", "--json"]);
        let report: Value = serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {run:#?}"));
        let checks = report["checks"].as_array().into_iter().flatten();
        let check = checks.clone().find(|check| check["check"] == "embedding").unwrap_or_else(|| panic!("none in {report}"));
        format!("{}: {}", check["status"].as_str().expect("a word"), check["message"].as_str().expect("a sentence"))
    };
    assert_eq!(told(&home, ""), "ok: the built-in model");
    assert_eq!(told(&home, "embedding.provider = \"none\""), "ok: embedding is turned off: search uses keywords only");
    let openai = "embedding.provider = \"openai\"";
    assert_eq!(
        told(&home, openai),
        "warn: text-embedding-3-small at https://api.openai.com/v1: OPENAI_API_KEY is not set, so search uses keywords only"
    );
    home.set("OPENAI_API_KEY", KEY);
    let named = told(&home, openai);
    let wanted = "ok: text-embedding-3-small at https://api.openai.com/v1, with the key in OPENAI_API_KEY, by /";
    assert!(named.starts_with(wanted) && named.ends_with("/throughline-embedder"), "{named}");
    let auto = told(&home, "embedding.provider = \"auto\"");
    assert!(auto.contains(", then the built-in model (GEMINI_API_KEY or GOOGLE_API_KEY is not set)"), "{auto}");
    assert!(!auto.contains("QWERTY"), "{auto}");
}
