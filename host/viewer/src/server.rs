//! Listens on loopback, says where, and ends when nobody uses it.

use std::io::{Error, Write as _};
use std::net::{Ipv4Addr, SocketAddr};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware;
use tempfile::NamedTempFile;

use crate::activity::Activity;
use crate::app::App;
use crate::lists::Lists;
use crate::live::Live;
use crate::program::Program;
use crate::settings::Settings;
use crate::{api, guard, page, token};
use throughline_platform::paths::Paths;

/// The largest body of a request, bytes: a memory of the largest size, escaped.
const MAX_BODY: usize = 2 << 20;

/// How long the file that leads the browser here is kept.
const REDIRECT_KEPT: Duration = Duration::from_secs(30);

/// Why the viewer cannot run.
#[derive(Debug)]
pub(crate) struct Failed {
    pub(crate) message: String,
    pub(crate) hint: &'static str,
}

impl Failed {
    fn new(message: impl Into<String>, hint: &'static str) -> Self {
        Self { message: message.into(), hint }
    }
}

/// Serves until the viewer is no longer used.
pub(crate) fn run(settings: Settings) -> Result<(), Failed> {
    let paths = Paths::from_env()
        .map_err(|_| Failed::new("the folders cannot be determined", "start it with `throughline view`"))?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failed::new(format!("the server cannot start: {error}"), "try again"))?;
    runtime.block_on(serve(settings, paths))
}

async fn serve(settings: Settings, paths: Paths) -> Result<(), Failed> {
    let wanted = SocketAddr::from((Ipv4Addr::LOCALHOST, settings.port));
    let listener = tokio::net::TcpListener::bind(wanted).await.map_err(|error| {
        Failed::new(format!("cannot listen on {wanted}: {error}"), "leave out --port for a free one, or give another")
    })?;
    let unknown = |error: Error| Failed::new(format!("the address is unknown: {error}"), "try again");
    let host = listener.local_addr().map_err(unknown)?.to_string();
    let no_random = |error: getrandom::Error| Failed::new(format!("the system has no random numbers: {error}"), "try again");
    let (token, cookie) = (token::random().map_err(no_random)?, token::random().map_err(no_random)?);
    let address = format!("http://{host}/#{token}");
    let app = Arc::new(App {
        program: Program { path: settings.program.clone() },
        // Cookies do not know ports: two viewers must not take each other's.
        cookie: (format!("throughline-{}", host.rsplit(':').next().unwrap_or_default()), cookie),
        token: Mutex::new(Some(token)),
        live: Live::new(paths.clone()),
        lists: Lists::default(),
        activity: Arc::new(Activity::new()),
        host,
        paths,
        settings,
    });
    announce(&app.settings, &address);
    let redirect = if app.settings.open { open(&address) } else { None };
    let router = Router::new()
        .merge(page::router())
        .nest("/api", api::router(app.settings.write))
        .layer(DefaultBodyLimit::max(MAX_BODY))
        .layer(middleware::from_fn_with_state(Arc::clone(&app), guard::check))
        .with_state(Arc::clone(&app));
    let forget_redirect = async {
        tokio::time::sleep(REDIRECT_KEPT).await;
        drop(redirect);
        std::future::pending::<()>().await;
    };
    tokio::select! {
        served = axum::serve(listener, router) => {
            served.map_err(|error| Failed::new(format!("the server stopped: {error}"), "start it again"))
        }
        () = app.activity.idle(app.settings.idle()) => {
            eprintln!("the viewer was not used for {} and has ended", minutes(app.settings.idle()));
            Ok(())
        }
        () = forget_redirect => Ok(()),
    }
}

/// Prints the address on stdout, and the rest for people on stderr.
fn announce(settings: &Settings, address: &str) {
    let mut out = std::io::stdout().lock();
    // If the reader is gone, the error has no recipient.
    let _ = writeln!(out, "{address}").and_then(|()| out.flush());
    let may = if settings.write { "changes are allowed" } else { "read-only; --write allows changes" };
    eprintln!(
        "this address works once, in one browser ({may}); Ctrl+C ends the viewer, and so do {} without use",
        minutes(settings.idle())
    );
}

fn minutes(time: Duration) -> String {
    match time.as_secs() {
        seconds if seconds < 120 => format!("{seconds} seconds"),
        seconds => format!("{} minutes", seconds / 60),
    }
}

/// Opens the address in the browser. The address is passed in a private file, since every user of the machine can read the
/// arguments of a process. Returns the file.
fn open(address: &str) -> Option<NamedTempFile> {
    let is_mac = cfg!(target_os = "macos");
    let has_screen = ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|name| std::env::var_os(name).is_some());
    if !is_mac && !has_screen {
        return None;
    }
    let mut file = tempfile::Builder::new().prefix("throughline-view-").suffix(".html").tempfile().ok()?;
    write!(file, "<!doctype html><meta charset=utf-8><meta http-equiv=refresh content=\"0;url={address}\">").ok()?;
    file.flush().ok()?;
    let opener = if is_mac { "open" } else { "xdg-open" };
    let started =
        Command::new(opener).arg(file.path()).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    match started {
        Ok(mut child) => {
            std::thread::spawn(move || child.wait());
            Some(file)
        }
        Err(error) => {
            eprintln!("{opener} cannot be started ({error}); open the address yourself");
            None
        }
    }
}
