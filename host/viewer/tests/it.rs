//! The viewer as a server: who may ask, what is answered, and when it ends. Requests are written by hand, so that they can be wrong.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tests::home::Home;
use tests::process;

/// A running viewer.
struct Viewer {
    child: Child,
    host: String,
    token: String,
}

/// An answer.
#[derive(Debug)]
struct Answer {
    status: u16,
    head: String,
    body: String,
}

impl Answer {
    fn header(&self, name: &str) -> Option<&str> {
        let of = |line: &'_ str| line.split_once(": ").map(|(key, value)| (key.to_ascii_lowercase(), value.to_owned()));
        let found = self.head.lines().find(|line| of(line).is_some_and(|(key, _)| key == name));
        found.and_then(|line| line.split_once(": ")).map(|(_, value)| value)
    }

    #[track_caller]
    fn json(&self) -> Value {
        assert_eq!(self.status, 200, "{self:#?}");
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:#?}"))
    }
}

impl Viewer {
    fn start(home: &Home, more: &Value) -> Self {
        let mut settings = json!({
            "version": env!("CARGO_PKG_VERSION"), "program": process::throughline(), "port": 0, "write": false, "open": false,
            "idle_seconds": 600, "project": null,
        });
        for (name, value) in more.as_object().expect("an object") {
            settings[name] = value.clone();
        }
        let mut child = home
            .isolated(env!("CARGO_BIN_EXE_throughline-viewer"))
            .arg(settings.to_string())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("start the viewer");
        let mut address = String::new();
        BufReader::new(child.stdout.take().expect("stdout")).read_line(&mut address).expect("an address");
        let rest = address.trim().strip_prefix("http://").expect("an address");
        let (host, token) = rest.split_once("/#").expect("a token");
        Self { child, host: host.to_owned(), token: token.to_owned() }
    }

    /// Sends a request as it stands and returns the answer.
    fn raw(&self, request: &str) -> Answer {
        let mut stream = TcpStream::connect(&self.host).expect("connect");
        stream.set_read_timeout(Some(Duration::from_mins(1))).expect("a timeout");
        stream.write_all(request.as_bytes()).expect("write");
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).expect("read");
        let text = String::from_utf8(bytes).expect("UTF-8");
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        Answer { status, head: head.to_owned(), body: body.to_owned() }
    }

    /// A request with these further header lines.
    fn send(&self, method: &str, path: &str, headers: &[String], body: &str) -> Answer {
        let mut lines = vec![format!("{method} {path} HTTP/1.1"), "Connection: close".into()];
        if !headers.iter().any(|line| line.starts_with("Host:")) {
            lines.push(format!("Host: {}", self.host));
        }
        lines.extend(headers.iter().cloned());
        if !body.is_empty() {
            lines.push("Content-Type: application/json".into());
            lines.push(format!("Content-Length: {}", body.len()));
        }
        self.raw(&format!("{}\r\n\r\n{body}", lines.join("\r\n")))
    }

    fn origin(&self) -> String {
        format!("Origin: http://{}", self.host)
    }

    /// Exchanges a token.
    fn exchange(&self, token: &str) -> Answer {
        self.send("POST", "/api/session", &[self.origin()], &json!({"token": token}).to_string())
    }

    /// Exchanges the token and returns the line with the cookie.
    fn cookie(&self) -> String {
        let answer = self.exchange(&self.token);
        assert_eq!(answer.status, 204, "{answer:#?}");
        let cookie = answer.header("set-cookie").expect("a cookie");
        assert!(cookie.ends_with("; Path=/; HttpOnly; SameSite=Strict"), "{cookie}");
        format!("Cookie: {}", cookie.split(';').next().expect("a pair"))
    }

    fn get(&self, path: &str, cookie: &str) -> Answer {
        self.send("GET", path, &[cookie.to_owned()], "")
    }

    fn post(&self, cookie: &str, body: &Value) -> Answer {
        self.send("POST", "/api/do", &[cookie.to_owned(), self.origin()], &body.to_string())
    }
}

