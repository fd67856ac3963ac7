//! Serves the main program's requests, one after another, until its end of the pipe is closed.

use std::io::{self, Write as _};
use std::process::ExitCode;
use std::time::Duration;

use crate::address::Address;
use crate::connect::Connected;
use crate::session::Session;
use throughline_sync_wire::{self as wire, Fault, FaultKind, Reply, Request, VERSION};

pub(crate) fn run() -> ExitCode {
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("error: no runtime: {error}");
            return ExitCode::FAILURE;
        }
    };
    let mut session = None;
    let mut input = io::stdin().lock();
    loop {
        // Between two requests nothing happens on the connection, so waiting here holds nothing up.
        let request = match wire::read::<Request>(&mut input) {
            Ok(Some(request)) => request,
            Ok(None) => return ExitCode::SUCCESS,
            Err(error) => {
                let hint = "install throughline and throughline-sync of one version";
                let fault = Fault::new(FaultKind::Protocol, format!("a request cannot be read: {error}"), hint);
                let _ = wire::write(&mut io::stdout().lock(), &Reply::Failed(fault));
                return ExitCode::FAILURE;
            }
        };
        let reply = runtime.block_on(answer(&mut session, request)).unwrap_or_else(Reply::Failed);
        let mut output = io::BufWriter::new(io::stdout().lock());
        if wire::write(&mut output, &reply).and_then(|()| output.flush()).is_err() {
            // The reader is gone.
            return ExitCode::SUCCESS;
        }
    }
}

async fn answer(session: &mut Option<Session>, request: Request) -> Result<Reply, Fault> {
    if let Request::Connect { version, url, timeout_ms, device, name } = request {
        if version != VERSION {
            let message =
                format!("throughline speaks version {version} of the protocol, and throughline-sync version {VERSION}");
            return Err(Fault::new(FaultKind::Protocol, message, "install both programs of one version"));
        }
        let connected = Connected::new(&Address::parse(&url)?, Duration::from_millis(timeout_ms)).await?;
        let opened = Session::open(connected, &device, &name).await?;
        let reply = opened.described();
        *session = Some(opened);
        return Ok(reply);
    }
    let Some(session) = session else {
        return Err(Fault::new(FaultKind::Protocol, "there is no connection", "install both programs of one version"));
    };
    match request {
        Request::Push { records } => session.push(records).await,
        Request::Seal { fingerprint } => session.seal(&fingerprint).await,
        Request::Series => session.series().await,
        Request::Pull { after, limit } => session.pull(&after, limit).await,
        Request::Search { query, project, vector, limit } => {
            session.search(&query, project.as_deref(), vector.as_deref(), limit).await
        }
        Request::Connect { .. } => unreachable!("handled above"),
    }
}
