//! `throughline-sync` as a program: what it answers over its pipes, and how it fails.

use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use tests::process::{self, Finished};
use throughline_sync_wire::{FaultKind, Reply, Request, VERSION, read, write};

const LIMIT: Duration = Duration::from_mins(1);

fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_throughline-sync"));
    command.env_remove("THROUGHLINE_ADMIN_URL").env_remove("PGPASSWORD");
    command
}

/// Sends these bytes to `throughline-sync serve`, and returns the run with its replies.
fn served(input: Vec<u8>) -> (Finished, Vec<Reply>) {
    let mut command = program();
    command.arg("serve");
    let run = process::run(command, input, LIMIT);
    let mut output = run.stdout.as_bytes();
    let mut replies = Vec::new();
    while let Some(reply) = read(&mut output).expect("replies are JSON, one a line") {
        replies.push(reply);
    }
    (run, replies)
}

fn fault(replies: &[Reply]) -> &throughline_sync_wire::Fault {
    match replies {
        [Reply::Failed(fault)] => fault,
        other => panic!("wanted one failure: {other:?}"),
    }
}

fn connect(version: u32, url: &str) -> Vec<u8> {
    let mut line = Vec::new();
    let request =
        Request::Connect { version, url: url.into(), timeout_ms: 5_000, device: String::new(), name: "machine".into() };
    write(&mut line, &request).expect("write");
    line
}

#[test]
fn it_ends_with_its_input_and_says_what_it_does_not_understand() {
    let (run, replies) = served(Vec::new());
    assert!(run.code == Some(0) && replies.is_empty(), "{run:#?}");
    let (_, replies) = served(connect(VERSION + 1, "postgres://a@localhost/x"));
    assert_eq!(fault(&replies).kind, FaultKind::Protocol);
    let (run, replies) = served(b"{\"do\":\"drop-tables\"}\n".to_vec());
    assert!(run.code == Some(1) && fault(&replies).kind == FaultKind::Protocol, "{run:#?}");
    let (_, replies) = served(b"{\"do\":\"series\"}\n".to_vec());
    assert!(fault(&replies).message.contains("no connection"));
    let (_, replies) = served(connect(VERSION, "postgres://a:secret99@db.example/x?sslmode=disable"));
    assert_eq!(fault(&replies).kind, FaultKind::Address);
    assert!(!format!("{replies:?}").contains("secret99"));
    let (_, replies) = served(connect(VERSION, "postgres://a@%2Fno%2Fsuch%2Ffolder/x"));
    assert_eq!(fault(&replies).kind, FaultKind::Unreachable);
}

/// Accepts one connection, sends these bytes, and reads until the client goes.
fn invalid_answer(bytes: Vec<u8>) -> (tempfile::TempDir, std::thread::JoinHandle<()>) {
    use std::io::{Read as _, Write as _};
    let folder = tempfile::tempdir().expect("a folder");
    let listener = std::os::unix::net::UnixListener::bind(folder.path().join(".s.PGSQL.5432")).expect("listen");
    let serving = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a client");
        // The client may go while it is written to.
        let _ = stream.write_all(&bytes);
        let _ = stream.read_to_end(&mut Vec::new());
    });
    (folder, serving)
}

fn url_of(folder: &Path) -> String {
    format!("postgres://a:b@{}/x", folder.to_string_lossy().replace('/', "%2F"))
}

#[test]
fn attack_a_server_that_sends_a_gigabyte_nothing_or_noise() {
    // `DataRow` of a gigabyte, of which nothing else ever comes: seen by its head, and not waited for.
    let huge = [&b"D"[..], &(1_u32 << 30).to_be_bytes(), &[0; 100]].concat();
    for (bytes, kinds) in [
        (huge, [FaultKind::InvalidAnswer, FaultKind::InvalidAnswer]),
        (b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec(), [FaultKind::InvalidAnswer, FaultKind::Unreachable]),
        (vec![0xff; 4096], [FaultKind::InvalidAnswer, FaultKind::Unreachable]),
        (Vec::new(), [FaultKind::Slow, FaultKind::Slow]),
    ] {
        let (folder, serving) = invalid_answer(bytes);
        let (run, replies) = served(connect(VERSION, &url_of(folder.path())));
        assert!(kinds.contains(&fault(&replies).kind), "{replies:?}");
        assert!(run.wall < Duration::from_secs(20), "{run:#?}");
        serving.join().expect("the server");
    }
}

#[test]
fn attack_tls_that_is_none_and_a_certificate_of_nobody() {
    use std::io::{Read as _, Write as _};
    for (answer, word) in [(&b"N"[..], "offers no TLS"), (&b"S\x15\x03\x01\x00\x02\x02\x28"[..], "")] {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("listen");
        let port = listener.local_addr().expect("a port").port();
        let serving = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().expect("a client");
            let mut request = [0; 8];
            stream.read_exact(&mut request).expect("the request for TLS");
            let _ = stream.write_all(answer);
            let _ = stream.read_to_end(&mut Vec::new());
        });
        let (_, replies) = served(connect(VERSION, &format!("postgres://a:b@127.0.0.1:{port}/x")));
        let fault = fault(&replies);
        assert!(fault.message.contains(word) && !matches!(fault.kind, FaultKind::Protocol), "{fault:?}");
        serving.join().expect("the server");
    }
}

#[test]
fn admin_without_a_server_says_what_to_do() {
    let run = |arguments: &[&str]| -> Output {
        program().arg("admin").args(arguments).stdin(Stdio::null()).output().expect("run")
    };
    let output = run(&["init"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("hint: name it with --server"));
    let output = run(&["invite", "--server", "postgres://a@localhost/x", "Robert'); DROP"]);
    assert_eq!(output.status.code(), Some(2), "a name has a form");
}
