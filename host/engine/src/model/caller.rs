//! Asks the language model for one policy: redacts, looks whether it was asked before, reserves what the call may cost, runs
//! `throughline-model`, and settles what it did cost. Nothing else sends anything.

use std::cell::{Cell, RefCell};
use std::ffi::OsString;
use std::ops::AddAssign;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::rc::Rc;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use throughline_embedding::process;
use throughline_model::digest::sha256_hex;
use throughline_model::redacted::{Redacted, Texts};
use throughline_model_wire::{
    self as wire, Answer, Completed, Failed, Fault, FaultKind, KeySource, MARK, Provider as WireProvider, VERSION,
};
use throughline_platform::files;
use throughline_platform::log::{Level, Log};
use throughline_platform::program;
use throughline_sandbox::imports::{ModelError, ModelRequest, ModelSource, Reply, Role};
use throughline_store::Replies;
use throughline_store::ledger::{Cap, Ledger, NewCall, Reservation, Settlement};

use super::limits::{self, NotAllowed};
use super::settings::{Provider, Server, Settings};
use crate::redaction::PolicyRedactor;
use crate::runtime;

/// The name of the program that asks.
pub const PROGRAM: &str = "throughline-model";

/// Further variables for a command that prints a key.
const KEYRING_VARIABLES: [&str; 5] = ["HOME", "PATH", "DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR", "DISPLAY"];

/// Extra time for the process beyond its request.
const STARTUP_GRACE: Duration = Duration::from_secs(5);

/// The longest answer of the program, in bytes: JSON may write each byte of the text as six.
const MAX_ANSWER_BYTES: u64 = 6 * wire::MAX_TEXT as u64 + (64 << 10);

/// A token has at most about this many bytes on average, so a provider that reports fewer tokens is not believed.
const MAX_TOKEN_BYTES: u64 = 8;

/// The longest purpose, in bytes.
const MAX_PURPOSE: usize = 32;

/// How often a request is tried.
const TRIES: u32 = 3;

/// The wait before the second attempt, in milliseconds.
const BACKOFF_MS: u64 = 1_000;

/// A request as it would be sent.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Outgoing {
    /// The policy that asks.
    pub policy: String,
    /// What for.
    pub purpose: String,
    /// SHA-256 of the request, hexadecimal.
    pub digest: String,
    /// The size of all texts in bytes.
    pub bytes: u64,
    /// The most tokens that the call can be charged with.
    pub most_tokens: u64,
    /// Whether the answer was kept from before, so that nothing would be sent.
    pub is_known: bool,
    /// Who says what: the role and the text of each message.
    pub messages: Vec<(String, String)>,
}

/// The texts of a request.
#[derive(Debug, Clone, Default)]
struct Asked {
    messages: Vec<(Role, String)>,
    schema: Option<String>,
}

impl Texts for Asked {
    fn texts_mut(&mut self) -> Vec<&mut String> {
        self.messages.iter_mut().map(|(_, text)| text).chain(&mut self.schema).collect()
    }
}

/// A reply as it is kept.
#[derive(Clone, Serialize, Deserialize)]
struct Kept {
    text: String,
    model: String,
}

impl Texts for Kept {
    fn texts_mut(&mut self) -> Vec<&mut String> {
        vec![&mut self.text, &mut self.model]
    }
}

/// What a caller did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Calls {
    /// Requests that were sent.
    pub sent: u32,
    /// Requests that were answered from before.
    pub known: u32,
    /// Requests without an answer.
    pub failed: u32,
    /// Tokens that were read.
    pub input_tokens: u64,
    /// Tokens that were written.
    pub output_tokens: u64,
    /// Billionths of a US dollar.
    pub nano_usd: u64,
}

impl AddAssign for Calls {
    fn add_assign(&mut self, more: Self) {
        self.sent += more.sent;
        self.known += more.known;
        self.failed += more.failed;
        self.input_tokens += more.input_tokens;
        self.output_tokens += more.output_tokens;
        self.nano_usd += more.nano_usd;
    }
}

