//! The default policy's component: how it is built from core-wasm/, the same bytes on every machine.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use wit_component::ComponentEncoder;

/// The target of the default policy: no operating system, hence no WASI imports.
pub const TARGET: &str = "wasm32-unknown-unknown";

/// The workspace's root.
pub fn workspace() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new("/"));
    root.canonicalize().unwrap_or_else(|_| root.to_path_buf())
}

/// Whether the pinned toolchain has the target.
pub fn target_installed() -> bool {
    let sysroot = Command::new("rustc").args(["--print", "sysroot"]).current_dir(workspace()).output();
    sysroot.is_ok_and(|output| {
        let sysroot = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        Path::new(&sysroot).join("lib/rustlib").join(TARGET).join("lib").is_dir()
    })
}

/// Builds the component. Its bytes depend on the sources, Cargo.lock and the pinned toolchain alone: the paths of this
/// machine are mapped away.
pub fn build() -> Result<Vec<u8>> {
    let root = workspace();
    let target_dir = root.join("target/policy");
    let cargo_home = std::env::var_os("CARGO_HOME")
        .map(PathBuf::from)
        .or_else(|| std::env::home_dir().map(|home| home.join(".cargo")))
        .context("neither CARGO_HOME nor a home folder is known")?;
    let mut flags: Vec<OsString> =
        ["-C", "target-feature=+simd128,+bulk-memory", "-C", "link-arg=-zstack-size=262144"].map(OsString::from).to_vec();
    for (from, to) in [(registry(&cargo_home), "/registry"), (cargo_home, "/cargo"), (root.clone(), "/throughline")] {
        let mut flag = OsString::from("--remap-path-prefix=");
        flag.push(from);
        flag.push("=");
        flag.push(to);
        flags.push(flag);
    }
    let output = Command::new("cargo")
        .args([
            "build",
            "--package",
            "throughline-default-policy",
            "--lib",
            "--profile",
            "policy",
            "--target",
            TARGET,
            "--locked",
        ])
        .arg("--target-dir")
        .arg(&target_dir)
        .current_dir(&root)
        .env("CARGO_ENCODED_RUSTFLAGS", flags.join(std::ffi::OsStr::new("\u{1f}")))
        .env_remove("RUSTFLAGS")
        .env_remove("CARGO_TARGET_DIR")
        // The bytes must not depend on how a person builds what is being worked on.
        .env("CARGO_INCREMENTAL", "0")
        .env_remove("CARGO_PROFILE_POLICY_INCREMENTAL")
        .output()
        .context("cargo does not start")?;
    if !output.status.success() {
        bail!("the default policy does not build for {TARGET}:\n{}", String::from_utf8_lossy(&output.stderr));
    }
    let module = fs::read(target_dir.join(TARGET).join("policy/throughline_default_policy.wasm"))?;
    ComponentEncoder::default().module(&module)?.validate(true).encode().context("the module is no component")
}

/// The folder with the sources of registry crates. Its name depends on the registry's address.
fn registry(cargo_home: &Path) -> PathBuf {
    let sources = cargo_home.join("registry/src");
    let mut folders: Vec<PathBuf> =
        fs::read_dir(&sources).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    folders.sort();
    folders.into_iter().next().unwrap_or(sources)
}

/// Where the committed component stands.
pub fn committed() -> PathBuf {
    workspace().join("policies/default/policy.wasm")
}

/// Writes the component, and its digest beside it and into its manifest, where they are committed.
pub fn install(component: &[u8]) -> Result<String> {
    let digest = digest(component);
    fs::write(committed(), component)?;
    fs::write(committed().with_extension("wasm.sha256"), format!("{digest}\n"))?;
    let file = committed().with_file_name("policy.toml");
    let manifest = fs::read_to_string(&file)?;
    let line = |line: &str| {
        if line.starts_with("sha256 = ") { format!("sha256 = \"{digest}\"\n") } else { format!("{line}\n") }
    };
    fs::write(&file, manifest.lines().map(line).collect::<Vec<_>>().concat())?;
    Ok(digest)
}

/// SHA-256 in hexadecimal.
pub fn digest(bytes: &[u8]) -> String {
    use sha2::{Digest, Sha256};
    use std::fmt::Write;
    Sha256::digest(bytes).iter().fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}
