//! The supported agents and their names.

/// An agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Agent {
    /// Claude Code.
    ClaudeCode,
    /// OpenAI's Codex CLI.
    Codex,
    /// Google's Gemini CLI.
    Gemini,
    /// Cursor.
    Cursor,
    /// GitHub Copilot CLI.
    Copilot,
    /// Factory's droid.
    Droid,
    /// opencode.
    Opencode,
    /// Qwen Code.
    Qwen,
    /// pi.
    Pi,
    /// Goose.
    Goose,
    /// Amp.
    Amp,
}

impl Agent {
    /// All supported agents.
    pub const ALL: [Self; 11] = [
        Self::ClaudeCode,
        Self::Codex,
        Self::Gemini,
        Self::Cursor,
        Self::Copilot,
        Self::Droid,
        Self::Opencode,
        Self::Qwen,
        Self::Pi,
        Self::Goose,
        Self::Amp,
    ];

    /// Returns the name that sessions and commands use.
    pub fn name(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Cursor => "cursor",
            Self::Copilot => "copilot",
            Self::Droid => "droid",
            Self::Opencode => "opencode",
            Self::Qwen => "qwen",
            Self::Pi => "pi",
            Self::Goose => "goose",
            Self::Amp => "amp",
        }
    }

    /// Returns the agent with that name.
    pub fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|agent| agent.name() == name)
    }
}
