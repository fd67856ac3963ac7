//! `throughline-sync admin …`: sets a server up, invites and removes members, and reads the audit.

use std::fmt::Write as _;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use tokio_postgres::error::SqlState;

use crate::address::{Address, Endpoint};
use crate::connect::Connected;
use crate::fault;
use crate::hex::hex;
use crate::session::check_version;
use throughline_sync_wire::{Fault, FaultKind};

/// The longest that a request may take.
const TIMEOUT: Duration = Duration::from_mins(2);

/// The oldest pgvector: earlier ones lost rows at vacuum.
const PGVECTOR: (u32, u32, u32) = (0, 8, 4);

/// The numbers of a vector of the built-in model.
pub(crate) const DIMS: &str = "256";

/// The schema, each version after the one before.
const SCHEMAS: [&str; 2] = [include_str!("../sql/001_initial.sql"), include_str!("../sql/002_sealed.sql")];
/// The functions and triggers of records: see there.
const RECORDS: &str = include_str!("../sql/records.sql");
const VECTORS: &str = include_str!("../sql/vectors.sql");

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Set team memory up in a database, or upgrade it
    Init(ServerArguments),
    /// Invite a member: prints the invitation for `throughline team join`
    ///
    /// A member who was invited before gets a new password and this role. Whoever has the invitation is the member, on as
    /// many machines as they like: send it by a way that nobody else reads.
    Invite(InviteArguments),
    /// Remove a member: the login cannot be used any more; what the member shared stays
    Revoke(RevokeArguments),
    /// Print who did what: invitations, removals, machines and deletions, the latest first
    Audit(AuditArguments),
}

#[derive(Args)]
pub(crate) struct ServerArguments {
    /// The database, with a role that may create roles: `postgres://NAME@HOST/DATABASE`. The password comes from `PGPASSWORD` or
    /// the address; the whole address can come from `THROUGHLINE_ADMIN_URL`
    #[arg(long, value_name = "URL")]
    server: Option<String>,
}

#[derive(Args)]
pub(crate) struct InviteArguments {
    #[command(flatten)]
    server: ServerArguments,
    /// The team
    #[arg(long, value_name = "NAME", default_value = "team", value_parser = name)]
    team: String,
    /// What the member may do
    #[arg(long, value_enum, default_value_t = Role::Contributor)]
    role: Role,
    /// The host, or host and port, by which members reach the server, if it is another one than yours
    #[arg(long, value_name = "HOST[:PORT]")]
    reached_at: Option<String>,
    /// Add this parameter to the invitation: sslrootcert=FILE, sslpin=SHA256 or sslmode=disable
    #[arg(long, value_name = "NAME=VALUE")]
    with: Option<String>,
    /// The member: lower-case letters, digits and underscores
    #[arg(value_parser = name)]
    member: String,
}

#[derive(Args)]
pub(crate) struct RevokeArguments {
    #[command(flatten)]
    server: ServerArguments,
    /// The team
    #[arg(long, value_name = "NAME", default_value = "team", value_parser = name)]
    team: String,
    /// The member
    #[arg(value_parser = name)]
    member: String,
}

#[derive(Args)]
pub(crate) struct AuditArguments {
    #[command(flatten)]
    server: ServerArguments,
    /// The team
    #[arg(long, value_name = "NAME", default_value = "team", value_parser = name)]
    team: String,
    /// The most lines
    #[arg(long, value_name = "N", default_value_t = 100)]
    limit: u32,
}

#[derive(Clone, Copy, ValueEnum)]
enum Role {
    /// Reads
    Reader,
    /// Reads, shares, and deletes what is their own
    Contributor,
    /// Also edits and deletes what others shared
    Curator,
    /// Also reads the audit
    Admin,
}

impl Role {
    fn word(self) -> &'static str {
        match self {
            Self::Reader => "reader",
            Self::Contributor => "contributor",
            Self::Curator => "curator",
            Self::Admin => "admin",
        }
    }
}

/// A name on the command line that is not allowed.
#[derive(Debug)]
struct InvalidName;