impl Drop for Viewer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A home with this many memories in a project.
fn home(count: usize) -> (Home, String) {
    let home = Home::new();
    let project = home.project("shop");
    let line = |n: usize| json!({"project": project, "type": "learning", "content": format!("Otter number {n} sleeps in bay {}", n * 7)});
    let lines: Vec<String> = (0..count).map(|n| line(n).to_string()).collect();
    let run = process::run(home.command(["import", "--json", "-"]), lines.join("\n").into_bytes(), process::WATCHDOG);
    assert_eq!(run.code, Some(0), "{run:#?}");
    let root = project.to_string_lossy().into_owned();
    (home, root)
}

#[test]
fn only_the_cookie_opens_and_the_token_buys_it_once() {
    let (home, _) = home(1);
    let viewer = Viewer::start(&home, &json!({}));
    for path in ["/api/state", "/api/memories", "/api/live", "/api/nothing"] {
        assert_eq!(viewer.get(path, "X: y").status, 401, "{path}");
        assert_eq!(viewer.get(path, "Cookie: throughline=x; throughline-1=y").status, 401, "{path}");
    }
    for wrong in ["", "x", &viewer.token[1..], &format!("{}x", viewer.token)] {
        assert_eq!(viewer.exchange(wrong).status, 403, "{wrong}");
    }
    let cookie = viewer.cookie();
    assert_eq!(viewer.exchange(&viewer.token).status, 403, "the token works twice");
    assert_eq!(viewer.get("/api/state", &cookie).json()["write"], json!(false));
    assert_eq!(viewer.get("/api/state", &format!("Cookie: a=b; {}", cookie.trim_start_matches("Cookie: "))).status, 200);
    assert_eq!(viewer.get("/api/state", &cookie[..cookie.len() - 1]).status, 401);
    // Another viewer's cookie has another name, so that a browser can hold both.
    let other = Viewer::start(&home, &json!({}));
    assert_ne!(other.cookie().split('=').next(), cookie.split('=').next());
    assert_eq!(other.get("/api/state", &cookie).status, 401);
}

#[test]
fn another_name_or_another_site_is_refused() {
    let (home, _) = home(1);
    let viewer = Viewer::start(&home, &json!({"write": true}));
    let cookie = viewer.cookie();
    let port = viewer.host.rsplit(':').next().expect("a port");
    let hosts = [
        "stranger.test".to_owned(),
        format!("stranger.test:{port}"),
        format!("localhost:{port}"),
        "127.0.0.1".into(),
        format!("127.0.0.1.stranger.test:{port}"),
        format!("[::1]:{port}"),
        String::new(),
    ];
    for host in hosts {
        for path in ["/", "/api/state", "/app.js"] {
            let answer = viewer.send("GET", path, &[format!("Host: {host}"), cookie.clone()], "");
            assert!(matches!(answer.status, 400 | 421), "{host:?} {path}: {answer:#?}");
        }
    }
    let two = format!(
        "GET /api/state HTTP/1.1\r\nHost: {}\r\nHost: stranger.test\r\n{cookie}\r\nConnection: close\r\n\r\n",
        viewer.host
    );
    assert!(matches!(viewer.raw(&two).status, 400 | 421));
    let none = format!("GET /api/state HTTP/1.0\r\n{cookie}\r\n\r\n");
    assert!(matches!(viewer.raw(&none).status, 400 | 421));
    let origins = [
        "null".to_owned(),
        "http://stranger.test".into(),
        format!("https://{}", viewer.host),
        format!("http://localhost:{port}"),
    ];
    for origin in origins.iter().map(|origin| format!("Origin: {origin}")) {
        assert_eq!(viewer.send("GET", "/api/state", &[origin.clone(), cookie.clone()], "").status, 403, "{origin}");
        assert_eq!(viewer.send("POST", "/api/do", &[origin.clone(), cookie.clone()], "{}").status, 403, "{origin}");
    }
    // A form of another site sends no Origin in old browsers; a change without it is refused.
    assert_eq!(viewer.send("POST", "/api/do", std::slice::from_ref(&cookie), "{}").status, 403);
    for site in ["cross-site", "same-site"] {
        let answer = viewer.send("GET", "/api/state", &[format!("Sec-Fetch-Site: {site}"), cookie.clone()], "");
        assert_eq!(answer.status, 403, "{site}");
    }
    assert_eq!(viewer.send("GET", "/api/state", &["Sec-Fetch-Site: same-origin".into(), cookie], "").status, 200);
}