/// Who asks, and about what.
pub struct Subject {
    /// The policy and the digest of its component.
    pub policy: (String, String),
    /// The root folder of the project.
    pub project: String,
    /// The session; empty for the project as a whole.
    pub session: String,
}

/// Asks for one policy about one subject.
pub struct Caller {
    /// The section `[model]`.
    pub settings: Settings,
    /// Every limit for the policy.
    pub caps: Vec<Cap>,
    /// Who asks, and about what.
    pub subject: Subject,
    /// Redacts what is sent and what is answered.
    pub redactor: RefCell<PolicyRedactor>,
    /// The ledger.
    pub ledger: RefCell<Ledger>,
    /// Replies from before.
    pub replies: Rc<Replies>,
    /// The log.
    pub log: Rc<Log>,
    /// The path of the program, or `None` if it is not installed.
    pub program: Option<PathBuf>,
    /// The folder in which an agent's command line runs.
    pub folder: PathBuf,
    /// No call begins, and none lasts, after this time.
    pub until: Instant,
    /// If set, nothing is sent, and what would be is collected here.
    pub outbox: Option<Rc<RefCell<Vec<Outgoing>>>>,
    /// What was done.
    pub calls: Cell<Calls>,
    /// What the policy was told that the limits leave, if it asked.
    pub allowed: Cell<Option<u64>>,
    /// The model that answered last.
    pub answered_by: RefCell<String>,
}

impl ModelSource for Caller {
    fn complete(&self, request: ModelRequest) -> Result<Reply, ModelError> {
        let answer = self.ask(&request);
        if let Err(error) = &answer {
            self.count(|calls| calls.failed += 1);
            let (ModelError::NotAllowed(what)
            | ModelError::Limit(what)
            | ModelError::Unavailable(what)
            | ModelError::Refused(what)
            | ModelError::InvalidRequest(what)) = error;
            if self.outbox.is_none() && !matches!(error, ModelError::Limit(_)) {
                self.log.record(Level::Warn, "a model gave no answer; what is stored stands", what.clone());
            }
        }
        answer
    }

    fn allowance(&self) -> u64 {
        let left = self.ledger.borrow().left(&self.caps, &self.subject.session, runtime::now());
        let Ok((tokens, nano_usd)) = left else { return 0 };
        let price = self.settings.price;
        // The dearer kind of token counts for all.
        let dearest = limits::cost(price, 1, 0).max(limits::cost(price, 0, 1));
        let by_money = nano_usd.and_then(|nano| nano.checked_div(dearest)).unwrap_or(u64::MAX);
        let left = tokens.unwrap_or(u64::MAX).min(by_money);
        let allowed = left.saturating_sub(limits::most_input_tokens(0, 4, self.overhead()));
        self.allowed.set(Some(allowed));
        allowed
    }
}

/// What is said once a day for each policy.
const LIMIT_REACHED: &str = "a limit for models is reached; what is stored stands, and it goes on when the limit allows it";

impl Caller {
    /// Returns what was done. A policy that asked what the limits leave, and then asked nothing else, had too little.
    pub fn finish(&self) -> Calls {
        let calls = self.calls.get();
        let Some(left) = self.allowed.get().filter(|_| calls == Calls::default() && self.outbox.is_none()) else {
            return calls;
        };
        self.count(|calls| calls.failed += 1);
        if self.ledger.borrow_mut().notice(&self.subject.policy.0, runtime::now()).unwrap_or(false) {
            self.log.record(Level::Warn, LIMIT_REACHED, format!("they leave {left} tokens for a call"));
        }
        self.calls.get()
    }

    fn count(&self, change: impl FnOnce(&mut Calls)) {
        let mut calls = self.calls.get();
        change(&mut calls);
        self.calls.set(calls);
    }

    /// Tokens that the provider adds to each request.
    fn overhead(&self) -> u64 {
        if self.settings.provider == Provider::Command { self.settings.command.overhead_tokens } else { 0 }
    }

