//! Finds the folder that the client works in: its first root, or the folder that the server was started in if the
//! client has no roots.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rmcp::service::{Peer, RoleServer};
use tokio::sync::Mutex;

/// How long to wait for the client's answer.
const ROOTS_TIMEOUT: Duration = Duration::from_secs(2);

/// The client's folder. The client is asked when the folder is first needed.
pub(super) struct ClientFolder {
    cwd: PathBuf,
    known: Mutex<Option<PathBuf>>,
}

impl ClientFolder {
    pub(super) fn new(cwd: PathBuf) -> Self {
        Self { cwd, known: Mutex::new(None) }
    }

    /// Returns the folder. Concurrent calls wait for the same answer.
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
        // In versions of the protocol without this request, it fails at once.
        let roots = tokio::time::timeout(ROOTS_TIMEOUT, peer.list_roots()).await.ok()?.ok()?;
        roots.roots.iter().find_map(|root| path_of(&root.uri))
    }

    /// Returns the folder that the server was started in.
    pub(super) fn fallback(&self) -> PathBuf {
        self.cwd.clone()
    }

    /// Forgets the folder, because the client's roots changed.
    pub(super) async fn forget(&self) {
        *self.known.lock().await = None;
    }
}

/// Converts a `file:` URI to a path on this machine.
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
