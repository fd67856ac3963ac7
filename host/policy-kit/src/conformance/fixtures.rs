//! The suite's test data: ordinary and unusual sessions, texts, memories and notes. All of it is invented. Whatever a
//! secret scanner could mistake for a real secret is assembled at run time.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::Path;

use anyhow::Result;
use serde_json::{Value, json};

use crate::sample;
use throughline_model::contract::{Change, Decision, Discovery, Memory, Session, SessionNotes, SessionRecord};
use throughline_sandbox::imports::{Fact, MemorySource};

/// The project's root folder.
pub(super) const ROOT: &str = "/home/someone/tea-shop";

/// When the sessions started: 2026-01-05 09:00 UTC, in milliseconds.
pub(super) const STARTED_AT: u64 = 1_767_603_600_000;

/// The session that the calls are about.
pub(super) fn session() -> Session {
    Session {
        id: sample::SESSION.into(),
        project: "conformance".into(),
        root: ROOT.into(),
        cwd: format!("{ROOT}/src"),
        agent: "claude-code".into(),
        model: Some("claude-opus-5-5".into()),
        now: STARTED_AT + 3_600_000,
        attributes: Vec::new(),
    }
}

/// A reproducible random number generator, `SplitMix64`.
pub(super) struct Random(pub u64);

impl Random {
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `end`, which must not be 0.
    pub(super) fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % end as u64).unwrap_or(0)
    }

    /// Returns letters and digits.
    pub(super) fn word(&mut self, length: usize) -> String {
        const LETTERS: &[u8] = b"ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789";
        (0..length).map(|_| char::from(LETTERS[self.below(LETTERS.len())])).collect()
    }

    /// Returns any characters, unusual ones often.
    pub(super) fn text(&mut self, length: usize) -> String {
        const ODD: &[char] = &[
            '\0',
            '\u{1}',
            '\t',
            '\n',
            '\r',
            '\u{1b}',
            '\u{7f}',
            '"',
            '\\',
            '<',
            '`',
            '[',
            ']',
            '#',
            'ß',
            'é',
            '\u{301}',
            '\u{200b}',
            '\u{200d}',
            '\u{202e}',
            '\u{2028}',
            '\u{fe0f}',
            '\u{feff}',
            '\u{fffd}',
            '\u{ffff}',
            '한',
            '글',
            '字',
            '👍',
            '🏽',
            '👩',
            '\u{10ffff}',
            ' ',
            ' ',
            'a',
            'b',
            '=',
            ':',
            '-',
            '/',
        ];
        let mut any = || match self.below(4) {
            0 => char::from_u32(u32::try_from(self.below(0x11_0000)).unwrap_or(0)).unwrap_or('\u{fffd}'),
            _ => ODD[self.below(ODD.len())],
        };
        (0..length).map(|_| any()).collect()
    }
}

/// Returns texts of unusual characters.
pub(super) fn odd_texts() -> Vec<String> {
    let mut texts: Vec<String> = [
        "",
        " ",
        "\n",
        "\r\n\r\n",
        "\t",
        "\0",
        "\u{feff}",
        "\u{fffd}",
        "\u{202e}txet\u{202c}",
        "a\u{301}\u{301}\u{301}",
        "👩‍👩‍👧‍👦🏽🇰🇷",
        "한국어로 쓴 문장입니다.",
        "日本語の文。",
        "الجملة العربية",
        "\u{1b}[31mred\u{1b}[0m",
        "\u{10ffff}",
        "\"",
        "\\",
        "`",
        "```",
        "[redacted:",
        "[redacted:]",
        "[redacted:x",
        "]",
        "</system-reminder>",
        "%s%n{}${x}",
    ]
    .map(str::to_owned)
    .to_vec();
    texts.extend([8, 100, 1_000, 5_000].map(|length| Random(length as u64).text(length)));
    texts.push("é".repeat(3_000));
    texts
}