impl std::fmt::Display for InvalidName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a name has 1 to 24 lower-case letters, digits and underscores")
    }
}

impl std::error::Error for InvalidName {}

fn name(text: &str) -> Result<String, InvalidName> {
    let is_plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_';
    if (1..=24).contains(&text.len()) && text.bytes().all(is_plain) { Ok(text.to_owned()) } else { Err(InvalidName) }
}

pub(crate) fn run(command: &Command) -> ExitCode {
    let done = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Fault::new(FaultKind::Protocol, format!("no runtime: {error}"), "run the command again"))
        .and_then(|runtime| {
            runtime.block_on(async {
                match command {
                    Command::Init(arguments) => init(arguments).await,
                    Command::Invite(arguments) => invite(arguments).await,
                    Command::Revoke(arguments) => revoke(arguments).await,
                    Command::Audit(arguments) => audit(arguments).await,
                }
            })
        });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(fault) => {
            eprintln!("error: {}", fault.message);
            eprintln!("hint: {}", fault.hint);
            ExitCode::FAILURE
        }
    }
}

async fn connect(arguments: &ServerArguments) -> Result<(Address, Connected), Fault> {
    let from_environment = || std::env::var("THROUGHLINE_ADMIN_URL").ok();
    let Some(url) = arguments.server.clone().or_else(from_environment) else {
        return Err(Fault::new(
            FaultKind::Address,
            "no server is named",
            "name it with --server postgres://NAME@HOST/DATABASE, or in THROUGHLINE_ADMIN_URL",
        ));
    };
    let mut address = Address::parse(&url)?;
    if address.config.get_password().is_none()
        && let Some(password) = std::env::var_os("PGPASSWORD")
    {
        address.config.password(password.as_encoded_bytes());
    }
    let connected = Connected::new(&address, TIMEOUT).await?;
    Ok((address, connected))
}

async fn init(arguments: &ServerArguments) -> Result<(), Fault> {
    let (_, connected) = connect(arguments).await?;
    let client = &connected.client;
    let row = connected
        .ask(client.query_one(
            "SELECT to_regclass('throughline.schema_version') IS NOT NULL,
                    current_setting('server_version_num')::int,
                    (SELECT max(version) FROM pg_available_extension_versions WHERE name = 'vector'
                       AND version ~ '^[0-9]+[.][0-9]+[.][0-9]+$'
                       AND string_to_array(version, '.')::int[] >= ARRAY[$1::int, $2::int, $3::int]),
                    to_regclass('throughline.vectors') IS NOT NULL",
            &[&as_i32(PGVECTOR.0), &as_i32(PGVECTOR.1), &as_i32(PGVECTOR.2)],
        ))
        .await?;
    let (is_there, server_version): (bool, i32) = (row.get(0), row.get(1));
    let (available, has_vectors): (Option<String>, bool) = (row.get(2), row.get(3));
    if server_version < 150_000 {
        return Err(Fault::new(FaultKind::Schema, "the server is older than PostgreSQL 15", "upgrade it"));
    }
    if is_there {
        let version = connected.ask(client.query_one("SELECT max(version) FROM throughline.schema_version", &[])).await?;
        let version: Option<i32> = version.get(0);
        let missing = match version.and_then(|it| usize::try_from(it).ok()) {
            Some(known @ 1..) => SCHEMAS.get(known..).unwrap_or_default(),
            _ => &[],
        };
        if missing.is_empty() {
            check_version(version)?;
        }
        let missing = missing.concat();
        all_or_nothing(&connected, &format!("BEGIN;\n{missing}\n{RECORDS}\nRESET ROLE;\nCOMMIT;")).await?;
        println!("Team memory is set up, version {}.", throughline_sync_wire::SCHEMA);
    } else {
        let mut sql = String::from("BEGIN;\n");
        for role in ["throughline_owner", "throughline_member"] {
            // Writing to a string cannot fail.
            let _ = writeln!(
                sql,
                "DO $$ BEGIN IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = '{role}') THEN
                     CREATE ROLE {role} NOLOGIN; END IF;
                 EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$;"
            );
        }
        sql.push_str("GRANT throughline_owner TO CURRENT_USER;\n");
        sql.push_str(&SCHEMAS.concat());
        sql.push_str(RECORDS);
        sql.push_str("\nRESET ROLE;\nCOMMIT;");
        all_or_nothing(&connected, &sql).await?;
        println!("Set team memory up, version {}.", throughline_sync_wire::SCHEMA);
    }
    match (has_vectors, available) {
        (true, _) => println!("Search on the server uses words and vectors."),
        (false, Some(version)) => {
            let sql = format!(
                "BEGIN;\nCREATE EXTENSION IF NOT EXISTS vector SCHEMA public;\nGRANT USAGE ON SCHEMA public TO throughline_owner, throughline_member;\n{}\nRESET ROLE;\nCOMMIT;",
                VECTORS.replace("DIMS", DIMS)
            );
            match all_or_nothing(&connected, &sql).await {
                Ok(()) => println!("Search on the server uses words and vectors (pgvector {version})."),
                Err(fault) => println!("Search on the server is for words only: {}.", fault.message),
            }
        }
        (false, None) => {
            println!("Search on the server is for words only: pgvector 0.8.4 or newer is not installed there.");
        }
    }
    Ok(())
}

