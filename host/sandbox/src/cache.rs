//! Caches compiled components on disk. Compiling takes a second, and loading half a millisecond. But a compiled
//! component is native code that skips all validation, so loading one requires unsafe code, and all of it is in this
//! module.
//!
//! Why loading is sound: `Component::deserialize_file` requires a file that this engine configuration wrote, that
//! nobody has changed since, and that does not change while it is mapped.
//!
//! - Only the host makes such files, with the compiler that is installed with it and trusted like it
//!   ([`compile`](super::compile)). A policy that is itself a compiled artifact is refused before it is looked at.
//! - The cache folder must be a real folder that belongs to the user who runs the host, and nobody else can write to it
//!   ([`private_folder`]). Otherwise the cache is not used at all.
//! - A file's name contains the component's digest and [`engine::compatibility_key`], which covers wasmtime's version and
//!   the engine's configuration. So another host version or configuration never opens it, and leaves it alone. Wasmtime
//!   also checks its own version and settings, and that this machine has the instructions that the code uses.
//! - Files are created by writing a temporary file, `fsync` and `rename`, never in place. A mapped file is therefore
//!   never changed, only unlinked.
//! - Beside each file is a seal: the SHA-256 of its bytes, and the inode, size and change time (ctime) that it had when
//!   the digest was last checked. No program can set a ctime, so as long as these agree, the bytes are those that were
//!   checked, with one exception: a process of the same user can change them through a writable mapping, and the ctime follows
//!   only when the changed page is written back. A load costs one `stat` instead of a hash. If they differ, the bytes are hashed again; on a mismatch
//!   the file is discarded and the component is compiled again.
//!
//! # Machines with managed configuration
//!
//! A user's own processes can exchange a compiled file together with its seal, and the file of digests. (They can even change a
//! file without a new ctime, through a mapping whose pages are not written back yet.) That is the user's own affair, except where
//! an administrator decides what runs. So with managed configuration, digests are always those of the bytes. And if the
//! administrator has made a folder of compiled components ([`Cache::of_system`]), code is loaded only from there. That folder and
//! its files belong to root, so they need no seals.
//!
//! One process compiles; the others wait for it or leave their work to the background. Only a session's start needs the
//! policy at once. `install` compiles ahead.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use wasmtime::Engine;
use wasmtime::component::Component;

use super::engine;
use super::folder::{Owner, check_folder_trusted, open_trusted, read_whole};
use throughline_model::digest::sha256_hex;
use throughline_platform::open::FolderOptions as _;
use throughline_platform::{files, metadata, permissions};

/// Compiled components older than this are deleted as probably unused. If one is still needed, it is compiled again.
const MAX_AGE: Duration = Duration::from_hours(30 * 24);

/// How many digests of components are kept.
const MAX_DIGESTS: usize = 255;

/// How old a file must be before its metadata can stand for its bytes.
const MIN_UNCHANGED_TIME: Duration = Duration::from_secs(2);

/// The folder of compiled components.
#[derive(Debug, Clone)]
pub struct Cache {
    folder: PathBuf,
    kind: CacheKind,
}

/// Whose the cache is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CacheKind {
    /// The user's.
    User,
    /// The user's, on a machine where an administrator decides what runs.
    Managed,
    /// The system's: only root can write to it.
    System,
}

/// What [`Cache::load_or_compile`] had to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// The compiled form was in the cache and valid.
    Cached,
    /// It was compiled now and stored.
    Compiled,
    /// It was compiled now but could not be stored, so the next start compiles it again.
    NotStored,
}