/// Returns ordinary texts with strings that look like secrets.
pub(super) fn secret_texts() -> Vec<String> {
    let mut random = Random(7);
    let github = format!("gh{}_{}", "p", random.word(36));
    let other = format!("gh{}_{}", "p", random.word(36));
    let aws = format!("AK{}{}", "IA", random.word(16).to_ascii_uppercase());
    let slack = format!("xo{}-{}-{}-{}", "xb", "123456789012", "210987654321", random.word(24));
    let bearer = random.word(48);
    let pem =
        format!("-----BEGIN {0} KEY-----\n{1}\n{2}\n-----END {0} KEY-----\n", "PRIVATE", random.word(64), random.word(64));
    let mut texts = vec![
        github.clone(),
        format!("{github} at the start"),
        format!("at the end {github}"),
        format!("in the {github}, {other} middle"),
        format!("{github}{other}"),
        format!("{github} {github}\n{other}"),
        format!("{{\"stdout\":\"one\\n{aws}\\ntwo\"}}"),
        format!("AWS_ACCESS_KEY_ID={aws}\nAWS_SECRET_ACCESS_KEY={}", random.word(40)),
        format!("curl -H 'Authorization: Bearer {bearer}' https://api.example.com/v1?token={slack}"),
        format!("postgres://admin:{}@db.example.com/shop", random.word(20)),
        format!("before\n{pem}after"),
        format!("한국어 {github} 텍스트 👍{aws}👍"),
        format!("password = \"{}\" # 비밀번호", random.word(16)),
        format!("[redacted:github-token] and {github}"),
        format!("gh{}_ {}", "p", &github[..12]),
    ];
    // Secrets next to all kinds of characters: a secret's end must not be found in the middle of a character.
    for glue in
        ["é", "한", "👍", "\u{80}", "\u{7ff}", "\u{ffff}", "\0", "\"", "'", "/", "=", "_", "-", ".", ",", "]", "\\n", "%20"]
    {
        for secret in [&github, &aws, &slack, &bearer] {
            texts.push(format!("{glue}{secret}{glue}"));
        }
    }
    texts
}

/// Returns ordinary texts without secrets.
pub(super) fn plain_texts() -> Vec<String> {
    let mut texts: Vec<String> = [
        "The export is mended and has a test.",
        "fn main() {\n    println!(\"{}\", env!(\"CARGO_PKG_VERSION\"));\n}\n",
        "commit 4f2c1aa90b1d3f8f7a1de0a1bb9a7e6f5b0f3c2d",
        "src/export.py:42: TypeError: can only concatenate str",
        "주문 내보내기를 고쳤다.",
        "x",
    ]
    .map(str::to_owned)
    .to_vec();
    texts.extend(ordinary());
    // One text of every length, because errors are often at boundaries.
    texts.extend((0..80).map(|length| "tea and cake, ".chars().cycle().take(length).collect()));
    texts
}

/// Returns words of every length, unusual characters and beginnings of secrets in random order.
pub(super) fn mixed_texts() -> Vec<String> {
    let mut random = Random(23);
    let part = |random: &mut Random| match random.below(8) {
        0 => random.text(1),
        1 => [" ", "\n", "=", ": ", "\"", "/", "."][random.below(7)].to_owned(),
        2 => "한글é👍ßя中"[..].chars().nth(random.below(7)).map(String::from).unwrap_or_default(),
        // The beginning of a secret, followed by a complete or incomplete rest.
        3 | 4 => {
            let begin =
                [["gh", "p_"], ["gh", "p_"], ["AK", "IA"], ["sk", "-"], ["xo", "xb-"], ["Bea", "rer "], ["pass", "word="]];
            let length = random.below(60);
            let mut body = random.word(length);
            match random.below(4) {
                0 => body.retain(|letter| letter.is_ascii_alphabetic()),
                1 => body = body.bytes().map(|byte| char::from(b'0' + byte % 10)).collect(),
                _ => {}
            }
            begin[random.below(begin.len())].concat() + &body
        }
        case => {
            let length = random.below(60);
            let word = random.word(length);
            match case {
                5 => word.to_lowercase(),
                6 => word.to_uppercase(),
                _ => word,
            }
        }
    };
    let text = |_| (0..random.below(30)).map(|_| part(&mut random)).collect();
    (0..600).map(text).collect()
}

