//! Builds a policy in JavaScript: npm fetches the packages in the lock file, and the folder's own `build.mjs` makes the
//! component.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};

use super::source::PolicySource;
use super::tool::Tool;

const NODE: Tool = Tool {
    program: "node",
    purpose: "to build policies in JavaScript",
    remedy: "Install Node.js 20 or newer: https://nodejs.org.",
};
const NPM: Tool = Tool {
    program: "npm",
    purpose: "to fetch the packages that JavaScript policies are built with",
    remedy: "It comes with Node.js 20 or newer: https://nodejs.org; Debian and Ubuntu have a package `npm`.",
};

pub(super) fn component(source: &PolicySource, say: &mut dyn FnMut(&str)) -> Result<Vec<u8>> {
    let scratch = source.scratch()?;
    NODE.run(NODE.command().arg("--version"))?;
    packages(&source.folder, say)?;
    check_syntax(&source.folder)?;
    say("making the component with build.mjs");
    let output = scratch.join("component.wasm");
    let mut command = NODE.command();
    command.arg("build.mjs").arg(&output).arg(&source.world).current_dir(&source.folder);
    NODE.run(&mut command)?;
    fs::read(&output).with_context(|| format!("build.mjs did not write {}", output.display()))
}

/// Parses the folder's own files with node, which says where a mistake is; componentize-js says only that there is one.
fn check_syntax(folder: &Path) -> Result<()> {
    let mut files: Vec<_> = fs::read_dir(folder)?.flatten().map(|entry| entry.path()).collect();
    files.retain(|file| file.extension().is_some_and(|end| end == "js" || end == "mjs"));
    files.sort();
    for file in files {
        NODE.run(NODE.command().arg("--check").arg(&file).current_dir(folder))?;
    }
    Ok(())
}

/// Makes `node_modules` match `package-lock.json`; fetches packages only if the lock file has changed.
fn packages(folder: &Path, say: &mut dyn FnMut(&str)) -> Result<()> {
    let lock = folder.join("package-lock.json");
    ensure!(lock.exists(), "{} is missing: run `npm install` once and keep the file", lock.display());
    let wanted = fs::read(&lock)?;
    let mark = folder.join("node_modules/.throughline-lock.json");
    if fs::read(&mark).is_ok_and(|there| there == wanted) {
        return Ok(());
    }
    say("fetching the packages in package-lock.json with npm");
    // No package here needs its install script, so none is allowed to run one.
    NPM.run(NPM.command().args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"]).current_dir(folder))
        .context("the packages in package-lock.json cannot be fetched; can this machine reach the npm registry?")?;
    fs::write(&mark, wanted)?;
    Ok(())
}
