//! Each crate that is published is complete: its package has every file that its code includes.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};
use std::process::Command;

use tests::component;
use tests::process;

/// Parses the `Cargo.toml` in a folder.
fn manifest(folder: &Path) -> toml::Table {
    std::fs::read_to_string(folder.join("Cargo.toml")).expect("a manifest").parse().expect("TOML")
}

/// Returns the name and the folder of each member of the workspace that may be published.
fn published() -> Vec<(String, PathBuf)> {
    let root = component::workspace();
    let workspace = manifest(&root);
    let members = workspace["workspace"]["members"].as_array().expect("members").iter();
    members
        .map(|member| root.join(member.as_str().expect("a folder")))
        .filter_map(|folder| {
            let package = manifest(&folder)["package"].as_table().expect("a package").clone();
            let is_private = package.get("publish").is_some_and(|publish| publish.as_bool() == Some(false));
            (!is_private).then(|| (package["name"].as_str().expect("a name").to_owned(), folder))
        })
        .collect()
}

/// Returns the files of a crate's package, relative to the crate's folder.
fn packaged(name: &str) -> BTreeSet<PathBuf> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["package", "--list", "--allow-dirty", "--offline", "-p", name])
        .current_dir(component::workspace())
        .output()
        .expect("run cargo");
    assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8").lines().map(PathBuf::from).collect()
}

/// Returns the files below a folder; `path` is what the folder is called in the result.
fn files_below(folder: &Path, path: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry"));
    let mut files = Vec::new();
    for entry in entries {
        let (there, name) = (entry.path(), path.join(entry.file_name()));
        if there.is_dir() { files.extend(files_below(&there, &name)) } else { files.push(name) }
    }
    files
}

/// Resolves `..` in a path. Returns none if the path leaves the folder that it is relative to.
fn within(path: &Path) -> Option<PathBuf> {
    path.components().try_fold(PathBuf::new(), |mut resolved, part| {
        match part {
            Component::Normal(name) => resolved.push(name),
            Component::CurDir => (),
            Component::ParentDir if resolved.pop() => (),
            _ => return None,
        }
        Some(resolved)
    })
}

/// The paths in `include_str!("…")`, `include_bytes!("…")` and `path: "…"` of generated bindings, outside of unit tests, relative to
/// the crate's folder.
fn included(file: &Path, text: &str) -> Vec<PathBuf> {
    // Unit tests are at the end of a file.
    let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let of_macro = |start: &str, folder: &Path| -> Vec<PathBuf> {
        let rest = code.split(start).skip(1).filter_map(|rest| rest.split('"').next());
        rest.map(|path| folder.join(path)).collect()
    };
    let folder = file.parent().expect("a folder");
    let mut paths = of_macro("include_str!(\"", folder);
    paths.extend(of_macro("include_bytes!(\"", folder));
    if code.contains("bindgen!({\n    path: \"") {
        paths.extend(of_macro("bindgen!({\n    path: \"", Path::new("")));
    }
    paths
}

#[test]
fn packages_have_all_files_that_their_code_includes() {
    let published = published();
    assert!(published.iter().any(|(name, _)| name == "throughline"), "the program is not published");
    let mut includes = 0;
    for (name, folder) in published {
        let packaged = packaged(&name);
        for file in files_below(&folder.join("src"), Path::new("src")) {
            assert!(packaged.contains(&file), "{} is missing from the package {name}", file.display());
            if file.extension().is_none_or(|extension| extension != "rs") {
                continue;
            }
            let text = std::fs::read_to_string(folder.join(&file)).expect("UTF-8");
            for path in included(&file, &text) {
                includes += 1;
                let inside = within(&path)
                    .filter(|inside| packaged.contains(inside) || packaged.iter().any(|there| there.starts_with(inside)));
                assert!(
                    inside.is_some(),
                    "{} of {name} includes {}, which its package does not have",
                    file.display(),
                    path.display()
                );
            }
        }
        // What a link in the crate's folder leads to is packaged as files.
        for entry in std::fs::read_dir(&folder).expect("a folder").map(|entry| entry.expect("an entry")) {
            if entry.file_type().expect("a type").is_symlink() && entry.path().is_dir() {
                for file in files_below(&entry.path(), Path::new(&entry.file_name())) {
                    assert!(packaged.contains(&file), "{} is missing from the package {name}", file.display());
                }
            }
        }
    }
    assert!(includes > 20, "only {includes} included files were recognized");
}

/// A registry refuses a crate without these, and a crate that depends on one by its folder alone.
#[test]
fn packages_say_what_a_registry_asks_for() {
    let root = manifest(&component::workspace());
    let shared = root["workspace"]["dependencies"].as_table().expect("dependencies");
    for (name, folder) in published() {
        let manifest = manifest(&folder);
        for key in ["description", "license", "repository"] {
            assert!(manifest["package"].as_table().is_some_and(|package| package.contains_key(key)), "{name} has no {key}");
        }
        for (dependency, value) in manifest["dependencies"].as_table().expect("dependencies") {
            let is_shared = value.as_table().is_some_and(|value| value.contains_key("workspace"));
            let asked = if is_shared { &shared[dependency] } else { value };
            let has_version = asked.is_str() || asked.as_table().is_some_and(|asked| asked.contains_key("version"));
            assert!(has_version, "{name} depends on {dependency} without a version");
        }
    }
}