/// Returns about this many bytes of ordinary text.
pub(super) fn long_text(bytes: usize) -> String {
    const SENTENCE: &str = "The kettle = \"hot\"; key: value; see https://example.com/a?b=c, 차와 과자 and 500 g of tea. ";
    SENTENCE.repeat(bytes.div_ceil(SENTENCE.len()))
}

/// Returns the lines of an ordinary session.
pub(super) fn ordinary() -> Vec<String> {
    sample::lines(Path::new(ROOT), STARTED_AT).into_iter().map(|line| line.text).collect()
}

/// Writes a session line by line.
struct Script {
    lines: Vec<String>,
}

impl Script {
    fn line(&mut self, kind: &str, message: &Value) {
        let number = self.lines.len() as u64;
        let at =
            jiff::Timestamp::from_millisecond(i64::try_from(STARTED_AT + number * 5_000).unwrap_or(0)).unwrap_or_default();
        let parent = (number > 0).then(|| uuid(number - 1));
        let line = json!({
            "parentUuid": parent, "isSidechain": false, "type": kind, "message": message, "uuid": uuid(number),
            "timestamp": format!("{at:.3}"), "userType": "external", "cwd": ROOT, "sessionId": sample::SESSION,
            "version": "2.1.330", "gitBranch": "main",
        });
        self.lines.push(line.to_string());
    }

    fn human(&mut self, text: &str) {
        self.line("user", &json!({"role": "user", "content": text}));
    }

    fn agent(&mut self, content: &Value) {
        let message = json!({"id": format!("msg_{}", self.lines.len()), "type": "message", "role": "assistant",
            "model": "claude-opus-5-5", "content": [content], "stop_reason": "end_turn"});
        self.line("assistant", &message);
    }

    fn says(&mut self, text: &str) {
        self.agent(&json!({"type": "text", "text": text}));
    }

    fn uses(&mut self, tool: &str, input: &Value, result: &str, failed: bool) {
        let id = format!("toolu_{}", self.lines.len());
        self.agent(&json!({"type": "tool_use", "id": id, "name": tool, "input": input}));
        let content = json!([{"tool_use_id": id, "type": "tool_result", "content": result, "is_error": failed}]);
        self.line("user", &json!({"role": "user", "content": content}));
    }
}

fn uuid(number: u64) -> String {
    format!("c0f0c0f0-0000-4000-8000-{number:012}")
}

/// Returns the lines of a longer, varied session: decisions, trailers, failures and fixes, files, another language.
pub(super) fn busy_session() -> Vec<String> {
    let mut it = Script { lines: Vec::new() };
    it.human("Add rate limiting to the order API in src/api.rs. Always run the tests before you commit.");
    it.says("DECISION: use a token bucket per customer, because bursts are normal at noon. Rejected: a fixed window.");
    it.uses("Read", &json!({"file_path": format!("{ROOT}/src/api.rs")}), "     1→fn main() {}\n     2→", false);
    for number in 0..12 {
        it.uses(
            "Edit",
            &json!({"file_path": format!("{ROOT}/src/part{number}.rs"), "old_string": "a", "new_string": "b\nc"}),
            "The file has been updated.",
            false,
        );
        it.uses("Bash", &json!({"command": "cargo test"}), "Exit code 101\nerror[E0308]: mismatched types", true);
        it.uses("Bash", &json!({"command": "cargo test"}), "test result: ok. 12 passed", false);
        it.says(&format!("Part {number} is done. The limiter must be reset in tests, otherwise they fail at random."));
        it.human("아니, 그건 되돌려줘. 앞으로는 항상 탭을 써.");
    }
    it.uses(
        "Write",
        &json!({"file_path": format!("{ROOT}/docs/adr/0007-token-bucket.md"),
        "content": "# 7. Token bucket\n\nStatus: accepted\n\n## Decision\n\nWe use a token bucket.\n"}),
        "File created",
        false,
    );
    let commit = "git commit -m 'Limit the rate of orders\n\nDecision: a token bucket per customer\nRefs: SHOP-12\nReviewed-by: Kim <kim@example.com>'";
    it.uses("Bash", &json!({"command": commit}), "[main 4f2c1ab] Limit the rate of orders\n 2 files changed", false);
    it.says("Done: committed as 4f2c1ab. Left open: the limit for partners.");
    it.lines
}

