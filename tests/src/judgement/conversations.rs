//! Written conversations of a made-up product, and their transcripts.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::home::Home;
use crate::transcript::{Transcript, session_id};

/// A conversation with the agent.
#[derive(Debug, Deserialize)]
pub struct Conversation {
    /// The day on which it took place, from 1. Those that name no day are spread over the month.
    #[serde(default)]
    pub day: u8,
    /// What was said.
    pub turns: Vec<Turn>,
}

/// A prompt and its answer.
#[derive(Debug, Deserialize)]
pub struct Turn {
    /// What the human typed.
    pub human: String,
    /// What the agent answered.
    pub agent: String,
}

impl Conversation {
    /// Returns everything that was said.
    pub fn texts(&self) -> Vec<String> {
        self.turns.iter().flat_map(|turn| [turn.human.clone(), turn.agent.clone()]).collect()
    }
}

/// Writes a conversation as the transcript of a session of its own, and returns the session's identifier.
pub fn write(home: &Home, project: &Path, conversation: &Conversation, number: u64) -> String {
    let session = session_id(number);
    let mut transcript = Transcript::new(&session, project);
    let day = if conversation.day == 0 { u8::try_from(number % 27).unwrap_or(0) + 1 } else { conversation.day };
    let (month, day) = (6 + (day - 1) / 28, (day - 1) % 28 + 1);
    transcript.at(&format!("2025-{month:02}-{day:02}T09:{:02}:00Z", number % 60));
    for turn in &conversation.turns {
        transcript.user(&turn.human).answer(&turn.agent);
    }
    transcript.append_to(&home.transcript_path(project, &session));
    session
}

/// Reads a file of JSON lines.
pub fn read<T: DeserializeOwned>(file: &Path) -> Result<Vec<T>> {
    let text = fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    let parse = |(number, line): (usize, &str)| {
        serde_json::from_str(line).with_context(|| format!("{}, line {}", file.display(), number + 1))
    };
    text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()).map(parse).collect()
}