impl Cache {
    /// Creates a cache in `folder`, which need not exist yet.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into(), kind: CacheKind::User }
    }

    /// Creates a cache for a machine with managed configuration: that of the system if `system` exists, otherwise the user's,
    /// without trust in the digests that it contains.
    pub fn for_managed(user: impl Into<PathBuf>, system: &Path) -> Self {
        if system.symlink_metadata().is_ok() {
            return Self::of_system(system);
        }
        Self { folder: user.into(), kind: CacheKind::Managed }
    }

    /// Creates a cache in a folder of the system, to which only root can write.
    pub fn of_system(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into(), kind: CacheKind::System }
    }

    /// Whether only root can add compiled components.
    pub fn is_of_system(&self) -> bool {
        self.kind == CacheKind::System
    }

    /// Fails if another user could have written the content of the folder.
    fn check_folder(&self) -> Result<()> {
        if self.kind != CacheKind::System {
            return private_folder(&self.folder);
        }
        match check_folder_trusted(&self.folder, Owner::Root) {
            Some(Ok(())) => Ok(()),
            Some(Err(what)) => bail!("{}: {what}", self.folder.display()),
            None => bail!("{} does not exist", self.folder.display()),
        }
    }

    /// Returns the path of the compiled form of the component with this digest.
    pub fn file(&self, digest: &str) -> PathBuf {
        self.folder.join(format!("{}-{}.cwasm", &digest[..digest.len().min(32)], engine::compatibility_key()))
    }

    /// Loads the component's compiled form, if it is in the cache and valid.
    pub fn load(&self, engine: &Engine, digest: &str) -> Option<Component> {
        self.check_folder().ok()?;
        self.load_file(engine, &self.file(digest)).ok()
    }

    fn load_file(&self, engine: &Engine, file: &Path) -> Result<Component> {
        match self.kind {
            CacheKind::System => drop(open_trusted(file, Owner::Root, u64::MAX).map_err(anyhow::Error::msg)?),
            CacheKind::User | CacheKind::Managed => check_seal(file)?,
        }
        load(engine, file)
    }

    /// Loads the component. If it is not in the cache, `compile` makes its compiled form, which is used even if it cannot be stored.
    /// `digest` is the SHA-256 of `wasm` in hexadecimal. If another process is compiling, waits for it until `until`.
    pub fn load_or_compile(
        &self,
        engine: &Engine,
        digest: &str,
        wasm: &[u8],
        until: Instant,
        compile: impl FnOnce(&[u8]) -> Result<Vec<u8>>,
    ) -> Result<(Component, Origin)> {
        self.load_or(engine, digest, wasm, until, || {
            let compiled = compile(wasm)?;
            match self.store(digest, &compiled).and_then(|()| load(engine, &self.file(digest))) {
                Ok(component) => Ok((component, Origin::Compiled)),
                Err(_) => Ok((load_bytes(engine, &compiled)?, Origin::NotStored)),
            }
        })
    }

    /// Like [`Cache::load_or_compile`], for a component of somebody else, which may take long to compile: fails if the compiled form
    /// cannot be stored.
    pub fn load_or_compile_stored(
        &self,
        engine: &Engine,
        digest: &str,
        wasm: &[u8],
        until: Instant,
        compile: impl FnOnce(&[u8]) -> Result<Vec<u8>>,
    ) -> Result<Component> {
        let compiled = self.load_or(engine, digest, wasm, until, || {
            let bytes = compile(wasm)?;
            let unusable = || format!("its compiled form cannot be stored in {}", self.folder.display());
            self.store(digest, &bytes).with_context(unusable)?;
            Ok((self.load_file(engine, &self.file(digest)).with_context(unusable)?, Origin::Compiled))
        });
        Ok(compiled?.0)
    }

    fn load_or(
        &self,
        engine: &Engine,
        digest: &str,
        wasm: &[u8],
        until: Instant,
        compile: impl FnOnce() -> Result<(Component, Origin)>,
    ) -> Result<(Component, Origin)> {
        if let Some(component) = self.load(engine, digest) {
            return Ok((component, Origin::Cached));
        }
        // One process compiles and the others wait: if eight compiled at once, all would be late.
        let _lock = self.lock(until)?;
        if let Some(component) = self.load(engine, digest) {
            return Ok((component, Origin::Cached));
        }
        if sha256_hex(wasm) != digest {
            bail!("the component does not match its digest ({digest})");
        }
        if Engine::detect_precompiled(wasm).is_some() {
            bail!("this is a compiled artifact, not a component; Throughline only runs code that it compiled itself");
        }
        compile()
    }

    /// Takes the lock for compiling. Returns `None` if the lock file cannot be created; there is then nothing to wait
    /// for.
    fn lock(&self, until: Instant) -> Result<Option<File>> {
        let opened = create_private_folder(&self.folder).and_then(|()| Ok(files::open_lock(&self.folder.join(".lock"))?));
        let Ok(lock) = opened else { return Ok(None) };
        while lock.try_lock().is_err() {
            if Instant::now() >= until {
                bail!("another process is compiling the policy and did not finish in time");
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(Some(lock))
    }

    /// Returns the SHA-256 of a component's file, in hexadecimal. Hashing many megabytes takes longer than a whole hook
    /// may, so the digest is kept together with the file's metadata, as in a seal; no program can set a ctime.
    pub fn digest(&self, component: &mut File) -> Result<String> {
        let meta = component.metadata()?;
        let changed = metadata::changed_parts(&meta).filter(|_| self.kind == CacheKind::User);
        let Some((seconds, nanos)) = changed else { return Ok(sha256_hex(&read_whole(component)?)) };
        let (device, inode) = metadata::file_id(component)?;
        let identity = format!("{device} {inode} {} {seconds} {nanos}", meta.len());
        let index = self.folder.join("digests");
        let known = match private_folder(&self.folder) {
            Ok(()) => fs::read_to_string(&index).unwrap_or_default(),
            Err(_) => String::new(),
        };
        let found = known.lines().find_map(|line| line.strip_prefix(&identity)?.strip_prefix(' '));
        if let Some(digest) = found.filter(|digest| digest.len() == 64) {
            return Ok(digest.to_owned());
        }
        let digest = sha256_hex(&read_whole(component)?);
        // A file that is still being written may change again within one tick of the file system's clock.
        let settled = meta.modified().ok().and_then(|at| at.elapsed().ok()).is_some_and(|age| age > MIN_UNCHANGED_TIME);
        if settled && create_private_folder(&self.folder).is_ok() && private_folder(&self.folder).is_ok() {
            let before: Vec<&str> = known.lines().collect();
            let kept = &before[before.len().saturating_sub(MAX_DIGESTS)..];
            let text = [kept, &[&format!("{identity} {digest}"), ""]].concat().join("\n");
            // If the digest cannot be saved, the next hook hashes the file again.
            let _ = files::replace_atomically(&index, text.as_bytes(), 0o600);
        }
        Ok(digest)
    }

    fn store(&self, digest: &str, compiled: &[u8]) -> Result<()> {
        if self.kind == CacheKind::System {
            self.check_folder()?;
            return Ok(files::replace_atomically(&self.file(digest), compiled, 0o644)?);
        }
        create_private_folder(&self.folder)?;
        self.check_folder()?;
        let file = &self.file(digest);
        files::replace_atomically(file, compiled, 0o600)?;
        files::replace_atomically(&seal_path(file), Seal::of(sha256_hex(compiled), file)?.line().as_bytes(), 0o600)?;
        self.delete_old();
        Ok(())
    }

    /// Deletes compiled forms that were not made or checked for a month, such as those of other host versions and of
    /// removed policies. Two versions in use side by side keep theirs.
    fn delete_old(&self) {
        let Ok(entries) = fs::read_dir(&self.folder) else { return };
        for entry in entries.flatten() {
            let old = entry.metadata().and_then(|meta| meta.modified()).ok().and_then(|at| at.elapsed().ok());
            if old.is_some_and(|age| age > MAX_AGE) {
                let _ = fs::remove_file(entry.path());
            }
        }
    }
}

/// The digest of a compiled file, and the file's metadata when the digest was checked.
#[derive(PartialEq)]
struct Seal {
    digest: String,
    /// Inode, size and ctime; `None` where the system tells no ctime, and only the bytes can tell whether they changed.
    identity: Option<[i64; 4]>,
}

impl Seal {
    fn of(digest: String, file: &Path) -> Result<Self> {
        let meta = fs::symlink_metadata(file)?;
        if !meta.is_file() || !permissions::belongs_to_user(&meta) || permissions::others_may_write(&meta) {
            bail!("{} is not a private file of this user", file.display());
        }
        let (_, inode) = metadata::path_id(file)?;
        // Only compared for equality.
        let identity = metadata::changed_parts(&meta)
            .map(|(seconds, nanos)| [inode.cast_signed(), meta.len().cast_signed(), seconds, nanos]);
        Ok(Self { digest, identity })
    }

    fn line(&self) -> String {
        let numbers = self.identity.iter().flatten().map(i64::to_string);
        let words: Vec<String> = std::iter::once(self.digest.clone()).chain(numbers).collect();
        format!("{}\n", words.join(" "))
    }

    fn parse(text: &str) -> Option<Self> {
        let mut words = text.split_ascii_whitespace();
        let digest = words.next()?.to_owned();
        let numbers: Vec<i64> = words.map_while(|word| word.parse().ok()).collect();
        let identity = if numbers.is_empty() { None } else { Some(numbers.try_into().ok()?) };
        Some(Self { digest, identity })
    }
}

fn seal_path(file: &Path) -> PathBuf {
    file.with_extension("seal")
}

/// Fails unless the file is as it was when its digest was last checked, or has that digest.
fn check_seal(file: &Path) -> Result<()> {
    let seal = Seal::parse(&fs::read_to_string(seal_path(file))?).context("the seal is damaged")?;
    let now = Seal::of(seal.digest.clone(), file)?;
    if now.identity.is_none() || now != seal {
        // The file was moved, copied, restored from a backup, or tampered with: only the bytes can tell.
        if sha256_hex(&fs::read(file)?) != seal.digest {
            bail!("the compiled component is damaged");
        }
        if now.identity.is_some() {
            files::replace_atomically(&seal_path(file), now.line().as_bytes(), 0o600)?;
        }
    }
    Ok(())
}

#[expect(unsafe_code, reason = "the module's documentation argues why the file can be trusted")]
fn load(engine: &Engine, file: &Path) -> Result<Component> {
    // SAFETY: see the module's documentation.
    let component = unsafe { Component::deserialize_file(engine, file) }?;
    Ok(component)
}

#[expect(
    unsafe_code,
    reason = "the installation's compiler made the bytes, and sent them through a pipe that nobody else has"
)]
fn load_bytes(engine: &Engine, compiled: &[u8]) -> Result<Component> {
    // SAFETY: see the reason above; wasmtime copies the bytes.
    let component = unsafe { Component::deserialize(engine, compiled) }?;
    Ok(component)
}