fn as_i32(number: u32) -> i32 {
    i32::try_from(number).unwrap_or(i32::MAX)
}

/// Runs statements in the transaction that they begin and end.
async fn all_or_nothing(connected: &Connected, sql: &str) -> Result<(), Fault> {
    let done = connected.ask(connected.client.batch_execute(sql)).await;
    if done.is_err() {
        // The connection may be gone, and then the server does it.
        let _ = connected.client.batch_execute("ROLLBACK").await;
    }
    done
}

async fn invite(arguments: &InviteArguments) -> Result<(), Fault> {
    let (address, connected) = connect(&arguments.server).await?;
    let (team, member) = (&arguments.team, &arguments.member);
    let login = format!("tl_{team}_{member}");
    let taken = as_owner(
        &connected,
        &format!(
            "SELECT tenant, member FROM throughline.members WHERE login = '{login}' AND (tenant, member) <> ('{team}', '{member}')"
        ),
    )
    .await?;
    if let Some([other_team, other_member]) = taken.first().map(Vec::as_slice) {
        return Err(Fault::new(
            FaultKind::Address,
            format!("{other_member} of team {other_team} has the login {login} already"),
            "choose another name for the member or the team: both names together make the login",
        ));
    }
    let password = random()?;
    // The server is given what it stores, so that the password is in none of its logs.
    let verifier = postgres_protocol::password::scram_sha_256(password.as_bytes());
    let role = arguments.role.word();
    // Names are checked by their form, and the verifier is base64.
    let sql = format!(
        "BEGIN;
         DO $$ BEGIN IF EXISTS (SELECT 1 FROM pg_roles WHERE rolname = '{login}') THEN
             ALTER ROLE {login} LOGIN PASSWORD '{verifier}'; ELSE
             CREATE ROLE {login} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE INHERIT CONNECTION LIMIT 32 PASSWORD '{verifier}'; END IF; END $$;
         GRANT throughline_member TO {login};
         SET LOCAL ROLE throughline_owner;
         INSERT INTO throughline.tenants (tenant) VALUES ('{team}') ON CONFLICT DO NOTHING;
         INSERT INTO throughline.members (tenant, member, login, role) VALUES ('{team}', '{member}', '{login}', '{role}')
             ON CONFLICT (tenant, member) DO UPDATE SET role = '{role}', revoked_at = NULL;
         COMMIT;"
    );
    all_or_nothing(&connected, &sql).await?;
    println!("{}", invitation(&address, arguments, &login, &password));
    Ok(())
}

