//! Has the linker keep one copy of functions that are the same and leave out what nobody reads, and lets `--version` say the commit.
//!
//! Generic code is compiled once in each crate that uses it, so the more crates there are, the more copies. In a release build a
//! sixth of the program's code was copies, and the memory of a hook consists mostly of the pages with the code that it runs.
//!
//! Only lld folds functions, and other linkers refuse the option. So it is passed only where rustc uses the lld that comes with
//! it, which it does by default on Linux for x86-64. Nothing here compares the addresses of functions.
//!
//! A release build aborts when it panics, so nothing unwinds the stack, and the tables for it, 2 MB, are left out. A crash still says
//! what happened and where; the lines of a stack trace are missing, as the symbols are.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Leaves out the tables for unwinding the stack. `INSERT` keeps the linker's own layout for everything else.
const WITHOUT_UNWINDING: &str = "SECTIONS { /DISCARD/ : { *(.eh_frame) *(.eh_frame.*) *(.gcc_except_table) *(.gcc_except_table.*) } } INSERT AFTER .comment;";

/// The flag that packages are built with (RELEASING.md), which every linker takes.
const BOUND_AT_START: &str = "link-arg=-Wl,-z,now";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-env=THROUGHLINE_VERSION={}", version());
    if uses_own_lld() == Some(true) {
        println!("cargo::rustc-link-arg-bins=-Wl,--icf=all");
        if env::var("PROFILE").is_ok_and(|profile| profile == "release") {
            let script = Path::new(&env::var_os("OUT_DIR").expect("cargo sets OUT_DIR")).join("without-unwinding.ld");
            fs::write(&script, WITHOUT_UNWINDING).expect("OUT_DIR is written");
            // Cargo leaves the symbols of a package with a profile of its own in, in spite of `strip`.
            println!("cargo::rustc-link-arg-bins=-Wl,--strip-all,--no-eh-frame-hdr,-T,{}", script.display());
        }
    }
}

/// Returns the version with the commit and its date, as far as they are known. Only a release build asks git, or every commit
/// would compile the program anew; whoever builds from an archive sets the two variables.
fn version() -> String {
    let version = env::var("CARGO_PKG_VERSION").unwrap_or_default();
    let names = ["THROUGHLINE_COMMIT", "THROUGHLINE_COMMIT_DATE"];
    for name in names {
        println!("cargo::rerun-if-env-changed={name}");
    }
    let given: Vec<String> = names.iter().filter_map(|name| env::var(name).ok().filter(|it| !it.is_empty())).collect();
    let is_release = env::var("PROFILE").is_ok_and(|profile| profile == "release");
    let known = match given[..] {
        [_, _] => Some(given.join(" ")),
        _ if is_release => git(&["log", "-1", "--abbrev=10", "--format=%h %cs"]),
        _ => None,
    };
    if is_release && let Some(log) = git(&["rev-parse", "--git-path", "logs/HEAD"]) {
        println!("cargo::rerun-if-changed={log}");
    }
    known.map_or(version.clone(), |known| format!("{version} ({known})"))
}

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8(output.stdout).ok()?.trim().to_owned()).filter(|text| !text.is_empty())
}

/// Returns whether rustc links with its own lld, or `None` if that cannot be found out.
fn uses_own_lld() -> Option<bool> {
    // With a linker or flags of somebody's choice, anything is possible.
    let is_plain = |flag: &str| flag == BOUND_AT_START || !flag.contains("link");
    let is_default = env::var_os("RUSTC_LINKER").is_none()
        && env::var("CARGO_ENCODED_RUSTFLAGS").is_ok_and(|flags| flags.split('\u{1f}').all(is_plain));
    let sysroot = Command::new(env::var_os("RUSTC")?).args(["--print", "sysroot"]).output().ok()?.stdout;
    let rustlib = PathBuf::from(String::from_utf8(sysroot).ok()?.trim()).join("lib/rustlib");
    let lld = rustlib.join(env::var("HOST").ok()?).join("bin/gcc-ld/ld.lld");
    Some(is_default && env::var("TARGET").ok()? == "x86_64-unknown-linux-gnu" && lld.exists())
}
