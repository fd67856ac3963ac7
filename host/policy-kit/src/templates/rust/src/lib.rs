//! Connects `remember` to the contract: turns transcript lines and settings into memories.

pub mod remember;

// The code below crosses the component's boundary. It only exists in the component; `cargo test` does not need it.
#[cfg(target_arch = "wasm32")]
mod guest {
    use super::remember;

    wit_bindgen::generate!({ path: "wit", world: "extractor-policy", generate_all });
    export!(Policy);

    use exports::throughline::policy::extractor::{Extraction, Guest, Request};
    use throughline::policy::log::{Level, write};
    use throughline::policy::settings;
    use throughline::policy::transcript::Reader;
    use throughline::policy::types::{Draft, Failure, Origin, SessionNotes};

    struct Policy;

    impl Guest for Policy {
        fn extract(request: Request, transcript: &Reader) -> Result<Extraction, Failure> {
            tell_panics();
            let marker = settings::get("marker").and_then(|json| serde_json::from_str(&json).ok());
            let marker: String = marker.unwrap_or_else(|| "REMEMBER".into());
            // The state is what the last call returned: here, all marked texts of the session so far.
            let state = request.state.as_deref();
            let mut told: Vec<String> = state.and_then(|json| serde_json::from_str(json).ok()).unwrap_or_default();
            let (mut drafts, mut malformed, mut consumed) = (Vec::new(), 0, 0);
            loop {
                let lines = transcript.read_lines(1 << 20);
                let Some(last) = lines.last() else { break };
                consumed = last.end;
                for line in &lines {
                    match remember::marked(&line.text, &marker) {
                        Ok(found) => {
                            for text in found.texts {
                                remember::tell(&mut told, &text);
                                drafts.push(draft(text, found.uuid.clone()));
                            }
                        }
                        Err(_) => malformed += 1,
                    }
                }
            }
            let state = serde_json::to_string(&told).unwrap_or_default();
            Ok(Extraction { drafts, retracted: Vec::new(), notes: notes(told), state, consumed, malformed })
        }
    }

    /// Logs a panic with its message and place. Otherwise the host only sees that the call ended.
    fn tell_panics() {
        std::panic::set_hook(Box::new(|panic| write(Level::Error, &panic.to_string())));
    }

    fn draft(text: String, line_uuid: Option<String>) -> Draft {
        Draft {
            // A memory with the same key replaces the earlier one of this session, so a repeated text gives one memory.
            key: Some(text.to_lowercase()),
            kind: "learning".into(),
            title: text.chars().take(200).collect(),
            content: text,
            keywords: Vec::new(),
            files: Vec::new(),
            importance: 0.8,
            origin: Origin { line_uuid, at: None },
            attributes: Vec::new(),
        }
    }

    fn notes(learnings: Vec<String>) -> SessionNotes {
        SessionNotes {
            original_request: String::new(),
            current_objective: String::new(),
            outcome: String::new(),
            started: None,
            ended: None,
            turns: 0,
            done: Vec::new(),
            current: Vec::new(),
            pending: Vec::new(),
            decisions: Vec::new(),
            discoveries: Vec::new(),
            learnings,
            preferences: Vec::new(),
            changes: Vec::new(),
            commits: Vec::new(),
            blockers: Vec::new(),
            errors: Vec::new(),
            attributes: Vec::new(),
        }
    }
}