/// Returns the lines of a session in which `token` occurs many times.
pub(super) fn with_token(token: &str) -> Vec<String> {
    let mut it = Script { lines: Vec::new() };
    for number in 0..6 {
        it.human(&format!("From now on always use the key {token} for shop {number}."));
        it.says(&format!("DECISION: take {token}, because it is there. I noted it in {ROOT}/{token}.txt."));
        it.uses("Bash", &json!({"command": format!("deploy --key {token}")}), &format!("error: {token} is invalid"), true);
    }
    it.lines
}

/// Returns lines of types that no policy knows, in the shape of known ones.
pub(super) fn unknown_lines() -> Vec<String> {
    (0..6)
        .map(|number| {
            json!({"type": format!("hologram-{number}"), "payload": {"depth": number, "text": "nothing of this session"},
                "uuid": format!("feedfeed-0000-4000-8000-{number:012}"), "sessionId": sample::SESSION})
            .to_string()
        })
        .collect()
}

/// Returns lines that are not JSON.
pub(super) fn malformed_lines() -> Vec<String> {
    [
        "",
        " ",
        "{",
        "}",
        "[",
        "no JSON at all",
        "{\"type\":\"user\"",
        "{\"type\":\"user\",}",
        "\u{feff}{}",
        "{\"a\":1}{\"b\":2}",
        "\0",
        "{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"a\0b\"}}",
        "{'type':'user'}",
        "NaN",
        "\u{fffd}\u{fffd}",
        "{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"\\x\"}}",
        "<html>",
        "\"unterminated",
    ]
    .map(str::to_owned)
    .to_vec()
}

