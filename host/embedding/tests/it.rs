//! Tests the host's side of embedding: the real `throughline-embedder` with fake servers, and programs in its place
//! that are missing, broken or stuck.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use tests::fake_provider::{Act, DIMS, FakeProvider, vector_of};
use tests::process;
use throughline_embedding::{
    self as embedding, EmbedOutcome, Embedder, EmbeddingFailure, Model, Provider, Purpose, Settings,
};
use throughline_platform::log::Log;

const KEY: &str = "key-QWERTYUIOPasdfghjkl";

fn settings(text: &str) -> Settings {
    let table: toml::Table = toml::from_str(text).expect("TOML");
    table["embedding"].clone().try_into().expect("settings")
}

/// An environment in which both keys are set.
fn keys(name: &str) -> Option<OsString> {
    ["OPENAI_API_KEY", "GEMINI_API_KEY"].contains(&name).then(|| KEY.into())
}

fn real() -> Embedder<'static> {
    Embedder { program: Some(process::embedder()), variable: &keys, backoff_ms: 1, until: None }
}

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

fn ask(settings: &Settings, embedder: &Embedder<'_>, log: &Log) -> Result<EmbedOutcome, EmbeddingFailure> {
    embedding::embed(settings, embedder, &texts(&["one", "인증"]), Purpose::Query, log)
}

#[track_caller]
fn is_right(embedded: &EmbedOutcome, provider: &str, name: &str) {
    let EmbedOutcome::Remote(model, vectors) = embedded else { panic!("{embedded:?}") };
    assert_eq!(*model, Model { provider: provider.into(), name: name.into(), dims: DIMS });
    for (embedding, text) in vectors.iter().zip(["one", "인증"]) {
        assert!(embedding.vector.iter().zip(vector_of(text, DIMS)).all(|(a, b)| (a - b).abs() < 1e-6));
        assert!((embedding.known - 1.0).abs() < f32::EPSILON);
    }
    assert_eq!(vectors.len(), 2);
}

/// Writes a program that takes the embedder's place.
fn instead(folder: &Path, script: &str) -> PathBuf {
    let file = folder.join("throughline-embedder");
    fs::write(&file, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    file
}

#[test]
fn without_configuration_nobody_is_started() {
    let nobody = Embedder { program: None, variable: &keys, backoff_ms: 1, until: None };
    assert_eq!(ask(&Settings::default(), &nobody, &Log::default()), Ok(EmbedOutcome::Local));
    assert_eq!(ask(&settings("embedding.provider = \"none\""), &nobody, &Log::default()), Ok(EmbedOutcome::Disabled));
}

#[test]
fn both_protocols() {
    let server = FakeProvider::start([Act::Right]);
    let place = server.url().replace("http://", "");
    for provider in ["openai", "gemini"] {
        let settings = settings(&format!(
            "[embedding]\nprovider = {provider:?}\n{provider}.base_url = {:?}\n{provider}.model = \"m\"",
            server.url()
        ));
        is_right(&ask(&settings, &real(), &Log::default()).unwrap(), provider, &format!("m@{place}"));
    }
    assert_eq!(server.asked().len(), 2);
}

#[test]
fn a_named_provider_fails_alone() {
    let (broken, other) =
        (FakeProvider::start([Act::Says(500, String::new(), String::new())]), FakeProvider::start([Act::Right]));
    let settings = settings(&format!(
        "[embedding]\nprovider = \"openai\"\nopenai.base_url = {:?}\ngemini.base_url = {:?}",
        broken.url(),
        other.url()
    ));
    let failure = ask(&settings, &real(), &Log::default()).unwrap_err();
    assert!(failure.is_retryable && failure.provider == Provider::Openai && failure.what.contains("500"), "{failure:?}");
    assert_eq!((broken.asked().len(), other.asked().len()), (4, 0));
    let no_key = Embedder { variable: &|_| None, ..real() };
    let failure = ask(&settings, &no_key, &Log::default()).unwrap_err();
    assert!(
        !failure.is_retryable && failure.what.contains("OPENAI_API_KEY") && failure.hint.contains("OPENAI_API_KEY"),
        "{failure:?}"
    );
    assert_eq!(broken.asked().len(), 4);
}

#[test]
fn auto_goes_on_to_the_next_and_says_so() {
    let (broken, other) =
        (FakeProvider::start([Act::Says(401, String::new(), KEY.into())]), FakeProvider::start([Act::Right]));
    let both = settings(&format!(
        "[embedding]\nprovider = \"auto\"\nopenai.base_url = {:?}\ngemini.base_url = {:?}\ngemini.model = \"m\"",
        broken.url(),
        other.url()
    ));
    let log = Log::default();
    is_right(&ask(&both, &real(), &log).unwrap(), "gemini", &format!("m@{}", other.url().replace("http://", "")));
    let told = log.unredacted_lines().join("\n");
    assert!(told.contains("embeddings of openai") && told.contains("401") && !told.contains("QWERTY"), "{told}");
    // The last fallback is the built-in model. Providers without a key are skipped without a log line.
    let nobody = Embedder { program: None, variable: &keys, backoff_ms: 1, until: None };
    let log = Log::default();
    assert_eq!(ask(&both, &nobody, &log), Ok(EmbedOutcome::Local));
    assert_eq!(log.unredacted_lines().len(), 2);
    let log = Log::default();
    assert_eq!(ask(&both, &Embedder { variable: &|_| None, ..real() }, &log), Ok(EmbedOutcome::Local));
    assert!(log.is_empty());
    // Without the built-in model as a fallback, the last failure is returned.
    let alone =
        settings(&format!("[embedding]\nprovider = \"auto\"\norder = [\"openai\"]\nopenai.base_url = {:?}", broken.url()));
    assert_eq!(ask(&alone, &real(), &Log::default()).unwrap_err().provider, Provider::Openai);
    assert!(
        ask(&alone, &Embedder { variable: &|_| None, ..real() }, &Log::default()).unwrap_err().what.contains("is not set")
    );
}

#[test]
fn an_embedder_that_is_not_there_is_one_clear_sentence() {
    let named = settings("embedding.provider = \"openai\"");
    for program in [None, Some(PathBuf::from("/nowhere/throughline-embedder"))] {
        let failure = ask(&named, &Embedder { program, ..real() }, &Log::default()).unwrap_err();
        assert!(failure.to_string().contains("throughline-embedder") && failure.hint.contains("install"), "{failure:?}");
        assert!(!failure.is_retryable);
    }
}

#[test]
fn an_embedder_that_talks_nonsense_gives_no_vector() {
    let folder = tempfile::tempdir().unwrap();
    let named = settings("[embedding]\nprovider = \"openai\"\ntimeout_ms = 100");
    for (script, words) in [
        ("exit 1", "without an answer"),
        ("kill -9 $$", "without an answer"),
        ("echo hello", "invalid answer"),
        ("/bin/cat", "invalid answer"),
        ("/usr/bin/head -c 3000000 /dev/zero", "more than"),
        (
            "echo '{\"embedded\":{\"version\":1,\"model\":\"m\",\"dims\":1,\"vectors\":[\"AACAPw==\"]}}'",
            "1 vectors for 2 texts",
        ),
        ("echo '{\"failed\":{\"kind\":\"refused\",\"message\":\"no\\u0007pe\",\"retryable\":false}}'", "no pe"),
    ] {
        let program = Some(instead(folder.path(), script));
        let failure = ask(&named, &Embedder { program, ..real() }, &Log::default()).unwrap_err();
        assert!(failure.what.contains(words), "{script}: {failure:?}");
        assert!(!failure.hint.is_empty());
    }
}

#[test]
fn an_embedder_that_hangs_is_ended_with_what_it_started() {
    let folder = tempfile::tempdir().unwrap();
    let named = settings("[embedding]\nprovider = \"openai\"\ntimeout_ms = 100");
    let child = folder.path().join("child");
    let program = Some(instead(folder.path(), &format!("/bin/sleep 60 & echo $! > {}; wait", child.display())));
    let started = Instant::now();
    let failure = ask(&named, &Embedder { program, ..real() }, &Log::default()).unwrap_err();
    assert!(failure.is_retryable && failure.what.contains("did not finish"), "{failure:?}");
    assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
    let child = fs::read_to_string(child).unwrap();
    let state = || fs::read_to_string(format!("/proc/{}/stat", child.trim())).unwrap_or_default();
    let until = Instant::now() + Duration::from_secs(5);
    while state().contains(") S ") && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(10));
    }
    assert!(!state().contains(") S "), "what it started is still there");
}

