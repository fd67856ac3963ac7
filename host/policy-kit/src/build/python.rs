//! Builds a policy in Python: componentize-py, in a virtual environment of the folder's own, makes the component from
//! `app.py`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use super::source::PolicySource;
use super::tool::{Tool, run};

const PYTHON: Tool = Tool {
    program: "python3",
    purpose: "to build policies in Python",
    remedy: "Install Python 3.10 or newer, with venv: `apt install python3 python3-venv`, or https://www.python.org.",
};

pub(super) fn component(source: &PolicySource, say: &mut dyn FnMut(&str)) -> Result<Vec<u8>> {
    let scratch = source.scratch()?;
    let environment = environment(&source.folder, &scratch, say)?;
    say("making the component with componentize-py");
    let output = scratch.join("component.wasm");
    let mut command = Command::new(environment.join("bin/componentize-py"));
    command
        .args(["--quiet", "--wit-path", "wit", "--world", &source.world, "componentize", "--stub-wasi", "app"])
        .arg("--output")
        .arg(&output)
        .current_dir(&source.folder)
        // componentize-py looks for packages here as well as in the folder itself.
        .env("VIRTUAL_ENV", &environment)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env_remove("PYTHONPATH")
        .env_remove("PYTHONHOME");
    run(&mut command)?;
    fs::read(&output).with_context(|| format!("{} cannot be read", output.display()))
}

/// Returns the virtual environment with the packages in `requirements.txt`; recreates it if that file has changed.
fn environment(folder: &Path, scratch: &Path, say: &mut dyn FnMut(&str)) -> Result<PathBuf> {
    let environment = scratch.join("venv");
    let requirements = folder.join("requirements.txt");
    let wanted = fs::read_to_string(&requirements)
        .with_context(|| format!("{} cannot be read; it must name componentize-py's version", requirements.display()))?;
    let mark = environment.join("requirements.txt");
    if fs::read_to_string(&mark).is_ok_and(|there| there == wanted) {
        return Ok(environment);
    }
    say("creating a virtual environment with python3 and fetching the packages in requirements.txt");
    // `--clear` removes what a failed attempt or an older requirements.txt left.
    PYTHON.run(PYTHON.command().args(["-m", "venv", "--clear"]).arg(&environment).env_remove("PYTHONHOME")).context(
        "python3 cannot create a virtual environment; on Debian and Ubuntu that needs `apt install python3-venv`",
    )?;
    let mut pip = Command::new(environment.join("bin/python"));
    pip.args(["-m", "pip", "install", "--quiet", "--no-input", "--disable-pip-version-check", "--requirement"])
        .arg(&requirements)
        .env_remove("PYTHONPATH")
        .env_remove("PYTHONHOME");
    run(&mut pip).context("the packages in requirements.txt cannot be fetched; can this machine reach PyPI?")?;
    fs::write(&mark, wanted)?;
    Ok(environment)
}
