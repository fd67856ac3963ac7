#!/usr/bin/env python3
"""Keeps what `.ci/run` compiles and downloads from others between runs, in a folder outside the clone.

    cache.py restore FOLDER [WORD…]     copies a saved set into the clone, before the first step that builds
    cache.py save FOLDER [WORD…]        copies a set out of the clone, after the last step that builds

A set belongs to one key of two hashes: one of the toolchain, of cargo's settings and of the WORDs, which are the versions of what
`.ci/run` installs; and one of the manifests' dependencies and profiles, and of every Cargo.lock. Where a key has no set, the latest one
with the same first hash is restored: most dependencies are the same, and cargo compiles the others.

Artefacts of the repository's own crates are never saved. Only packages that a Cargo.lock takes from a registry are; their sources
cannot change under one version, and cargo checks their fingerprints as usual. A virtual environment of Python is not saved
either, because its path is written into it: what pip has downloaded is.

Failures of the cache are no failures of the run: they are reported, and the run goes on without it.
"""

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

# Raise this when the layout of a saved set changes.
LAYOUT = "1"
# How many sets are kept: the branch that is worked on and the one that it came from.
KEPT_SETS = 2
# The largest set that is saved. One of this repository takes about 4 GB.
LARGEST_SET = 10 << 30
# What must be left on the disk after a set was saved.
FREE_AFTERWARDS = 15 << 30

# Folders in which cargo builds. Each has one or more profile folders, such as `debug`, somewhere below.
CARGO_FOLDERS = ["target", "tests/fuzz/target"]
# Folders that are kept whole. They do not depend on the path of the clone.
WHOLE_FOLDERS = [
    "target/claude-code-*",
    "target/fetched",
    "target/mcp-inspector",
    "target/opencode-*",
    "target/pgserver",
    "target/pi-*",
    "target/tools",
    "target/viewer-browser",
    "policies/private-terms/node_modules",
]

ROOT = Path(__file__).resolve().parent.parent


def tracked(name):
    """The files of this name that git knows, such as every Cargo.lock."""
    listed = subprocess.run(["git", "ls-files", "-z", "--", name, f"**/{name}"], cwd=ROOT, check=True, stdout=subprocess.PIPE)
    return [ROOT / path for path in sorted(set(listed.stdout.decode().split("\0"))) if path]


def dependencies_and_profiles(manifest):
    """The lines of a Cargo.toml that decide what is compiled of others, and how."""
    wanted, lines = False, []
    for line in manifest.read_text().splitlines():
        if line.startswith("["):
            wanted = re.match(r"\[+(profile|features|workspace\]|.*dependencies)", line) is not None
        if wanted and line.strip() and not line.startswith("#"):
            lines.append(line)
    return "\n".join(lines)


def key(words):
    """The two hashes of this state of the machine and of the repository, which name its set."""
    compiler = subprocess.run(["rustc", "-vV"], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
    tools = [LAYOUT, compiler, os.environ.get("CARGO_HOME", ""), os.environ.get("RUSTFLAGS", ""), *words]
    tools += [(ROOT / path).read_text() for path in ["rust-toolchain.toml", ".cargo/config.toml", "tests/fuzz/run"]]
    dependencies = [path.read_text() for path in tracked("Cargo.lock")]
    dependencies += [dependencies_and_profiles(path) for path in tracked("Cargo.toml")]
    return "-".join(hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16] for parts in [tools, dependencies])


def nearest(cache, name):
    """The set of this name, or the latest one with the same tools, or nothing."""
    if (cache / name).is_dir():
        return cache / name
    tools = name.split("-")[0]
    return max(cache.glob(f"{tools}-*"), key=lambda entry: entry.stat().st_mtime, default=None)


def registry_packages():
    """The names of all packages that come from a registry, without those that are also names of our own."""
    others, own = set(), set()
    for lock in tracked("Cargo.lock"):
        for package in lock.read_text().split("[[package]]")[1:]:
            name = re.search(r'^name = "(.+)"$', package, re.MULTILINE).group(1)
            (others if re.search(r'^source = "registry\+', package, re.MULTILINE) else own).add(name)
    return others - own


def whole_folders():
    """The folders of `WHOLE_FOLDERS` that are there."""
    return [path for pattern in WHOLE_FOLDERS for path in ROOT.glob(pattern) if path.is_dir()]


def profile_folders(whole):
    """Every folder in which cargo keeps the artefacts of one profile and platform, except below the folders that are kept whole."""
    for top in CARGO_FOLDERS:
        # target/debug, target/shipped-policies/debug, target/policy/wasm32-unknown-unknown/debug
        for depth in ["*", "*/*", "*/*/*"]:
            for fingerprints in (ROOT / top).glob(f"{depth}/.fingerprint"):
                if not any(folder in fingerprints.parents for folder in whole):
                    yield fingerprints.parent