    fn ask(&self, request: &ModelRequest) -> Result<Reply, ModelError> {
        let purpose = purpose(&request.purpose);
        let (asked, max_tokens) = (self.redacted(request)?, request.max_tokens.max(1));
        let request = self.wire_request(&asked, max_tokens)?;
        let digest = self.digest(&request);
        let bytes = asked.messages.iter().map(|(_, text)| text.len() as u64).sum::<u64>()
            + asked.schema.as_ref().map_or(0, |schema| schema.len() as u64);
        let known = self.known(&digest);
        let input_tokens = limits::most_input_tokens(bytes, asked.messages.len(), self.overhead());
        if let Some(outbox) = &self.outbox {
            outbox.borrow_mut().push(Outgoing {
                policy: self.subject.policy.0.clone(),
                purpose,
                digest,
                bytes,
                most_tokens: input_tokens + u64::from(max_tokens),
                is_known: known.is_some(),
                messages: asked.messages.iter().map(|(role, text)| (role_word(*role).into(), text.clone())).collect(),
            });
            return known.ok_or_else(|| ModelError::Unavailable("nothing is sent in a dry run".into()));
        }
        if let Some(reply) = known {
            self.count(|calls| calls.known += 1);
            return Ok(reply);
        }
        let call = NewCall {
            at: runtime::now(),
            policy: self.subject.policy.clone(),
            project: self.subject.project.clone(),
            session: self.subject.session.clone(),
            purpose,
            provider: self.settings.provider.name().into(),
            model: self.model().unwrap_or_default().to_owned(),
            request: digest.clone(),
            bytes,
            input_tokens,
            output_tokens: max_tokens.into(),
            nano_usd: limits::cost(self.settings.price, input_tokens, max_tokens.into()),
        };
        let number = self.reserve(&call)?;
        let outcome = self.run(&request);
        let settled = self.settlement(&call, &outcome);
        if let Err(error) = self.ledger.borrow_mut().settle(number, settled) {
            // Then the call stays charged in full.
            self.log.record(Level::Warn, "what a call to a model did cost could not be written down", error.to_string());
        }
        self.count(|calls| {
            calls.sent += 1;
            calls.input_tokens += settled.input_tokens;
            calls.output_tokens += settled.output_tokens;
            calls.nano_usd += settled.nano_usd;
        });
        let NewCall { purpose, .. } = &call;
        self.log.record(
            Level::Info,
            "a model was asked",
            format!(
                "{} for {purpose}: {bytes} bytes, digest {}, {} and {} tokens",
                self.settings.provider.name(),
                &digest[..16],
                settled.input_tokens,
                settled.output_tokens
            ),
        );
        let completed = outcome.map_err(|failed| model_error(&failed))?;
        self.reply(&request, &digest, &completed, settled)
    }

    /// Redacts everything that a policy wants to send.
    fn redacted(&self, request: &ModelRequest) -> Result<Redacted<Asked>, ModelError> {
        if request.messages.is_empty() {
            return Err(ModelError::InvalidRequest("the request has no message".into()));
        }
        let messages = request.messages.iter().map(|message| (message.role, message.content.clone())).collect();
        let asked = Asked { messages, schema: request.schema.clone() };
        let asked = Redacted::new(asked, &mut *self.redactor.borrow_mut())
            .map_err(|_| ModelError::Unavailable("the request could not be redacted".into()))?;
        if asked.schema != request.schema {
            return Err(ModelError::InvalidRequest("the schema contains what must not be sent".into()));
        }
        Ok(asked)
    }

    fn wire_request(&self, asked: &Redacted<Asked>, max_tokens: u32) -> Result<wire::Request, ModelError> {
        let schema = asked.schema.as_deref().map(serde_json::from_str).transpose();
        let schema = schema.map_err(|_| ModelError::InvalidRequest("the schema is not JSON".into()))?;
        let messages = asked.messages.iter().map(|(role, content)| wire::Message {
            role: match role {
                Role::System => wire::Role::System,
                Role::User => wire::Role::User,
                Role::Assistant => wire::Role::Assistant,
            },
            content: content.clone(),
        });
        let messages = messages.collect();
        let timeout_ms = self.settings.timeout_ms.min(u64::try_from(self.left().as_millis()).unwrap_or(u64::MAX));
        let limits = wire::Limits { timeout_ms, tries: TRIES, backoff_ms: BACKOFF_MS };
        let provider = self.provider().map_err(|why| ModelError::NotAllowed(why.to_string()))?;
        Ok(wire::Request { version: VERSION, provider, messages, schema, max_tokens, limits })
    }