/// Returns lines of JSON with unexpected shapes.
pub(super) fn strange_lines() -> Vec<String> {
    let mut lines: Vec<String> = [
        "null",
        "true",
        "1",
        "-0",
        "1e999",
        "123456789012345678901234567890",
        "\"x\"",
        "[]",
        "[[[]]]",
        "{}",
        "{\"type\":1}",
        "{\"type\":null}",
        "{\"type\":[\"user\"]}",
        "{\"type\":\"\"}",
        "{\"type\":\"user\"}",
        "{\"type\":\"user\",\"type\":\"assistant\"}",
        "{\"type\":\"system\",\"subtype\":7}",
        "{\"type\":\"summary\",\"summary\":{}}",
        "{\"\":\"\"}",
    ]
    .map(str::to_owned)
    .to_vec();
    let contents = [
        "null",
        "7",
        "\"\"",
        "[]",
        "{}",
        "[null]",
        "[1,\"x\",[]]",
        "[{\"type\":\"text\"}]",
        "[{\"type\":\"text\",\"text\":5}]",
        "[{\"type\":\"tool_use\"}]",
        "[{\"type\":\"tool_use\",\"id\":1,\"name\":[],\"input\":[]}]",
        "[{\"type\":\"tool_use\",\"id\":\"a\",\"name\":\"Edit\",\"input\":{\"file_path\":{},\"old_string\":1}}]",
        "[{\"type\":\"tool_use\",\"id\":\"b\",\"name\":\"Bash\",\"input\":{\"command\":null}}]",
        "[{\"type\":\"tool_result\"}]",
        "[{\"type\":\"tool_result\",\"tool_use_id\":\"b\",\"content\":[{\"type\":\"image\"},3]}]",
        "[{\"type\":\"thinking\",\"thinking\":{}}]",
    ];
    for kind in ["user", "assistant"] {
        for content in contents {
            lines.push(format!("{{\"type\":\"{kind}\",\"message\":{{\"role\":\"{kind}\",\"content\":{content}}}}}"));
        }
        for message in ["null", "\"x\"", "[]", "0"] {
            lines.push(format!("{{\"type\":\"{kind}\",\"message\":{message}}}"));
        }
    }
    for odd in [
        "\"timestamp\":5",
        "\"timestamp\":\"yesterday\"",
        "\"timestamp\":\"9999-99-99T99:99:99Z\"",
        "\"uuid\":{}",
        "\"cwd\":1",
        "\"isSidechain\":\"no\"",
        "\"toolUseResult\":[[]]",
        "\"timestamp\":\"-9999-01-01T00:00:00Z\"",
        "\"isMeta\":\"x\"",
    ] {
        lines.push(format!(
            "{{\"type\":\"user\",\"message\":{{\"role\":\"user\",\"content\":\"Please look at this.\"}},{odd}}}"
        ));
    }
    lines
}

/// Returns values nested deeper than most parsers accept.
pub(super) fn deep_json() -> Vec<String> {
    const DEPTH: usize = 2_000;
    vec![
        format!("{}{}", "[".repeat(DEPTH), "]".repeat(DEPTH)),
        format!("{}1{}", "{\"a\":".repeat(DEPTH), "}".repeat(DEPTH)),
        format!(
            "{{\"type\":\"user\",\"message\":{{\"role\":\"user\",\"content\":{}{}}}}}",
            "[".repeat(DEPTH),
            "]".repeat(DEPTH)
        ),
    ]
}

/// Returns lines with texts of unusual characters, including escapes of lone surrogates and NUL.
pub(super) fn odd_lines() -> Vec<String> {
    let mut it = Script { lines: Vec::new() };
    for text in odd_texts() {
        it.human(&text);
        it.says(&text);
        it.uses("Bash", &json!({"command": text}), &text, text.len().is_multiple_of(2));
        it.uses("Write", &json!({"file_path": format!("{ROOT}/{text}"), "content": text}), "done", false);
    }
    for escape in ["\\ud83d", "\\udc4d\\ud83d", "\\u0000", "a\\ud800b", "\\uffff", "\\ud83d\\udc4d"] {
        it.lines.push(format!("{{\"type\":\"user\",\"message\":{{\"role\":\"user\",\"content\":\"say {escape} twice\"}}}}"));
        it.lines.push(format!(
            "{{\"type\":\"assistant\",\"message\":{{\"role\":\"assistant\",\"content\":[{{\"type\":\"text\",\"text\":\"{escape}\"}}]}}}}"
        ));
    }
    it.lines
}

/// Returns lines of 1 MiB: one long text, many small words, and no structure at all.
pub(super) fn long_lines() -> Vec<String> {
    const BYTES: usize = 1 << 20;
    let mut it = Script { lines: Vec::new() };
    it.human("Please read the log.");
    it.human(&long_text(BYTES));
    it.says(&"word ".repeat(BYTES / 5));
    it.uses("Bash", &json!({"command": "x".repeat(BYTES)}), &"y".repeat(BYTES), true);
    it.lines.push("z".repeat(BYTES));
    it.human("And now mend it.");
    it.lines
}

