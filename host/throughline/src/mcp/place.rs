//! Where the client works: its first root, where it has roots, else the folder that the server was started in.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rmcp::service::{Peer, RoleServer};
use tokio::sync::Mutex;

/// How long the client is waited for.
const PATIENT: Duration = Duration::from_secs(2);

/// The place, asked for when it is first needed.
pub(super) struct Place {
    cwd: PathBuf,
    known: Mutex<Option<PathBuf>>,
}

impl Place {
    pub(super) fn new(cwd: PathBuf) -> Self {
        Self { cwd, known: Mutex::new(None) }
    }

    /// The folder. Who comes while the client is asked waits for its answer.
    pub(super) async fn folder(&self, peer: &Peer<RoleServer>, has_roots: bool) -> PathBuf {
        let mut known = self.known.lock().await;
        if let Some(folder) = &*known {
            return folder.clone();
        }
        let root = if has_roots { self.ask(peer).await } else { None };
        known.insert(root.unwrap_or_else(|| self.cwd.clone())).clone()
    }

    #[expect(
        deprecated,
        reason = "later versions of the protocol have no roots, and until then it is how a client names its folder"
    )]
    async fn ask(&self, peer: &Peer<RoleServer>) -> Option<PathBuf> {
        // Where a version of the protocol has no such question, this fails at once.
        let roots = tokio::time::timeout(PATIENT, peer.list_roots()).await.ok()?.ok()?;
        roots.roots.iter().find_map(|root| path_of(&root.uri))
    }

    /// Where the server was started.
    pub(super) fn fallback(&self) -> PathBuf {
        self.cwd.clone()
    }

    /// The client has other roots now.
    pub(super) async fn forget(&self) {
        *self.known.lock().await = None;
    }
}

/// The path of a `file:` address on this machine.
fn path_of(uri: &str) -> Option<PathBuf> {
    let scheme = uri.get(..5)?;
    let rest = uri.get(5..).filter(|_| scheme.eq_ignore_ascii_case("file:"))?;
    let path = match rest.strip_prefix("//") {
        Some(rest) => rest.strip_prefix("localhost").unwrap_or(rest),
        None => rest,
    };
    let path = path.split(['?', '#']).next().unwrap_or_default();
    let path = percent_encoding::percent_decode_str(path).decode_utf8().ok()?;
    (path.starts_with('/') && !path.contains('\0')).then(|| Path::new(path.as_ref()).to_path_buf())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots_are_folders_of_this_machine() {
        let of = |uri| path_of(uri).map(|path| path.to_string_lossy().into_owned());
        assert_eq!(of("file:///home/a%20b/%ED%95%9C"), Some("/home/a b/한".into()));
        assert_eq!(of("file://localhost/x"), Some("/x".into()));
        assert_eq!(of("FILE:/x"), Some("/x".into()));
        for other in
            ["file://server/share", "https://example.org/", "file:relative", "", "한글", "file:///a%00b", "file:///%FF"]
        {
            assert_eq!(of(other), None, "{other}");
        }
    }
}
