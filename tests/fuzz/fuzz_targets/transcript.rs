//! Fuzzes the extractor with any lines as a session, after any state of an earlier call. Nothing may panic, and the
//! output must be bounded.
#![no_main]

use libfuzzer_sys::fuzz_target;
use throughline_default_policy::bindings::exports::throughline::policy::extractor::Request;
use throughline_default_policy::bindings::throughline::policy::types::Session;
use throughline_default_policy::extract::{Lines, extract};

struct OneChunk<'a>(Option<&'a str>);

impl Lines for OneChunk<'_> {
    fn next_lines(&mut self, _max_bytes: u32, visit: &mut dyn FnMut(&str, u64)) -> bool {
        let Some(text) = self.0.take() else { return false };
        let mut end = 0;
        for line in text.split('\n') {
            end += line.len() as u64 + 1;
            visit(line, end);
        }
        true
    }
}

fuzz_target!(|input: &str| {
    let (state, lines) = input.split_once('\0').map_or((None, input), |(state, lines)| (Some(state.to_owned()), lines));
    let session = Session {
        id: "s".into(),
        project: "p".into(),
        root: "/r".into(),
        cwd: "/r".into(),
        agent: "claude-code".into(),
        model: None,
        now: 0,
        attributes: Vec::new(),
    };
    let request = Request { session, moment: "stop".into(), state, supplements: Vec::new() };
    let found = extract(&request, &mut OneChunk(Some(lines)));
    assert!(found.state.len() <= 256 * 1024);
    assert!(found.consumed <= lines.len() as u64 + 1);
});