    fn left(&self) -> Duration {
        self.until.saturating_duration_since(Instant::now())
    }

    /// Returns the digest of the request to this provider and model.
    fn digest(&self, request: &wire::Request) -> String {
        let who = format!("{} {}", self.settings.provider.name(), self.model().unwrap_or_default());
        sha256_hex(format!("{who}\n{}", request.asked()).as_bytes())
    }

    fn server(&self) -> Option<&Server> {
        match self.settings.provider {
            Provider::Openai => Some(&self.settings.openai),
            Provider::Anthropic => Some(&self.settings.anthropic),
            Provider::Gemini => Some(&self.settings.gemini),
            Provider::None | Provider::Command | Provider::Recorded => None,
        }
    }

    fn model(&self) -> Option<&str> {
        match self.settings.provider {
            Provider::Command => self.settings.command.model.as_deref(),
            _ => self.server().and_then(|server| server.model.as_deref()),
        }
    }

    /// Returns the provider part of the request, or what is missing.
    fn provider(&self) -> Result<WireProvider, NotAllowed> {
        let name = self.settings.provider.name();
        if let Some(set) = self.server() {
            let model = set.model.clone().filter(|model| !model.trim().is_empty());
            let model = model.ok_or(NotAllowed::NoModel(name))?;
            let base_url = set.base_url.clone().unwrap_or_default();
            let server = wire::Server { base_url, model, key: key_source(set) };
            return Ok(match self.settings.provider {
                Provider::Anthropic => WireProvider::Anthropic { server },
                Provider::Gemini => WireProvider::Gemini { server },
                _ => WireProvider::Openai { server },
            });
        }
        match self.settings.provider {
            Provider::Command => {
                let of = &self.settings.command;
                let usual = match of.agent {
                    wire::Agent::Claude => "claude",
                    wire::Agent::Codex => "codex",
                    wire::Agent::Gemini => "gemini",
                };
                let program = of.program.as_ref().map_or_else(|| usual.into(), |path| path.to_string_lossy().into_owned());
                let folder = self.folder.to_string_lossy().into_owned();
                Ok(WireProvider::Command { agent: of.agent, program, model: of.model.clone(), folder })
            }
            Provider::Recorded => {
                let folder = self.settings.recorded.folder.as_ref().ok_or(NotAllowed::NoRecordings)?;
                Ok(WireProvider::Recorded { folder: folder.to_string_lossy().into_owned() })
            }
            _ => Err(NotAllowed::NoProvider),
        }
    }

    fn known(&self, digest: &str) -> Option<Reply> {
        let kept: Kept = serde_json::from_str(&self.replies.get(digest).ok()??).ok()?;
        self.answered_by.borrow_mut().clone_from(&kept.model);
        Some(Reply { text: kept.text, model: kept.model, input_tokens: 0, output_tokens: 0, cached: true, truncated: false })
    }

    fn reserve(&self, call: &NewCall) -> Result<i64, ModelError> {
        if self.left() < STARTUP_GRACE {
            return Err(ModelError::Unavailable("there is no time left for a call".into()));
        }
        let reserved = self.ledger.borrow_mut().reserve(call, &self.caps);
        // Without the ledger, the remaining budget is unknown.
        match reserved.map_err(|error| ModelError::Unavailable(format!("the ledger cannot be written: {error}")))? {
            Reservation::Reserved(number) => Ok(number),
            Reservation::Reached { cap, left, is_first } => {
                let what = format!("{} leaves {left}, and the call may need more", cap.name);
                if is_first {
                    self.log.record(Level::Warn, LIMIT_REACHED, what.clone());
                }
                Err(ModelError::Limit(what))
            }
        }
    }

