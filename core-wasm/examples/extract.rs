//! Prints what the default policy remembers of a transcript: `cargo run -p throughline-default-policy --example extract
//! -- FILE [--json]`. `--json` prints one memory per line, as the evaluation scripts expect it. `--split N` uses N
//! calls, as hooks would.

#[path = "shared/lines.rs"]
mod lines;
#[path = "shared/session.rs"]
mod session;

use std::collections::BTreeMap;
use std::io::Write;

use throughline_default_policy::bindings::exports::throughline::policy::extractor::{Extraction, Request};
use throughline_default_policy::bindings::throughline::policy::types::Draft;
use throughline_default_policy::extract::extract;
use throughline_default_policy::summary::summarize;

use lines::Slice;
use session::session;

fn main() -> std::io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let (mut files, mut json, mut calls) = (Vec::new(), false, 1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--json" => json = true,
            "--split" => {
                calls = arguments.next().and_then(|count| count.parse().ok()).unwrap_or(1);
            }
            _ => files.push(argument),
        }
    }
    for file in files {
        let text = String::from_utf8_lossy(&std::fs::read(&file)?).into_owned();
        let lines: Vec<&str> = text.lines().collect();
        let (memories, extraction) = run(&lines, calls);
        let mut out = std::io::stdout().lock();
        if json {
            let name = file.rsplit('/').next().unwrap_or(&file).trim_end_matches(".jsonl");
            for draft in memories.values() {
                let (kind, title, content) = (&draft.kind, &draft.title, &draft.content);
                let value = serde_json::json!({"session": name, "key": draft.key, "kind": kind, "title": title, "content": content, "files": draft.files});
                writeln!(out, "{value}")?;
            }
            let summary = summarize(&extraction.notes).map(|summary| summary.text);
            let value = serde_json::json!({"session": name, "key": "summary", "kind": "session_summary", "title": "", "content": summary, "files": [], "notes": format!("{:?}", extraction.notes)});
            writeln!(out, "{value}")?;
        } else {
            print(&mut out, &memories, &extraction)?;
        }
    }
    Ok(())
}

fn run(lines: &[&str], calls: usize) -> (BTreeMap<String, Draft>, Extraction) {
    let mut memories = BTreeMap::new();
    let mut state = None;
    let mut chunks: Vec<&[&str]> = lines.chunks(lines.len().div_ceil(calls).max(1)).collect();
    if chunks.is_empty() {
        chunks.push(&[]);
    }
    let mut last = None;
    for chunk in chunks {
        let request = Request { session: session(), moment: "ingest".to_owned(), state, supplements: Vec::new() };
        let extraction = extract(&request, &mut Slice(Some(chunk)));
        for key in &extraction.retracted {
            memories.remove(key);
        }
        for draft in &extraction.drafts {
            memories.insert(draft.key.clone().unwrap_or_default(), draft.clone());
        }
        state = Some(extraction.state.clone());
        last = Some(extraction);
    }
    (memories, last.expect("there is at least one chunk"))
}

fn print(out: &mut impl Write, memories: &BTreeMap<String, Draft>, extraction: &Extraction) -> std::io::Result<()> {
    let mut all: Vec<&Draft> = memories.values().collect();
    all.sort_by_key(|draft| draft.origin.at);
    for draft in all.iter().filter(|draft| draft.kind == "turn") {
        writeln!(out, "--- {} {:?}\n{}\n", draft.key.as_deref().unwrap_or(""), draft.files, draft.content)?;
    }
    for draft in all.iter().filter(|draft| draft.kind != "turn") {
        writeln!(
            out,
            "[{} {:.2}] {}\n    {} {:?}",
            draft.kind,
            draft.importance,
            draft.title,
            draft.content.replace('\n', "\n    "),
            draft.files
        )?;
    }
    writeln!(out, "{:#?}", extraction.notes)?;
    writeln!(out, "{:#?}", summarize(&extraction.notes))?;
    writeln!(out, "state {} bytes, malformed {}", extraction.state.len(), extraction.malformed)
}