def artefacts(profile, packages):
    """The files and folders in a profile folder that belong to the packages, relative to it."""
    # A unit's folder is `NAME-HASH`; its files in `deps` end with the same hash.
    hashes = set()
    for kind in [".fingerprint", "build"]:
        for folder in (profile / kind).glob("*"):
            name, _, unit = folder.name.rpartition("-")
            if name in packages:
                hashes.add(unit)
                yield folder.relative_to(profile)
    for file in (profile / "deps").glob("*"):
        unit = file.name.split(".")[0].rpartition("-")[2]
        if unit in hashes:
            yield file.relative_to(profile)


def copy(source, target):
    """Copies a file or a folder with its times, by which cargo knows what is fresh."""
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir() and not source.is_symlink():
        shutil.copytree(source, target, symlinks=True)
    else:
        shutil.copy2(source, target, follow_symlinks=False)


def size(folder):
    """The bytes of all files below the folder."""
    return sum(file.lstat().st_size for file in folder.rglob("*") if not file.is_dir())


@contextmanager
def locked(cache, how):
    """Holds the cache's lock: shared to read a set, exclusive to put one in its place or to delete one."""
    with open(cache / "lock", "a") as file:
        fcntl.flock(file, how)
        yield


def restore(cache, name):
    """Copies the set into the clone, except for what is there already."""
    saved = nearest(cache, name)
    if saved is None:
        print(f"nothing is saved under {name}: everything is compiled")
        return
    if saved.name != name:
        print(f"nothing is saved under {name}: {saved.name} is taken, and what is new is compiled")
    with locked(cache, fcntl.LOCK_SH):
        # The last set that was used is the last to be deleted.
        os.utime(saved)
        for path in (saved / "folders").read_text().splitlines():
            target = ROOT / path
            if target.exists():
                continue
            # Under another name first: an interrupted copy must not look like a whole one.
            unfinished = target.with_name(f"{target.name}.restoring")
            shutil.rmtree(unfinished, ignore_errors=True)
            copy(saved / "files" / path, unfinished)
            unfinished.rename(target)
            print(f"restored {path}")


def save(cache, name):
    """Copies what is worth keeping out of the clone, if that is more than what is saved under the key."""
    packages = registry_packages()
    whole = whole_folders()
    plan = {folder: list(artefacts(folder, packages)) for folder in profile_folders(whole)}
    entries = sum(len(files) for files in plan.values()) + len(whole)
    counter = cache / name / "entries"
    if counter.exists() and int(counter.read_text()) >= entries:
        print("all of it is saved already")
        return
    total = sum(map(size, whole))
    for folder, files in plan.items():
        total += sum(size(folder / file) if (folder / file).is_dir() else (folder / file).stat().st_size for file in files)
    if total > LARGEST_SET:
        print(f"not saved: {total >> 20} MiB are more than {LARGEST_SET >> 20}")
        return
    if shutil.disk_usage(cache).free - total < FREE_AFTERWARDS:
        print(f"not saved: with {total >> 20} MiB more, the disk would have less than {FREE_AFTERWARDS >> 30} GiB left")
        return
    unfinished = cache / f"unfinished-{name}-{os.getpid()}"
    try:
        for folder, files in plan.items():
            for file in files:
                copy(folder / file, unfinished / "files" / folder.relative_to(ROOT) / file)
        for folder in whole:
            copy(folder, unfinished / "files" / folder.relative_to(ROOT))
        folders = [folder for folder, files in plan.items() if files] + whole
        (unfinished / "folders").write_text("".join(f"{folder.relative_to(ROOT)}\n" for folder in folders))
        (unfinished / "entries").write_text(str(entries))
        with locked(cache, fcntl.LOCK_EX):
            shutil.rmtree(cache / name, ignore_errors=True)
            unfinished.rename(cache / name)
            prune(cache)
        print(f"saved {total >> 20} MiB under {name}")
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def prune(cache):
    """Deletes the oldest sets, and what interrupted runs left behind."""
    folders = sorted((entry for entry in cache.iterdir() if entry.is_dir()), key=lambda entry: entry.stat().st_mtime)
    sets = [folder for folder in folders if not folder.name.startswith("unfinished-")]
    yesterday = time.time() - 24 * 60 * 60
    abandoned = [folder for folder in folders if folder not in sets and folder.stat().st_mtime < yesterday]
    for folder in sets[:-KEPT_SETS] + abandoned:
        shutil.rmtree(folder, ignore_errors=True)


def main():
    command, folder, *words = sys.argv[1:]
    cache = Path(folder)
    cache.mkdir(mode=0o700, parents=True, exist_ok=True)
    {"restore": restore, "save": save}[command](cache, key(words))


if __name__ == "__main__":
    try:
        main()
    except Exception as error:  # Whatever it is, the run can do without the cache.
        print(f"the cache of dependencies is not used: {error}")
