#!/usr/bin/env python3
"""Installs, upgrades and removes the packages of two versions in clean homes, and has each remember a session.

    packaging/package.py … --out A && packaging/package.py … --version 9.9.9 --out B && packaging/try.py A B

Prints for each package manager how long it takes from nothing to the first session that is told what the one before settled. npm
installs from a registry on loopback, pip from the folder, dpkg into a root folder of its own, and the shell installer fetches from
loopback. The exit code is 1 if anything fails.
"""

import functools
import hashlib
import http.server
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
from base64 import b64encode
from pathlib import Path

SETTLED = "We decided to keep the tokens of the otter service in Redis, never in process memory."
# The figure that the project promises, in seconds.
LIMIT = 60


def serve(handler):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}"


class Files(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def registry(folders):
    """A registry for npm with the packages of all folders."""
    packages, tarballs = {}, {}
    for folder in folders:
        for file in sorted(folder.glob("*.tgz")):
            data = file.read_bytes()
            with tarfile.open(file) as tar:
                manifest = json.load(tar.extractfile("package/package.json"))
            tarballs[f"/-/{file.name}"] = data
            packages.setdefault(manifest["name"], {})[manifest["version"]] = (manifest, file.name, data)

    class Registry(http.server.BaseHTTPRequestHandler):
        def log_message(self, *_):
            pass

        def do_GET(self):
            path = self.path.split("?")[0].replace("%2f", "/").replace("%2F", "/")
            found = packages.get(path[1:])
            if path in tarballs:
                data = tarballs[path]
            elif found:
                host = f"http://{self.headers['host']}"
                versions = {
                    version: {
                        **manifest,
                        "dist": {
                            "tarball": f"{host}/-/{name}",
                            "integrity": "sha512-" + b64encode(hashlib.sha512(data).digest()).decode(),
                        },
                    }
                    for version, (manifest, name, data) in found.items()
                }
                data = json.dumps({"name": path[1:], "dist-tags": {"latest": max(versions)}, "versions": versions}).encode()
            else:
                self.send_error(404)
                return
            self.send_response(200)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    return serve(Registry)


class Trial:
    """A package manager in a clean home."""

    def __init__(self, name, home):
        self.name, self.home = name, home
        self.project = home / "work/otters"
        self.project.mkdir(parents=True)
        self.environment = {"HOME": str(home), "PATH": os.environ["PATH"], "LANG": "C.UTF-8", "NO_PROXY": "127.0.0.1"}

    def run(self, *words, check=True, stdin=None, **more):
        run = subprocess.run(
            list(map(str, words)), env={**self.environment, **more}, input=stdin, capture_output=True, text=True, cwd=self.project
        )
        if check and run.returncode != 0:
            raise AssertionError(f"`{' '.join(map(str, words))}` failed: {run.stdout}{run.stderr}")
        return run

    def hook(self, event, **payload):
        """Runs the hook that is registered with Claude Code, as Claude Code does."""
        settings = json.loads((self.home / ".claude/settings.json").read_text())
        handler = settings["hooks"][event][0]["hooks"][0]
        payload = {"hook_event_name": event, "cwd": str(self.project), **payload}
        run = self.run(handler["command"], *handler["args"], stdin=json.dumps(payload))
        return run.stdout

    def session(self, number, *prompts):
        """A session with these prompts. Returns what it was told at its start."""
        identifier = f"00000000-0000-4000-8000-{number:012}"
        slug = re.sub(r"[^a-zA-Z0-9]", "-", str(self.project))
        transcript = self.home / f".claude/projects/{slug}/{identifier}.jsonl"
        transcript.parent.mkdir(parents=True, exist_ok=True)
        common = {"session_id": identifier, "transcript_path": str(transcript)}
        told = self.hook("SessionStart", source="startup", **common)
        lines, parent = [], None
        for at, prompt in enumerate(prompts):
            for kind, content in [("user", prompt), ("assistant", [{"type": "text", "text": "I keep to that."}])]:
                line = f"00000000-0000-4000-9000-{number:06}{at:05}{int(kind == 'user')}"
                message = {"role": kind, "content": content, "id": f"msg_{line}"}
                stamp = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime())
                lines.append(
                    {"type": kind, "uuid": line, "parentUuid": parent, "sessionId": identifier, "cwd": str(self.project), "timestamp": stamp,
                     "version": "2.1.330", "isSidechain": False, "userType": "external", "message": message}
                )
                parent = line
        transcript.write_text("".join(json.dumps(line) + "\n" for line in lines))
        self.hook("Stop", stop_hook_active=False, **common)
        self.hook("SessionEnd", reason="other", **common)
        return told

    def registered(self):
        return json.loads((self.home / ".claude/settings.json").read_text())["hooks"]["Stop"][0]["hooks"][0]["command"]

    def sound(self, program):
        """Checks the installation as its user would."""
        report = json.loads(self.run(program, "doctor", "--json", check=False).stdout)
        bad = [it for it in report["checks"] if it["status"] != "ok" and it["check"] in ("program", "hooks", "mcp", "database")]
        assert not bad, bad

    def remembers(self, number):
        assert "Redis" in self.session(number, "Go on."), f"session {number} was not told"

    def go(self, put, upgrade, take):
        """`put` installs and returns the program to type, `upgrade` puts the second version in its place, `take` removes it."""
        started = time.monotonic()
        program = put()
        self.run(program, "install")
        self.session(1, SETTLED)
        self.remembers(2)
        took = time.monotonic() - started
        native = Path(self.registered())
        assert native.read_bytes()[:2] != b"#!", f"{native} is a launcher"
        assert "(" not in native.name and native.is_absolute()
        self.sound(program)
        before = native.stat().st_ino, native.stat().st_ctime_ns
        upgrade()
        if native.exists():
            assert (native.stat().st_ino, native.stat().st_ctime_ns) != before, "the upgrade left the program as it was"
        self.run(program, "install")
        self.remembers(3)
        self.sound(program)
        take()
        assert not Path(self.registered()).exists(), "the program is still there"
        database = self.home / ".local/share/throughline/throughline.db"
        assert database.stat().st_size > 0, "the database is gone"
        # Somebody comes back.
        self.run(put(), "install")
        self.remembers(4)
        self.run(program, "uninstall")
        assert not (self.home / ".claude/settings.json").exists() and not (self.home / ".claude.json").exists()
        assert database.stat().st_size > 0
        verdict = "" if took <= LIMIT else f"  MORE THAN {LIMIT} s"
        print(f"{self.name:10} {took:6.1f} s from nothing to a session that remembers; upgraded, removed, installed again{verdict}", flush=True)
        return took <= LIMIT