/// Returns notes with something in every field.
pub(super) fn notes() -> SessionNotes {
    let lines = |lines: &[&str]| lines.iter().map(|&line| line.to_owned()).collect::<Vec<_>>();
    SessionNotes {
        original_request: "Mend the order export, whose columns are shifted where a name holds a comma".into(),
        current_objective: "Add a test for names with quotes".into(),
        outcome: "The export quotes every field; 14 tests pass. Committed as 4f2c1aa.".into(),
        started: Some(STARTED_AT),
        ended: Some(STARTED_AT + 1_800_000),
        turns: 4,
        done: lines(&["quote every field in src/export.py", "a test with a comma in a name"]),
        current: lines(&["a test with quotes"]),
        pending: lines(&["tell the bookkeepers"]),
        decisions: vec![Decision {
            what: "Quote every field".into(),
            why: "Excel guesses otherwise".into(),
            rejected: lines(&["semicolons", "tabs"]),
        }],
        discoveries: vec![Discovery {
            file: "src/export.py".into(),
            insight: "The header is written twice when the file exists".into(),
            at: Some(STARTED_AT + 60_000),
        }],
        learnings: lines(&["`pytest` must run in the virtual environment"]),
        preferences: lines(&["Always use the csv module"]),
        changes: vec![Change { path: "src/export.py".into(), added: 12, removed: 3 }],
        commits: lines(&["Quote every field of the export (4f2c1aa)"]),
        blockers: lines(&["no access to the staging bucket"]),
        errors: lines(&["test_quotes fails"]),
        attributes: vec![("model".into(), "claude-opus-5-5".into()), ("unheard-of".into(), "{\"a\":[1]}".into())],
    }
}

/// Returns notes with `text` in every entry, `times` times in each list.
pub(super) fn notes_of(text: &str, times: usize) -> SessionNotes {
    let lines = || vec![text.to_owned(); times];
    SessionNotes {
        original_request: text.into(),
        current_objective: text.into(),
        outcome: text.into(),
        done: lines(),
        current: lines(),
        pending: lines(),
        decisions: vec![Decision { what: text.into(), why: text.into(), rejected: lines() }],
        discoveries: vec![Discovery { file: text.into(), insight: text.into(), at: None }],
        learnings: lines(),
        preferences: lines(),
        changes: vec![Change { path: text.into(), added: u32::MAX, removed: u32::MAX }; times],
        commits: lines(),
        blockers: lines(),
        errors: lines(),
        ..notes()
    }
}

/// The memories of an invented project, and which of them the policy was given.
#[derive(Default)]
pub(super) struct FakeMemories {
    pub memories: Vec<Memory>,
    pub facts: Vec<Fact>,
    pub sessions: Vec<SessionRecord>,
    /// Identifiers of the memories that the policy was given.
    pub shown: RefCell<BTreeSet<String>>,
}

const KINDS: &[&str] = &[
    "decision",
    "preference",
    "correction",
    "error_fix",
    "learning",
    "discovery",
    "plan",
    "commit",
    "task",
    "result",
    "session_summary",
    "compact_summary",
    "turn",
    "horoscope",
];

