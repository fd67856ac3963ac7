//! Talks with `throughline-sync`, which has the network.

use std::fmt;
use std::io::{BufReader, BufWriter};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use throughline_platform::process::{in_own_group, kill_group};
use throughline_platform::program::find_companion;
use throughline_sync_wire::{self as wire, Fault, FaultKind, Reply, Request};

/// The name of the program.
pub const PROGRAM: &str = "throughline-sync";

/// The longest that one request to the server may take, milliseconds.
pub const TIMEOUT_MS: u64 = 60_000;

/// Why a sync failed.
#[derive(Debug)]
pub struct SyncError(pub Fault);

impl fmt::Display for SyncError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl std::error::Error for SyncError {}

impl From<Fault> for SyncError {
    fn from(fault: Fault) -> Self {
        Self(fault)
    }
}

/// Who the server says we are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// The team.
    pub tenant: String,
    /// Our name.
    pub member: String,
    /// Our role.
    pub role: String,
    /// Whether the server has vectors.
    pub vectors: bool,
    /// The fingerprint of the key that seals the team; empty if it is not sealed.
    pub seal: String,
}

/// A running `throughline-sync`. It ends with this value.
pub struct Link {
    child: Child,
    input: BufWriter<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Link {
    /// Starts the program that is installed beside this one.
    pub fn start() -> Result<Self, SyncError> {
        let own = std::env::current_exe().ok();
        let Some(program) = find_companion(PROGRAM, own.as_deref(), std::env::var_os("PATH").as_deref()) else {
            return Err(Fault::new(
                FaultKind::Protocol,
                format!("{PROGRAM} is not installed"),
                format!("install {PROGRAM} beside throughline: `cargo install --locked --path host/sync`"),
            )
            .into());
        };
        let failed = |what: String| Fault::new(FaultKind::Protocol, format!("{PROGRAM} {what}"), "install it again");
        let mut command = Command::new(&program);
        command.arg("serve").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = in_own_group(&mut command).spawn().map_err(|error| failed(format!("cannot be started: {error}")))?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            kill_group(&mut child);
            return Err(failed("cannot be spoken with".into()).into());
        };
        Ok(Self { child, input: BufWriter::new(input), output: BufReader::new(output) })
    }

    /// Sends a request. [`Link::receive`] must follow before the next one.
    pub fn send(&mut self, request: &Request) -> Result<(), SyncError> {
        wire::write(&mut self.input, request).map_err(|_| broken().into())
    }

    /// Waits for a reply.
    pub fn receive(&mut self) -> Result<Reply, SyncError> {
        match wire::read(&mut self.output) {
            Ok(Some(Reply::Failed(fault))) => Err(fault.into()),
            Ok(Some(reply)) => Ok(reply),
            Ok(None) | Err(_) => Err(broken().into()),
        }
    }

    /// Sends a request and waits for the reply.
    pub fn ask(&mut self, request: &Request) -> Result<Reply, SyncError> {
        self.send(request)?;
        self.receive()
    }

    /// Connects to the server; `device` is empty for a search.
    pub fn connect(&mut self, url: &str, device: &str) -> Result<Identity, SyncError> {
        let request = Request::Connect {
            version: wire::VERSION,
            url: url.to_owned(),
            timeout_ms: TIMEOUT_MS,
            device: device.to_owned(),
            name: machine_name(),
        };
        match self.ask(&request)? {
            Reply::Connected { tenant, member, role, vectors, seal } => Ok(Identity { tenant, member, role, vectors, seal }),
            _ => Err(misunderstood()),
        }
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        kill_group(&mut self.child);
    }
}

/// Reports a reply to another request.
pub(super) fn misunderstood() -> SyncError {
    let message = format!("{PROGRAM} gave an answer to another question");
    Fault::new(FaultKind::Protocol, message, "install throughline and throughline-sync of one version").into()
}

fn broken() -> Fault {
    Fault::new(
        FaultKind::Protocol,
        format!("{PROGRAM} ended in the middle of its work"),
        "run the command again; nothing is lost, and it goes on where it stopped",
    )
}

/// Returns this machine's name, in the characters that the server takes.
fn machine_name() -> String {
    let name = throughline_platform::machine::name().unwrap_or_default();
    let name: String = name.chars().filter(|c| c.is_ascii_alphanumeric() || "._-".contains(*c)).take(64).collect();
    if name.is_empty() { "machine".into() } else { name }
}
