//! What an error of the client or the server means for a person.

use std::error::Error as _;
use std::io;

use throughline_sync_wire::{Fault, FaultKind};
use tokio_postgres::error::SqlState;
use tokio_rustls::rustls;

/// The server's database was set up by another program, or not at all.
pub(crate) fn no_schema() -> Fault {
    Fault::new(
        FaultKind::Schema,
        "the server's database has no team memory",
        "whoever runs the server sets it up with `throughline-sync admin init`",
    )
}

/// Explains an error of the client.
pub(crate) fn of(error: &tokio_postgres::Error, server: &str) -> Fault {
    if let Some(found) = error.as_db_error() {
        return of_server(found, server);
    }
    let mut source = error.source();
    while let Some(cause) = source {
        if let Some(io) = cause.downcast_ref::<io::Error>()
            && let Some(fault) =
                io.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>()).map(|it| of_tls(it, server))
        {
            return fault;
        }
        if let Some(tls) = cause.downcast_ref::<rustls::Error>() {
            return of_tls(tls, server);
        }
        source = cause.source();
    }
    let cause = error.source().map(|cause| format!(": {cause}")).unwrap_or_default();
    if cause.contains("server does not support TLS") {
        return Fault::new(
            FaultKind::Certificate,
            format!("{server} offers no TLS"),
            "turn ssl on in the server's postgresql.conf; on this machine `sslmode=disable` at the end of the address does too",
        );
    }
    Fault::new(
        FaultKind::Unreachable,
        format!("the connection to {server} broke: {error}{cause}"),
        "run the command again; nothing is lost, and it goes on where it stopped",
    )
}

/// Explains an error of connecting.
pub(crate) fn of_connecting(error: &io::Error, server: &str) -> Fault {
    Fault::new(
        FaultKind::Unreachable,
        format!("{server} does not answer: {error}"),
        "check that the server runs and can be reached; everything else works without it",
    )
}

/// The server took too long.
pub(crate) fn slow(server: &str, milliseconds: u128) -> Fault {
    Fault::new(
        FaultKind::Slow,
        format!("{server} did not answer within {milliseconds} ms"),
        "run the command again later; nothing is lost, and it goes on where it stopped",
    )
}

/// The server says what cannot be.
pub(crate) fn invalid_answer(what: &str, server: &str) -> Fault {
    Fault::new(
        FaultKind::InvalidAnswer,
        format!("{server} says what cannot be: {what}"),
        "nothing of this answer was stored; ask whoever runs the server, and do not go on before it is explained",
    )
}

fn of_tls(error: &rustls::Error, server: &str) -> Fault {
    let hint = "ask whoever runs the server for its certificate's authority (`sslrootcert=`) or SHA-256 (`sslpin=`); never \
                ignore a certificate that changed";
    Fault::new(FaultKind::Certificate, format!("the certificate of {server} is not accepted: {error}"), hint)
}

fn of_server(error: &tokio_postgres::error::DbError, server: &str) -> Fault {
    let code = error.code();
    let said = error.message();
    let is = |codes: &[&SqlState]| codes.contains(&code);
    if is(&[&SqlState::INVALID_PASSWORD, &SqlState::INVALID_AUTHORIZATION_SPECIFICATION]) {
        return Fault::new(
            FaultKind::Denied,
            format!("{server} does not accept the name or the password"),
            "ask for a new invitation, and give it to `throughline team join`",
        );
    }
    if is(&[&SqlState::UNDEFINED_TABLE, &SqlState::INVALID_SCHEMA_NAME, &SqlState::UNDEFINED_FUNCTION]) {
        return no_schema();
    }
    if is(&[&SqlState::INSUFFICIENT_PRIVILEGE]) {
        return Fault::new(
            FaultKind::Denied,
            format!("{server} does not allow this: {said}"),
            "a reader cannot share; whoever runs the server changes roles with `throughline-sync admin invite`",
        );
    }
    if ["TL005", "TL006"].contains(&code.code()) {
        return Fault::new(
            FaultKind::Key,
            format!("{server} refuses: {said}"),
            "docs/team.md says how a team is sealed; nothing was sent, and nothing is lost",
        );
    }
    if is(&[&SqlState::INVALID_CATALOG_NAME]) {
        return Fault::new(FaultKind::Address, format!("{server}: {said}"), "correct the database's name in the address");
    }
    if is(&[&SqlState::DISK_FULL, &SqlState::OUT_OF_MEMORY, &SqlState::TOO_MANY_CONNECTIONS]) {
        return Fault::new(
            FaultKind::Full,
            format!("{server} is full: {said}"),
            "nothing is lost; whoever runs the server must make room",
        );
    }
    if is(&[&SqlState::CANNOT_CONNECT_NOW, &SqlState::ADMIN_SHUTDOWN, &SqlState::CRASH_SHUTDOWN]) {
        return Fault::new(
            FaultKind::Unreachable,
            format!("{server} is not ready: {said}"),
            "run the command again; nothing is lost, and it goes on where it stopped",
        );
    }
    Fault::new(
        FaultKind::Server,
        format!("{server} reports: {said} ({})", code.code()),
        "nothing is lost; ask whoever runs the server",
    )
}