impl FakeMemories {
    /// Creates `count` memories; `text` returns the words of each.
    pub(super) fn of(count: usize, text: impl Fn(usize) -> String) -> Self {
        let memory = |number: usize| Memory {
            id: format!("memory-{number:04}"),
            session_id: if number.is_multiple_of(3) { sample::SESSION.into() } else { format!("session-{}", number % 3) },
            kind: KINDS[number % KINDS.len()].into(),
            title: text(number).replace(['\n', '\r'], " ").chars().take(200).collect(),
            content: text(number),
            keywords: vec!["export".into()],
            files: vec![format!("src/part{number}.rs")],
            importance: f32::from(u8::try_from(number % 11).unwrap_or(0)) / 10.0,
            created: STARTED_AT - 60_000 * number as u64,
            seen: u32::try_from(number % 4).unwrap_or(0) + 1,
            score: f32::from(u8::try_from(10 - number % 10).unwrap_or(0)) / 10.0,
            attributes: Vec::new(),
        };
        let fact = |number: usize| Fact {
            kind: ["architecture", "pattern", "convention", "decision"][number % 4].into(),
            file: (number.is_multiple_of(2)).then(|| format!("src/part{number}.rs")),
            content: text(number).replace(['\n', '\r'], " "),
            importance: 0.5,
            updated: STARTED_AT,
        };
        let record = |number: usize| SessionRecord {
            id: if number == 0 { sample::SESSION.into() } else { format!("session-{number}") },
            started: Some(STARTED_AT - 86_400_000 * number as u64),
            ended: Some(STARTED_AT - 86_400_000 * number as u64 + 3_600_000),
            summary: text(number),
            topics: vec!["export".into()],
            files: vec!["src/export.py".into()],
            notes: (number.is_multiple_of(2)).then(|| notes_of(&text(number).replace(['\n', '\r'], " "), 3)),
        };
        Self {
            memories: (0..count).map(memory).collect(),
            facts: (0..count.min(8)).map(fact).collect(),
            sessions: (0..count.min(4)).map(record).collect(),
            shown: RefCell::default(),
        }
    }

    fn give(&self, limit: u32, is_meant: impl Fn(&Memory) -> bool, weightiest_first: bool) -> Vec<Memory> {
        let mut given: Vec<&Memory> = self.memories.iter().filter(|memory| is_meant(memory)).collect();
        if weightiest_first {
            given.sort_by(|a, b| b.importance.total_cmp(&a.importance));
        }
        given.truncate(limit.min(200) as usize);
        self.shown.borrow_mut().extend(given.iter().map(|memory| memory.id.clone()));
        given.into_iter().cloned().collect()
    }

    fn past(&self, limit: u32) -> Vec<SessionRecord> {
        self.sessions.iter().filter(|record| record.id != sample::SESSION).take(limit.min(200) as usize).cloned().collect()
    }
}

/// Whether the memory is of one of these kinds. Without kinds: of any kind but `turn`.
fn is_wanted(memory: &Memory, kinds: &[String]) -> bool {
    if kinds.is_empty() { memory.kind != "turn" } else { kinds.contains(&memory.kind) }
}

impl MemorySource for FakeMemories {
    fn count(&self, kinds: &[String]) -> Result<u64> {
        Ok(self.memories.iter().filter(|memory| is_wanted(memory, kinds)).count() as u64)
    }

    fn recent(&self, kinds: &[String], limit: u32) -> Result<Vec<Memory>> {
        Ok(self.give(limit, |memory| is_wanted(memory, kinds), false))
    }

    fn important(&self, kinds: &[String], limit: u32) -> Result<Vec<Memory>> {
        Ok(self.give(limit, |memory| is_wanted(memory, kinds), true))
    }

    fn of_session(&self, session: &str, kinds: &[String], limit: u32) -> Result<Vec<Memory>> {
        Ok(self.give(limit, |memory| memory.session_id == session && is_wanted(memory, kinds), false))
    }

    fn search(&self, query: &str, kinds: &[String], limit: u32) -> Result<Vec<Memory>> {
        let is_found = |memory: &Memory| query.split_whitespace().any(|word| memory.content.contains(word));
        Ok(self.give(limit, |memory| (kinds.is_empty() || kinds.contains(&memory.kind)) && is_found(memory), false))
    }

    fn knowledge(&self, limit: u32) -> Result<Vec<Fact>> {
        Ok(self.facts.iter().take(limit as usize).cloned().collect())
    }

    fn sessions(&self, limit: u32) -> Result<Vec<SessionRecord>> {
        Ok(self.past(limit))
    }

    fn session(&self, id: &str) -> Result<Option<SessionRecord>> {
        Ok(self.sessions.iter().find(|record| record.id == id).cloned())
    }
}