    /// Runs the program.
    fn run(&self, request: &wire::Request) -> Result<Completed, Failed> {
        let failed = |kind, what: String| Failed::from(Fault::permanent(kind, what));
        let Some(program) = &self.program else {
            return Err(failed(FaultKind::Unsupported, format!("{PROGRAM} is not installed")));
        };
        let bytes = serde_json::to_vec(request)
            .map_err(|_| failed(FaultKind::Request, "the request cannot be written as JSON".into()))?;
        let mut command = Command::new(program);
        command.current_dir("/");
        if self.settings.provider == Provider::Command {
            throughline_platform::paths::create_private(&self.folder)
                .map_err(|error| failed(FaultKind::Request, format!("{}: {error}", self.folder.display())))?;
        } else {
            command.env_clear().envs(forwarded(request));
        }
        command.env(MARK, "1");
        let time = Duration::from_millis(request.limits.timeout_ms).saturating_add(STARTUP_GRACE).min(self.left());
        // A program that dies or hangs may have sent the request.
        let answer = process::run(PROGRAM, command, bytes, MAX_ANSWER_BYTES, time)
            .map_err(|fault| Failed { may_be_charged: fault.kind != FaultKind::Unsupported, fault })?;
        let odd = |what: &str| Failed {
            fault: Fault::temporary(FaultKind::Answer, format!("{PROGRAM} {what}")),
            may_be_charged: true,
        };
        if answer.is_empty() {
            return Err(odd("exited without an answer"));
        }
        match serde_json::from_slice(&answer).map_err(|_| odd("gave an invalid answer"))? {
            Answer::Completed(completed) if completed.version == VERSION => Ok(completed),
            Answer::Completed(_) => Err(odd("answered in another version: install the same version of both")),
            Answer::Failed(Failed { fault, may_be_charged }) => {
                let message = fault.message.chars().map(|c| if c.is_control() { ' ' } else { c }).take(1_000).collect();
                Err(Failed { fault: Fault { message, ..fault }, may_be_charged })
            }
        }
    }

    /// Returns what a call is charged with: what the provider reports if that can be true, else the most that it can be.
    fn settlement(&self, call: &NewCall, outcome: &Result<Completed, Failed>) -> Settlement {
        let believed = |said: Option<u64>, least: u64, most: u64| match said {
            Some(said) => {
                if said > most {
                    let detail = format!("{said} tokens, but the call can have had {most} at most");
                    self.log.record(Level::Warn, "a model reports more tokens than a request can have", detail);
                }
                said.clamp(least.min(most), most)
            }
            None => most,
        };
        let (input_tokens, output_tokens) = match outcome {
            Ok(completed) => (
                believed(completed.input_tokens, call.bytes / MAX_TOKEN_BYTES, call.input_tokens),
                believed(completed.output_tokens, completed.text.len() as u64 / MAX_TOKEN_BYTES, call.output_tokens),
            ),
            Err(failed) if failed.may_be_charged => (call.input_tokens, call.output_tokens),
            Err(_) => (0, 0),
        };
        let nano_usd = limits::cost(self.settings.price, input_tokens, output_tokens);
        Settlement { is_answered: outcome.is_ok(), input_tokens, output_tokens, nano_usd }
    }

    /// Redacts an answer, and keeps it.
    fn reply(
        &self,
        request: &wire::Request,
        digest: &str,
        completed: &Completed,
        settled: Settlement,
    ) -> Result<Reply, ModelError> {
        let truncated = completed.truncated;
        let text = if request.schema.is_some() { without_fence(&completed.text) } else { completed.text.trim() };
        let kept = Kept { text: text.to_owned(), model: completed.model.clone() };
        let kept = Redacted::new(kept, &mut *self.redactor.borrow_mut())
            .map_err(|_| ModelError::Unavailable("the answer could not be redacted".into()))?;
        let Kept { text, model } = Kept::clone(&kept);
        self.answered_by.borrow_mut().clone_from(&model);
        if !truncated {
            let kept = kept.map(|kept| serde_json::to_string(&kept).unwrap_or_default());
            if let Err(error) = self.replies.put(digest, &kept, runtime::now()) {
                self.log.record(Level::Warn, "a model's answer could not be kept", error.to_string());
            }
        }
        if let Some(folder) = &self.settings.record {
            let recorded = Completed { text: text.clone(), model: model.clone(), ..completed.clone() };
            if let Err(error) = record(folder, request, &recorded) {
                self.log.record(Level::Warn, "a model's answer could not be recorded", format!("{error:#}"));
            }
        }
        Ok(Reply {
            text,
            model,
            input_tokens: settled.input_tokens,
            output_tokens: settled.output_tokens,
            cached: false,
            truncated,
        })
    }
}