def npm(trial, first, second, versions):
    prefix, url = trial.home / "npm", registry([first, second])

    def install(version):
        trial.run("npm", "install", "-g", "--prefix", prefix, "--registry", url, "--no-audit", "--no-fund", f"@throughline/throughline@{version}")
        return prefix / "bin/throughline"

    return trial.go(
        lambda: install(versions[0]),
        lambda: install(versions[1]),
        lambda: trial.run("npm", "uninstall", "-g", "--prefix", prefix, "@throughline/throughline"),
    )


def pip(trial, first, second, versions):
    python = trial.home / "venv/bin/python"
    trial.run(sys.executable, "-m", "venv", trial.home / "venv")

    def install(folder, version):
        trial.run(python, "-m", "pip", "install", "--quiet", "--no-index", "--find-links", folder, f"throughline=={version}")
        return trial.home / "venv/bin/throughline"

    return trial.go(
        lambda: install(first, versions[0]),
        lambda: install(second, versions[1]),
        lambda: trial.run(python, "-m", "pip", "uninstall", "--quiet", "--yes", "throughline"),
    )


def dpkg(trial, first, second, _):
    root = trial.home / "root"
    (root / "var/lib/dpkg/updates").mkdir(parents=True)
    (root / "var/lib/dpkg/info").mkdir()
    (root / "var/lib/dpkg/status").touch()
    # The root has no libc6 that dpkg knows of.
    options = ["--root", root, "--force-not-root", "--force-depends", "--log", "/dev/null"]

    def install(folder):
        trial.run("dpkg", *options, "-i", next(folder.glob("*.deb")))
        return root / "usr/bin/throughline"

    return trial.go(lambda: install(first), lambda: install(second), lambda: trial.run("dpkg", *options, "-r", "throughline"))


def shell(trial, first, second, _):
    def install(folder):
        url = serve(functools.partial(Files, directory=str(folder)))
        script = trial.run("curl", "-fsSL", f"{url}/install.sh").stdout
        trial.run("sh", stdin=script, THROUGHLINE_BASE_URL=url)
        return trial.home / ".local/bin/throughline"

    def refused(folder):
        """An archive that is not the release's is not installed."""
        forged = trial.home / "forged"
        shutil.copytree(folder, forged)
        archive = next(forged.glob("*.tar.gz"))
        archive.write_bytes(archive.read_bytes() + b"x")
        url = serve(functools.partial(Files, directory=str(forged)))
        run = trial.run("sh", stdin=(forged / "install.sh").read_text(), THROUGHLINE_BASE_URL=url, check=False)
        assert run.returncode == 1 and "its checksum is" in run.stderr, run
        assert not (trial.home / ".local/bin/throughline").exists()
        shutil.rmtree(forged)

    refused(first)
    return trial.go(
        lambda: install(first), lambda: install(second), lambda: (trial.home / ".local/bin/throughline").unlink()
    )


def main():
    if len(sys.argv) < 3:
        sys.exit("error: name the packages of two versions; hint: packaging/try.py A B [npm|pip|dpkg|shell …]")
    first, second = (Path(it).resolve() for it in sys.argv[1:3])
    versions = [next(folder.glob("*.cdx.json")).name.removeprefix("throughline-").removesuffix(".cdx.json") for folder in (first, second)]
    for folder in (first, second):
        for line in (folder / "SHA256SUMS").read_text().splitlines():
            expected, name = line.split("  ")
            assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == expected, name
    wanted = sys.argv[3:] or ["npm", "pip", "dpkg", "shell"]
    fine = True
    for name in wanted:
        with tempfile.TemporaryDirectory() as home:
            trial = Trial(name, Path(home).resolve())
            try:
                fine &= {"npm": npm, "pip": pip, "dpkg": dpkg, "shell": shell}[name](trial, first, second, versions)
            except AssertionError as failure:
                print(f"{name:10} FAILED: {failure}")
                fine = False
    sys.exit(0 if fine else 1)


if __name__ == "__main__":
    main()