fn create_private_folder(folder: &Path) -> Result<()> {
    fs::DirBuilder::new().recursive(true).private().create(folder)?;
    Ok(())
}

/// Fails unless `folder` is a folder (not a link), belongs to this user, and is not writable by others.
pub fn private_folder(folder: &Path) -> Result<()> {
    let meta = fs::symlink_metadata(folder)?;
    if !meta.is_dir() || !permissions::belongs_to_user(&meta) || permissions::others_may_write(&meta) {
        bail!("{} is not a private folder of this user", folder.display());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;
    use crate::engine::EpochTicker;

    const EMPTY: &[u8] = b"\0asm\x0d\0\x01\0";

    fn fixture() -> (tempfile::TempDir, Cache, EpochTicker, String) {
        let dir = tempfile::tempdir().unwrap();
        let cache = Cache::new(dir.path().join("components"));
        (dir, cache, EpochTicker::start().unwrap(), sha256_hex(EMPTY))
    }

    fn origin(cache: &Cache, clock: &EpochTicker, digest: &str) -> Origin {
        cache.load_or_compile(clock.engine(), digest, EMPTY, Instant::now(), throughline_compiler::compile).unwrap().1
    }

    #[test]
    fn compiles_once_and_then_loads() {
        let (_dir, cache, clock, digest) = fixture();
        assert_eq!(origin(&cache, &clock, &digest), Origin::Compiled);
        assert_eq!(origin(&cache, &clock, &digest), Origin::Cached);
    }

    #[test]
    fn a_damaged_file_is_compiled_again() {
        let (_dir, cache, clock, digest) = fixture();
        origin(&cache, &clock, &digest);
        let file = cache.file(&digest);
        let mut bytes = fs::read(&file).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 0xff;
        fs::write(&file, bytes).unwrap();
        assert_eq!(origin(&cache, &clock, &digest), Origin::Compiled);
        assert_eq!(origin(&cache, &clock, &digest), Origin::Cached);
    }

    #[test]
    fn a_touched_but_whole_file_is_sealed_again() {
        let (_dir, cache, clock, digest) = fixture();
        origin(&cache, &clock, &digest);
        let file = cache.file(&digest);
        let bytes = fs::read(&file).unwrap();
        fs::write(&file, bytes).unwrap();
        assert_eq!(origin(&cache, &clock, &digest), Origin::Cached);
    }

    #[test]
    fn a_folder_that_others_may_write_to_is_not_trusted() {
        let (dir, cache, clock, digest) = fixture();
        origin(&cache, &clock, &digest);
        fs::set_permissions(dir.path().join("components"), fs::Permissions::from_mode(0o777)).unwrap();
        assert_eq!(origin(&cache, &clock, &digest), Origin::NotStored);
    }

    #[test]
    fn a_compiled_artifact_is_no_component() {
        let (_dir, cache, clock, digest) = fixture();
        origin(&cache, &clock, &digest);
        let compiled = fs::read(cache.file(&digest)).unwrap();
        let until = Instant::now() + Duration::from_secs(5);
        let error = cache
            .load_or_compile(clock.engine(), &sha256_hex(&compiled), &compiled, until, |_| panic!("it is refused before"))
            .err()
            .unwrap();
        assert!(error.to_string().contains("compiled artifact"), "{error}");
    }

    #[test]
    fn a_digest_is_remembered_until_the_file_changes() {
        let (dir, cache, _, _) = fixture();
        let file = dir.path().join("policy.wasm");
        fs::write(&file, EMPTY).unwrap();
        let old = std::time::SystemTime::now() - Duration::from_mins(1);
        File::options().write(true).open(&file).unwrap().set_modified(old).unwrap();
        let digest = || cache.digest(&mut File::open(&file).unwrap()).unwrap();
        assert_eq!(digest(), sha256_hex(EMPTY));
        let index = dir.path().join("components/digests");
        let line = fs::read_to_string(&index).unwrap();
        assert_eq!(line.lines().count(), 1);
        // The index is used …
        fs::write(&index, line.replace(&sha256_hex(EMPTY), &"a".repeat(64))).unwrap();
        assert_eq!(digest(), "a".repeat(64));
        // … until the file changes, or others could have written the index.
        fs::set_permissions(dir.path().join("components"), fs::Permissions::from_mode(0o777)).unwrap();
        assert_eq!(digest(), sha256_hex(EMPTY));
        fs::set_permissions(dir.path().join("components"), fs::Permissions::from_mode(0o700)).unwrap();
        fs::write(&file, b"other").unwrap();
        assert_eq!(digest(), sha256_hex(b"other"));
    }

    #[test]
    fn attack_a_forged_digest_in_the_users_cache() {
        let (dir, cache, _clock, _) = fixture();
        let file = dir.path().join("policy.wasm");
        fs::write(&file, EMPTY).unwrap();
        File::options().write(true).open(&file).unwrap().set_modified(std::time::UNIX_EPOCH).unwrap();
        let digest = |cache: &Cache| cache.digest(&mut File::open(&file).unwrap()).unwrap();
        digest(&cache);
        let index = dir.path().join("components/digests");
        let line = fs::read_to_string(&index).unwrap();
        fs::write(&index, line.replace(&sha256_hex(EMPTY), &"a".repeat(64))).unwrap();
        assert_eq!(digest(&cache), "a".repeat(64), "without an administrator, the user's cache is the user's affair");
        let managed = Cache::for_managed(dir.path().join("components"), &dir.path().join("none"));
        assert_eq!(digest(&managed), sha256_hex(EMPTY));
    }

    #[test]
    fn attack_exchanged_code_with_a_forged_seal() {
        let (dir, cache, clock, digest) = fixture();
        origin(&cache, &clock, &digest);
        let system = dir.path().join("system");
        fs::create_dir(&system).unwrap();
        let of_system = Cache::for_managed(dir.path().join("components"), &system);
        assert!(of_system.is_of_system());
        assert!(of_system.load(clock.engine(), &digest).is_none(), "the user's cache does not count");
        if !throughline_platform::process::is_root() {
            // Only root can write what such a machine loads.
            return;
        }
        assert_eq!(origin(&of_system, &clock, &digest), Origin::Compiled);
        assert!(of_system.load(clock.engine(), &digest).is_some());
        let file = of_system.file(&digest);
        std::os::unix::fs::chown(&file, Some(65_534), None).unwrap();
        assert!(of_system.load(clock.engine(), &digest).is_none(), "a file of the user");
        std::os::unix::fs::chown(&file, Some(0), None).unwrap();
        fs::set_permissions(&system, fs::Permissions::from_mode(0o777)).unwrap();
        assert!(of_system.load(clock.engine(), &digest).is_none(), "a folder that the user can write to");
    }

    #[test]
    fn a_component_that_cannot_be_compiled_leaves_nothing_behind() {
        let (_dir, cache, clock, digest) = fixture();
        let load = |compile: &dyn Fn(&[u8]) -> Result<Vec<u8>>| {
            cache.load_or_compile_stored(clock.engine(), &digest, EMPTY, Instant::now(), compile)
        };
        assert!(load(&|_| bail!("it takes too much")).err().is_some_and(|error| error.to_string() == "it takes too much"));
        assert!(cache.load(clock.engine(), &digest).is_none());
        assert!(load(&throughline_compiler::compile).is_ok());
        assert!(load(&|_| bail!("it is in the cache")).is_ok());
    }

    #[test]
    fn a_component_must_match_its_digest() {
        let (_dir, cache, clock, _) = fixture();
        let digest = "0".repeat(64);
        let compile = throughline_compiler::compile;
        assert!(cache.load_or_compile(clock.engine(), &digest, EMPTY, Instant::now(), compile).is_err());
    }
}