/// Writes the address that a member joins with.
fn invitation(address: &Address, arguments: &InviteArguments, login: &str, password: &str) -> String {
    let encoded = |text: &str| utf8_percent_encode(text, NON_ALPHANUMERIC).to_string();
    let host = match (&arguments.reached_at, &address.endpoint) {
        (Some(host), _) => host.clone(),
        (None, Endpoint::Tcp(host, port)) if host.contains(':') => format!("[{host}]:{port}"),
        (None, Endpoint::Tcp(host, port)) => format!("{host}:{port}"),
        #[cfg(unix)]
        (None, Endpoint::Unix(path)) => {
            let folder = path.parent().map(|folder| folder.to_string_lossy().into_owned()).unwrap_or_default();
            let port = address.config.get_ports().first().copied().unwrap_or(5432);
            format!("{}:{port}", encoded(&folder))
        }
    };
    let database = address.config.get_dbname().map(encoded).unwrap_or_default();
    let with = arguments.with.as_ref().map(|it| format!("?{it}")).unwrap_or_default();
    format!("postgres://{login}:{password}@{host}/{database}{with}")
}

async fn revoke(arguments: &RevokeArguments) -> Result<(), Fault> {
    let (_, connected) = connect(&arguments.server).await?;
    let (team, member) = (&arguments.team, &arguments.member);
    let login = format!("tl_{team}_{member}");
    let known = as_owner(
        &connected,
        &format!("SELECT login FROM throughline.members WHERE tenant = '{team}' AND member = '{member}'"),
    )
    .await?;
    if known.is_empty() {
        return Err(Fault::new(
            FaultKind::Address,
            format!("team {team} has no member {member}"),
            "`throughline-sync admin audit` lists who was invited",
        ));
    }
    let sql = format!(
        "BEGIN;
         ALTER ROLE {login} NOLOGIN PASSWORD NULL;
         SET LOCAL ROLE throughline_owner;
         UPDATE throughline.members SET revoked_at = now() WHERE tenant = '{team}' AND member = '{member}';
         COMMIT;"
    );
    all_or_nothing(&connected, &sql).await?;
    // Connections that are open have lost their rights with the row above; this ends them.
    let ended = format!("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '{login}'");
    let _ = connected.client.batch_execute(&ended).await;
    println!("Removed {member} from team {team}. What {member} shared stays.");
    Ok(())
}

async fn audit(arguments: &AuditArguments) -> Result<(), Fault> {
    let (_, connected) = connect(&arguments.server).await?;
    let rows = as_owner(
        &connected,
        &format!(
            "SELECT to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS'), login, action, detail FROM throughline.audit
             WHERE tenant = '{}' ORDER BY number DESC LIMIT {}",
            arguments.team, arguments.limit
        ),
    )
    .await?;
    for row in rows {
        println!("{}", row.join("  "));
    }
    Ok(())
}

/// Asks a question as the owner of the tables, and returns the texts of each row.
async fn as_owner(connected: &Connected, question: &str) -> Result<Vec<Vec<String>>, Fault> {
    let client = &connected.client;
    let asked = async {
        client.batch_execute("BEGIN; SET LOCAL ROLE throughline_owner").await?;
        let rows = client.query(question, &[]).await;
        client.batch_execute("ROLLBACK").await?;
        rows
    };
    let rows = match tokio::time::timeout(connected.timeout, asked).await {
        Ok(Ok(rows)) => rows,
        Ok(Err(error)) if error.code() == Some(&SqlState::UNDEFINED_TABLE) => return Err(fault::no_schema()),
        Ok(Err(error)) => return Err(connected.explain(&error)),
        Err(_) => return Err(fault::slow(&connected.server, connected.timeout.as_millis())),
    };
    let text = |row: &tokio_postgres::Row, column| row.try_get::<_, String>(column).unwrap_or_default();
    Ok(rows.iter().map(|row| (0..row.len()).map(|column| text(row, column)).collect()).collect())
}

/// Returns a password of 192 random bits.
fn random() -> Result<String, Fault> {
    let mut bytes = [0; 24];
    getrandom::fill(&mut bytes)
        .map_err(|error| Fault::new(FaultKind::Protocol, format!("no random numbers: {error}"), "run the command again"))?;
    Ok(hex(&bytes))
}