#[test]
fn every_answer_forbids_what_is_not_its_own() {
    let (home, _) = home(1);
    let viewer = Viewer::start(&home, &json!({}));
    for (path, status) in
        [("/", 200), ("/app.js", 200), ("/style.css", 200), ("/nothing", 404), ("/api/state", 401), ("/../x", 404)]
    {
        let answer = viewer.get(path, "X: y");
        assert_eq!(answer.status, status, "{path}");
        assert_eq!(
            answer.header("content-security-policy"),
            Some(
                "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; font-src 'self'; \
                 base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
            ),
            "{path}"
        );
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"), "{path}");
        assert_eq!(answer.header("cache-control"), Some("no-store"), "{path}");
        assert_eq!(answer.header("access-control-allow-origin"), None, "{path}");
    }
}

#[test]
fn without_write_nothing_can_be_changed() {
    let (home, project) = home(3);
    let all = home.memories_of(project.as_ref());
    let id = all[0]["id"].as_str().expect("an id");
    let actions = ["forget", "unlink", "share", "pin", "wrong"].map(|action| json!({"action": action, "id": id}));
    let viewer = Viewer::start(&home, &json!({}));
    let cookie = viewer.cookie();
    for action in &actions {
        assert_eq!(viewer.post(&cookie, action).status, 404, "{action}");
    }
    assert_eq!(home.memories_of(project.as_ref()).len(), 3);

    let writer = Viewer::start(&home, &json!({"write": true}));
    let cookie = writer.cookie();
    assert_eq!(writer.post(&cookie, &json!({"action": "drop_everything", "id": id})).status, 422);
    let preview = writer.post(&cookie, &json!({"action": "forget", "id": id, "preview": true})).json();
    assert_eq!((&preview["deleted"][0]["id"], &preview["dry_run"]), (&json!(id), &json!(true)));
    assert_eq!(home.memories_of(project.as_ref()).len(), 3);
    let done = writer.post(&cookie, &actions[0]).json();
    assert_eq!(done["gone"], json!(true), "{done}");
    assert_eq!(home.memories_of(project.as_ref()).len(), 2);
    writer.post(&cookie, &json!({"action": "undo", "id": done["undo"]})).json();
    assert_eq!(home.memories_of(project.as_ref()).len(), 3);
    let correct =
        json!({"action": "correct", "id": id, "text": "Otters sleep in bay 9", "kind": "learning", "project": project});
    let saved = writer.post(&cookie, &correct).json();
    let shown = writer.get(&format!("/api/memory/{id}"), &cookie).json();
    assert_eq!(shown["links"][0]["id"], saved["id"], "{shown:#}");
    // What a command refuses is refused with its words.
    let refused = writer.post(&cookie, &json!({"action": "forget", "id": "--now"}));
    assert_eq!(refused.status, 422, "{refused:#?}");
    assert!(refused.body.contains("there is no memory --now"), "{refused:#?}");
}

