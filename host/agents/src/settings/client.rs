//! The programs that `install` knows: the agents with hooks, and others that can only use the MCP server. For each, the files
//! that it reads.

use std::path::{Path, PathBuf};

use super::agents;
use super::json::Syntax;
use super::scope::Scope;
use super::server::{Entry, Format};
use crate::protocol::name::Agent;
use throughline_platform::paths::Paths;

/// A program in whose settings Throughline can be registered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Client {
    /// An agent with hooks. Its sessions are remembered.
    Agent(Agent),
    /// Google's Antigravity CLI.
    Antigravity,
    /// Zed.
    Zed,
}

impl From<Agent> for Client {
    fn from(agent: Agent) -> Self {
        Self::Agent(agent)
    }
}

/// A settings file, and what of ours it can contain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// The file. It need not exist.
    pub file: PathBuf,
    /// Whether the program looks for hooks there.
    pub hooks: bool,
    /// Whether the program looks for MCP servers there.
    pub servers: bool,
}

impl Client {
    /// The clients that have no hooks that Throughline could use.
    pub const WITHOUT_HOOKS: [Self; 2] = [Self::Antigravity, Self::Zed];

    /// Returns all clients: first the agents with hooks.
    pub fn all() -> impl Iterator<Item = Self> {
        Agent::ALL.into_iter().map(Self::Agent).chain(Self::WITHOUT_HOOKS)
    }

    /// Returns the name that commands use.
    pub fn name(self) -> &'static str {
        match self {
            Self::Agent(agent) => agent.name(),
            Self::Antigravity => "antigravity",
            Self::Zed => "zed",
        }
    }

    /// Returns the client with that name.
    pub fn of(name: &str) -> Option<Self> {
        Self::all().find(|client| client.name() == name)
    }

    /// Returns the name for display.
    pub fn title(self) -> &'static str {
        match self {
            Self::Agent(agent) => agents::title(agent),
            Self::Antigravity => "Antigravity CLI",
            Self::Zed => "Zed",
        }
    }

    /// Returns the agent, if the client has hooks.
    pub fn agent(self) -> Option<Agent> {
        if let Self::Agent(agent) = self { Some(agent) } else { None }
    }

    /// Returns the client's own folder. If the folder exists, the client is installed.
    pub fn home(self, paths: &Paths) -> PathBuf {
        match self {
            Self::Agent(agent) => agents::home(agent, paths),
            Self::Antigravity => paths.gemini.join("antigravity-cli"),
            Self::Zed => paths.user_config.join("zed"),
        }
    }

    /// Returns the files that the client reads, first the one with the hooks if it has any. MCP servers are in the user's
    /// files only: a project's file would have to name a program that not everybody has, and clients report a server that
    /// does not start.
    pub fn targets(self, scope: Scope, paths: &Paths, folder: &Path) -> Vec<Target> {
        let hooks = self.agent().map(|agent| agents::files(agent, scope, paths, folder)).unwrap_or_default();
        let mut targets: Vec<Target> = hooks.into_iter().map(|file| Target { file, hooks: true, servers: false }).collect();
        if scope == Scope::User {
            let file = self.server_file(paths);
            match targets.iter_mut().find(|target| target.file == file) {
                Some(target) => target.servers = true,
                None => targets.push(Target { file, hooks: false, servers: true }),
            }
        }
        targets
    }

    /// Returns the user's file with MCP servers.
    pub fn server_file(self, paths: &Paths) -> PathBuf {
        match self {
            Self::Agent(Agent::ClaudeCode) => paths.claude_state.clone(),
            Self::Agent(Agent::Codex) => paths.codex.join("config.toml"),
            Self::Agent(Agent::Gemini) => paths.gemini.join("settings.json"),
            Self::Agent(Agent::Cursor) => paths.cursor.join("mcp.json"),
            Self::Agent(Agent::Copilot) => paths.copilot.join("mcp-config.json"),
            Self::Agent(Agent::Droid) => paths.factory.join("mcp.json"),
            Self::Agent(Agent::Opencode) => {
                let with_comments = self.home(paths).join("opencode.jsonc");
                if with_comments.exists() { with_comments } else { self.home(paths).join("opencode.json") }
            }
            Self::Agent(Agent::Qwen | Agent::Amp) | Self::Zed => self.home(paths).join("settings.json"),
            // The app and the command line share this file.
            Self::Antigravity => paths.gemini.join("config/mcp_config.json"),
            Self::Agent(Agent::Pi) => self.home(paths).join("mcp.json"),
            Self::Agent(Agent::Goose) => self.home(paths).join("config.yaml"),
        }
    }

    /// Returns the form of MCP servers in that file.
    pub(super) fn server_format(self) -> Format {
        let json = |servers, entry, syntax| Format::Json { servers, entry, syntax };
        let plain = Entry::Program { more: &[], tools: false };
        let typed = |kind| Entry::Program { more: kind, tools: false };
        match self {
            Self::Agent(Agent::ClaudeCode) => json("mcpServers", typed(&[("type", "stdio")]), Syntax::Strict),
            Self::Agent(Agent::Codex) => Format::Toml,
            Self::Agent(Agent::Copilot) => {
                json("mcpServers", Entry::Program { more: &[("type", "local")], tools: true }, Syntax::Strict)
            }
            Self::Agent(Agent::Droid) => json("mcpServers", typed(&[("type", "stdio")]), Syntax::Comments),
            Self::Agent(Agent::Opencode) => json("mcp", Entry::List, Syntax::Comments),
            Self::Agent(Agent::Gemini | Agent::Cursor | Agent::Qwen) => json("mcpServers", plain, Syntax::Comments),
            Self::Antigravity | Self::Agent(Agent::Pi) => json("mcpServers", plain, Syntax::Strict),
            Self::Agent(Agent::Amp) => json("amp.mcpServers", plain, Syntax::Comments),
            Self::Zed => json("context_servers", plain, Syntax::Comments),
            Self::Agent(Agent::Goose) => Format::Yaml,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_a_client() {
        let names: Vec<&str> = Client::all().map(Client::name).collect();
        assert_eq!(names.len(), Agent::ALL.len() + Client::WITHOUT_HOOKS.len());
        assert!(Client::all().all(|client| Client::of(client.name()) == Some(client)));
        assert_eq!(Client::of("vim"), None);
    }
}