/// Returns the packages that are compiled into a package of the workspace when it is built by itself.
fn linked(package: &str) -> String {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["tree", "--locked", "--offline", "--edges", "normal,no-proc-macro", "--prefix", "none", "-p", package])
        .current_dir(component::workspace())
        .output()
        .expect("run cargo");
    assert!(output.status.success(), "{package}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

#[test]
fn no_program_but_the_compiler_has_large_libraries_in_it() {
    let has_compiler = |package: &str| linked(package).lines().any(|line| line.starts_with("cranelift-codegen "));
    assert!(has_compiler("throughline-compiler"));
    for package in
        ["throughline", "throughline-viewer", "throughline-embedder", "throughline-sync", "throughline-model-program"]
    {
        assert!(!has_compiler(package), "{package}");
    }
    let of_throughline = linked("throughline");
    assert!(!of_throughline.contains("throughline-compiler"), "only tests use it as a library");
    // Only rare commands need these, and they are a tenth of a program that hooks start.
    for library in ["jsonschema ", "wit-component ", "wit-parser "] {
        assert!(!of_throughline.lines().any(|line| line.starts_with(library)), "{library}");
    }
}

/// Packs made-up programs into `out`.
fn pack(programs: &Path, out: &Path) -> String {
    let target = format!("x86_64-unknown-linux-gnu={}", programs.display());
    let output = Command::new("python3")
        .arg(component::workspace().join("packaging/package.py"))
        .args(["--target", &target, "--version", "1.2.3", "--runs"])
        .arg(process::throughline())
        .arg("--out")
        .arg(out)
        .env("SOURCE_DATE_EPOCH", "1700000000")
        .output()
        .expect("run python3");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    std::fs::read_to_string(out.join("SHA256SUMS")).expect("the checksums")
}

#[test]
fn the_same_programs_give_the_same_packages() {
    let has_toml = Command::new("python3").args(["-c", "import tomllib"]).output().is_ok_and(|it| it.status.success());
    if !has_toml {
        tests::skip("the_same_programs_give_the_same_packages", "there is no python3 of version 3.11 or newer");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let programs = folder.path().join("programs");
    std::fs::create_dir(&programs).expect("create the folder");
    for name in ["throughline", "throughline-compiler", "throughline-embedder"] {
        std::fs::write(programs.join(name), format!("\x7fELF {name} GLIBC_2.4 GLIBC_2.31 libgcc_s.so.1")).expect("write");
    }
    let lacking = Command::new("python3")
        .arg(component::workspace().join("packaging/package.py"))
        .args(["--target", &format!("x86_64-unknown-linux-gnu={}", programs.display()), "--out"])
        .arg(folder.path().join("lacking"))
        .output()
        .expect("run python3");
    let said = String::from_utf8_lossy(&lacking.stderr);
    assert!(!lacking.status.success() && said.contains("throughline-viewer does not exist; hint: "), "{said}");
    for name in ["throughline-viewer", "throughline-sync", "throughline-model"] {
        std::fs::write(programs.join(name), "\x7fELF").expect("write");
    }

    let (first, second) = (folder.path().join("first"), folder.path().join("second"));
    let sums = pack(&programs, &first);
    assert_eq!(sums, pack(&programs, &second));
    let names: Vec<&str> = sums.lines().filter_map(|line| line.split("  ").nth(1)).collect();
    assert_eq!(
        names,
        [
            "install.sh",
            "throughline-1.2.3-py3-none-manylinux_2_31_x86_64.whl",
            "throughline-1.2.3-x86_64-unknown-linux-gnu.tar.gz",
            "throughline-1.2.3.cdx.json",
            "throughline-linux-x64-1.2.3.tgz",
            "throughline-throughline-1.2.3.tgz",
            "throughline.rb",
            "throughline_1.2.3_amd64.deb",
        ]
    );
    let archive = names[2];
    let sum = sums.lines().find_map(|line| line.strip_suffix(archive)).expect("its checksum").trim();
    for file in ["install.sh", "throughline.rb"] {
        let text = std::fs::read_to_string(first.join(file)).expect("a file");
        assert!(text.contains(sum) && !text.contains('@'), "{file}: {text}");
    }
    // The metadata for cargo binstall name the same archive.
    for folder in ["host/throughline", "host/compiler"] {
        let manifest = std::fs::read_to_string(component::workspace().join(folder).join("Cargo.toml")).expect("a manifest");
        assert!(manifest.contains("/v{ version }/throughline-{ version }-{ target }{ archive-suffix }\""), "{folder}");
    }
}