#[test]
fn pages_hold_everything_once() {
    let (home, project) = home(57);
    let viewer = Viewer::start(&home, &json!({}));
    let cookie = viewer.cookie();
    for (base, wanted) in [
        (format!("/api/memories?limit=10&project={project}"), 57),
        ("/api/memories?limit=25".to_owned(), 57),
        (format!("/api/search?q=otter%20sleeps&limit=10&project={project}"), 57),
        ("/api/projects?limit=1".to_owned(), 1),
    ] {
        let mut seen = std::collections::BTreeSet::new();
        let mut cursor = String::new();
        let mut pages = 0;
        loop {
            let page = viewer.get(&format!("{base}{cursor}"), &cookie).json();
            for entry in page["entries"].as_array().expect("entries") {
                let name = entry.get("id").or(entry.get("path")).expect("a name").to_string();
                assert!(seen.insert(name), "{base}: twice");
            }
            pages += 1;
            match page["next"].as_str() {
                Some(next) => cursor = format!("&cursor={next}"),
                None => break,
            }
            assert!(pages < 50, "{base} has no end");
        }
        assert_eq!(seen.len(), wanted, "{base}");
    }
    // The list is entered anywhere after its first page.
    let first = viewer.get(&format!("/api/memories?limit=10&project={project}"), &cookie).json();
    let next = first["next"].as_str().expect("a second page");
    let at = |at: usize, limit: usize| {
        viewer.get(&format!("/api/memories?project={project}&cursor={next}&at={at}&limit={limit}"), &cookie).json()
    };
    let all = at(0, 100);
    assert_eq!((&all["total"], all["entries"].as_array().map(Vec::len)), (&json!(47), Some(47)));
    assert_eq!(at(40, 5)["entries"].as_array().expect("entries"), &all["entries"].as_array().expect("entries")[40..45]);
    assert_eq!(at(99, 5)["entries"], json!([]));
    let gone = all["entries"][2]["id"].as_str().expect("an id");
    drop(home.run(["memory", "delete", gone]).success());
    assert_eq!((&at(2, 1)["entries"], &at(3, 1)["entries"][0]["id"]), (&json!([null]), &all["entries"][3]["id"]));
    assert_eq!(viewer.get("/api/types", &cookie).json(), json!([{"type": "learning", "count": 56}]));
    assert_eq!(viewer.get("/api/memories?cursor=!", &cookie).status, 422);
    assert_eq!(viewer.get("/api/memories?project=/nowhere", &cookie).status, 404);
    assert_eq!(viewer.get("/api/memory/ffffffffffff", &cookie).status, 422);
    let found = viewer.get("/api/search?q=otter&limit=1", &cookie).json();
    let entry = &found["entries"][0];
    assert_eq!(entry["title_parts"][0], json!({"text": "Otter", "found": true}), "{entry:#}");
    assert!(entry["why"]["bm25"].is_number() && entry.get("content").is_none(), "{entry:#}");
}

#[test]
fn a_home_without_anything_has_pages_too() {
    let home = Home::new();
    let viewer = Viewer::start(&home, &json!({}));
    let cookie = viewer.cookie();
    for path in [
        "state",
        "memories",
        "types",
        "projects",
        "sessions",
        "failures",
        "session/x/moments",
        "today?since=0",
        "redaction",
        "health",
        "policies",
    ] {
        viewer.get(&format!("/api/{path}"), &cookie).json();
    }
}

#[test]
fn it_ends_when_nobody_uses_it_and_not_before() {
    let (home, _) = home(1);
    let mut viewer = Viewer::start(&home, &json!({"idle_seconds": 2}));
    let cookie = viewer.cookie();
    // An open stream keeps it.
    let mut stream = TcpStream::connect(&viewer.host).expect("connect");
    write!(stream, "GET /api/live HTTP/1.1\r\nHost: {}\r\n{cookie}\r\n\r\n", viewer.host).expect("write");
    let mut lines = BufReader::new(stream.try_clone().expect("a second handle")).lines();
    assert!(lines.any(|line| line.is_ok_and(|line| line.contains("hello"))));
    std::thread::sleep(Duration::from_secs(4));
    assert_eq!(viewer.child.try_wait().expect("wait"), None, "it ended while a page was open");
    // A refused request is no use.
    drop(lines);
    stream.shutdown(std::net::Shutdown::Both).expect("shut down");
    drop(stream);
    let began = Instant::now();
    while viewer.child.try_wait().expect("wait").is_none() {
        assert!(began.elapsed() < Duration::from_mins(1), "it does not end");
        std::thread::sleep(Duration::from_millis(50));
        if let Ok(mut stranger) = TcpStream::connect(&viewer.host) {
            let _ = stranger.write_all(b"GET / HTTP/1.1\r\nHost: stranger.test\r\nConnection: close\r\n\r\n");
        }
    }
    assert_eq!(viewer.child.wait().expect("wait").code(), Some(0));
}

#[test]
fn settings_that_it_does_not_know_are_an_error() {
    let run = |argument: &[&str]| {
        Command::new(env!("CARGO_BIN_EXE_throughline-viewer")).args(argument).output().expect("run the viewer")
    };
    for wrong in [
        "",
        "{}",
        "--help",
        r#"{"version":"0.0.0","program":"x","port":0,"write":false,"open":false,"idle_seconds":1,"project":null}"#,
    ] {
        let output = run(&[wrong]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains("hint:"), "{said}");
    }
    assert_eq!(run(&[]).status.code(), Some(2));
    assert!(String::from_utf8_lossy(&run(&["--version"]).stdout).starts_with("throughline-viewer "));
}