#[test]
fn a_hook_waits_no_longer_than_it_can() {
    let server = FakeProvider::start([Act::Silent]);
    let settings = settings(&format!(
        "[embedding]\nprovider = \"auto\"\nopenai.base_url = {0:?}\ngemini.base_url = {0:?}\norder = [\"openai\", \"gemini\"]",
        server.url()
    ));
    let started = Instant::now();
    let failure = ask(&settings, &Embedder { until: Some(started + Duration::from_millis(300)), ..real() }, &Log::default());
    assert!(failure.as_ref().is_err_and(|failure| failure.is_retryable), "{failure:?}");
    assert!(started.elapsed() < Duration::from_secs(3), "{:?}", started.elapsed());
}

#[test]
fn it_gets_no_more_of_the_environment_than_it_needs() {
    let folder = tempfile::tempdir().unwrap();
    let seen = folder.path().join("seen");
    let program = Some(instead(folder.path(), &format!("/usr/bin/env > {}", seen.display())));
    let everything = |name: &str| Some(OsString::from(format!("value-of-{name}")));
    let names = |provider: &str| {
        let settings = settings(&format!("[embedding]\nprovider = {provider:?}\nfolder.path = \"/models\""));
        let embedder = Embedder { program: program.clone(), variable: &everything, backoff_ms: 1, until: None };
        drop(ask(&settings, &embedder, &Log::default()).unwrap_err());
        let text = fs::read_to_string(&seen).unwrap();
        let mut names: Vec<String> = text.lines().filter_map(|line| Some(line.split_once('=')?.0.to_owned())).collect();
        // The shell sets these itself.
        names.retain(|name| !["PWD", "SHLVL", "_", "OLDPWD"].contains(&name.as_str()));
        names.sort();
        names
    };
    let network = [
        "ALL_PROXY",
        "HTTPS_PROXY",
        "HTTP_PROXY",
        "NO_PROXY",
        "SSL_CERT_DIR",
        "SSL_CERT_FILE",
        "all_proxy",
        "http_proxy",
        "https_proxy",
        "no_proxy",
    ];
    for (provider, key) in [("openai", Some("OPENAI_API_KEY")), ("gemini", Some("GEMINI_API_KEY")), ("folder", None)] {
        let network = if provider == "folder" { &[][..] } else { &network[..] };
        let mut wanted: Vec<&str> = network.iter().copied().chain(key).collect();
        wanted.sort_unstable();
        assert_eq!(names(provider), wanted, "{provider}");
    }
}
