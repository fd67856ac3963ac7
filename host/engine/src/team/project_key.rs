//! How a project is recognized on other machines: by the commits that its history begins with and by its remote. A project
//! that is only a name has that name. A folder without a repository cannot be recognized elsewhere.

use std::fmt;

use crate::git::git;
use throughline_model::digest::sha256_hex;
use throughline_model::project::Project;

/// The most bytes of a remote.
const MAX_REMOTE: usize = 512;

/// A project's key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProjectKey {
    /// A git repository.
    Git {
        /// A hash of the first commits; empty in a shallow clone, which does not have them.
        roots: String,
        /// The remote, such as `github.com/acme/shop`; empty if there is none.
        remote: String,
    },
    /// A plain name.
    Name(String),
}

impl fmt::Display for ProjectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Git { roots, remote } => write!(f, "git:{roots}:{remote}"),
            Self::Name(name) => write!(f, "name:{name}"),
        }
    }
}

impl ProjectKey {
    /// Parses a key.
    pub fn parse(text: &str) -> Option<Self> {
        if let Some(name) = text.strip_prefix("name:") {
            return (!name.is_empty()).then(|| Self::Name(name.to_owned()));
        }
        let (roots, remote) = text.strip_prefix("git:")?.split_once(':')?;
        let is_key = !(roots.is_empty() && remote.is_empty()) && roots.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_key.then(|| Self::Git { roots: roots.to_owned(), remote: remote.to_owned() })
    }

    /// Looks a project's key up. None if it cannot be recognized elsewhere.
    pub fn of(project: &Project) -> Option<Self> {
        if let Some(name) = project.identity.strip_prefix("name:") {
            return Some(Self::Name(name.to_owned()));
        }
        if !project.identity.starts_with("git:") {
            return None;
        }
        let ask = |arguments: &[&str]| {
            let output = git(&project.root).args(arguments).output().ok().filter(|output| output.status.success())?;
            String::from_utf8(output.stdout).ok()
        };
        let is_shallow = ask(&["rev-parse", "--is-shallow-repository"]).is_none_or(|said| said.trim() != "false");
        let roots = if is_shallow { None } else { ask(&["rev-list", "--max-parents=0", "HEAD"]) };
        let mut roots: Vec<&str> = roots.as_deref().map(|roots| roots.split_whitespace().collect()).unwrap_or_default();
        roots.sort_unstable();
        let roots = if roots.is_empty() { String::new() } else { sha256_hex(roots.join("\n").as_bytes())[..32].to_owned() };
        let remote = ask(&["config", "--get", "remote.origin.url"]).map(|url| normalized(&url)).unwrap_or_default();
        Self::parse(&Self::Git { roots, remote }.to_string())
    }

    /// Returns the remote.
    pub fn remote(&self) -> &str {
        match self {
            Self::Git { remote, .. } => remote,
            Self::Name(_) => "",
        }
    }

    /// Returns the key by the project's history alone; `None` if the remote is all that is known.
    pub fn without_remote(&self) -> Option<String> {
        match self {
            Self::Git { roots, .. } if !roots.is_empty() => {
                Some(Self::Git { roots: roots.clone(), remote: String::new() }.to_string())
            }
            _ => None,
        }
    }

    /// Returns whether two keys are of one project: one history, and one remote where both have one. A fork, which shares the
    /// history and has another remote, is another project.
    pub fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Name(one), Self::Name(other)) => one == other,
            (Self::Git { roots, remote }, Self::Git { roots: other_roots, remote: other_remote }) => {
                let agree = |a: &str, b: &str| a.is_empty() || b.is_empty() || a == b;
                let share = |a: &str, b: &str| !a.is_empty() && a == b;
                agree(roots, other_roots)
                    && agree(remote, other_remote)
                    && (share(roots, other_roots) || share(remote, other_remote))
            }
            _ => false,
        }
    }
}

/// Returns a remote without what differs between machines: scheme, user, password, port, `.git` and case of the host. A path on
/// this machine gives nothing.
fn normalized(url: &str) -> String {
    let url = url.trim();
    if url.len() > MAX_REMOTE || url.chars().any(char::is_control) {
        return String::new();
    }
    let (host, path) = match url.split_once("://") {
        Some(("file", _)) => return String::new(),
        Some((_, rest)) => rest.split_once('/').unwrap_or((rest, "")),
        // As in `git@github.com:acme/shop.git`.
        None => match url.split_once(':') {
            Some((host, path)) if !host.contains('/') => (host, path),
            _ => return String::new(),
        },
    };
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    let host = host.split_once(':').map_or(host, |(host, _)| host).to_ascii_lowercase();
    let path = path.trim_matches('/');
    let path = path.strip_suffix(".git").unwrap_or(path);
    if host.is_empty() || path.is_empty() { String::new() } else { format!("{host}/{path}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_remote_has_many_spellings() {
        for url in [
            "https://github.com/acme/shop.git",
            "https://user:secret@GitHub.com/acme/shop",
            "ssh://git@github.com:22/acme/shop.git/",
            "git@github.com:acme/shop.git\n",
            "git://github.com/acme/shop",
        ] {
            assert_eq!(normalized(url), "github.com/acme/shop", "{url}");
        }
        for url in ["/srv/git/shop.git", "../shop", "file:///srv/shop", "", "https://host", "C:\\\u{7}shop"] {
            assert_eq!(normalized(url), "", "{url}");
        }
    }

    #[test]
    fn a_fork_is_another_project() {
        let git = |roots: &str, remote: &str| ProjectKey::Git { roots: roots.into(), remote: remote.into() };
        assert!(git("a1", "h/x").is_same(&git("a1", "h/x")));
        assert!(git("a1", "h/x").is_same(&git("a1", "")) && git("a1", "").is_same(&git("a1", "")));
        assert!(git("", "h/x").is_same(&git("a1", "h/x")), "a shallow clone knows its remote");
        assert!(!git("a1", "h/x").is_same(&git("a1", "h/fork")));
        assert!(!git("a1", "h/x").is_same(&git("b2", "h/x")), "a repository that began anew");
        assert!(!git("a1", "").is_same(&git("", "h/x")));
        let name = ProjectKey::Name("shop".into());
        assert!(name.is_same(&name) && !name.is_same(&git("a1", "shop")));
        assert_eq!(ProjectKey::parse("name:shop"), Some(name));
        assert_eq!(ProjectKey::parse("git:a1:h/x:y"), Some(git("a1", "h/x:y")));
        for text in ["", "git:", "git::", "git:zz:h/x", "name:", "dir:/x"] {
            assert_eq!(ProjectKey::parse(text), None, "{text}");
        }
    }
}