/// Stores a reply under the digest of its request, together with the request.
fn record(folder: &Path, request: &wire::Request, completed: &Completed) -> anyhow::Result<()> {
    throughline_platform::paths::create_private(folder)?;
    let asked = request.asked();
    let name = sha256_hex(asked.as_bytes());
    files::replace_atomically(&folder.join(format!("{name}.request.json")), asked.as_bytes(), 0o600)?;
    let reply = serde_json::to_vec_pretty(completed)?;
    Ok(files::replace_atomically(&folder.join(format!("{name}.json")), &reply, 0o600)?)
}

/// Returns where the key is, or `None` if the server needs none.
fn key_source(set: &Server) -> Option<KeySource> {
    let is_set = |name: &&String| std::env::var_os(name.as_str()).is_some_and(|value| !value.is_empty());
    if let Some(name) = set.key_env.iter().flatten().find(is_set) {
        return Some(KeySource::Env(name.clone()));
    }
    if let Some(file) = &set.key_file {
        return Some(KeySource::File(file.to_string_lossy().into_owned()));
    }
    set.key_command.clone().map(KeySource::Command)
}

/// Returns the variables that the program needs.
fn forwarded(request: &wire::Request) -> Vec<(String, OsString)> {
    let (WireProvider::Openai { server } | WireProvider::Anthropic { server } | WireProvider::Gemini { server }) =
        &request.provider
    else {
        return Vec::new();
    };
    let (key, more): (Option<&str>, &[&str]) = match &server.key {
        Some(KeySource::Env(name)) => (Some(name), &[]),
        Some(KeySource::Command(_)) => (None, &KEYRING_VARIABLES),
        Some(KeySource::File(_)) | None => (None, &[]),
    };
    let names = program::NETWORK_VARIABLES.iter().chain(more).copied().chain(key);
    names.filter_map(|name| Some((name.to_owned(), std::env::var_os(name)?))).collect()
}

/// Returns a purpose that is one word. A policy could put anything there, and the ledger has no text.
fn purpose(text: &str) -> String {
    let is_word = (1..=MAX_PURPOSE).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_lowercase() || b == b'-');
    if is_word { text.to_owned() } else { "other".to_owned() }
}

fn role_word(role: Role) -> &'static str {
    match role {
        Role::System => "system",
        Role::User => "user",
        Role::Assistant => "assistant",
    }
}

/// Removes the code fence that many models put around JSON.
fn without_fence(text: &str) -> &str {
    let text = text.trim();
    let Some(inner) = text.strip_prefix("```").and_then(|text| text.strip_suffix("```")) else { return text };
    inner.strip_prefix("json").unwrap_or(inner).trim()
}

fn model_error(failed: &Failed) -> ModelError {
    let what = failed.fault.message.clone();
    match failed.fault.kind {
        FaultKind::Refused => ModelError::Refused(what),
        FaultKind::Request => ModelError::InvalidRequest(what),
        FaultKind::Key | FaultKind::Unsupported => ModelError::NotAllowed(what),
        _ => ModelError::Unavailable(what),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_purpose_is_a_word_and_json_has_no_fence() {
        assert_eq!(purpose("session-summary"), "session-summary");
        for text in ["", "Session", "a b", "the password is hunter2", &"a".repeat(33)] {
            assert_eq!(purpose(text), "other");
        }
        assert_eq!(without_fence("```json\n{\"a\": 1}\n```\n"), "{\"a\": 1}");
        assert_eq!(without_fence(" {\"a\": 1} "), "{\"a\": 1}");
    }
}
