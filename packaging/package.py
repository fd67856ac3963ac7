#!/usr/bin/env python3
"""Makes all packages of one version: archives, Debian packages, npm packages, wheels, installers, a Homebrew formula, an SBOM and checksums.

    packaging/package.py                                 builds for this machine, and packs that
    packaging/package.py --build TRIPLE                  builds for another target that this machine can build for and run
    packaging/package.py --target TRIPLE=FOLDER …        packs programs that were built elsewhere

The same programs give the same bytes: every file has the date of the commit, or SOURCE_DATE_EPOCH, and nothing depends on the
machine. Only Python's standard library and git are needed. packaging/try.py tries what this writes.
"""

import argparse
import base64
import gzip
import hashlib
import io
import json
import lzma
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HERE = ROOT / "packaging"
PROGRAM = "throughline"
# The programs of a complete installation. The first is the one that agents call.
PROGRAMS = [
    PROGRAM,
    "throughline-compiler",
    "throughline-embedder",
    "throughline-viewer",
    "throughline-sync",
    "throughline-model",
]
# The library of the shared vocabulary has the name of this program.
PACKAGES = {name: name for name in PROGRAMS} | {"throughline-model": "throughline-model-program"}
# Without these nothing is remembered.
REQUIRED = PROGRAMS[:2]
SUMMARY = "Long-term memory for coding agents"
MAINTAINER = "Throughline <maintainers@throughline.invalid>"
# The scope on npm; the main package has the same name.
SCOPE = "@throughline"
SHELLS = {"bash": "throughline.bash", "zsh": "_throughline", "fish": "throughline.fish"}


@dataclass(frozen=True)
class Platform:
    """What packagers call a target."""

    triple: str
    npm_os: str
    npm_cpu: str
    debian: str | None
    wheel: str

    @property
    def npm_name(self):
        return f"{SCOPE}/{self.npm_os}-{self.npm_cpu}"

    @property
    def suffix(self):
        return ".exe" if self.npm_os == "win32" else ""


PLATFORMS = {
    it.triple: it
    for it in [
        Platform("x86_64-unknown-linux-gnu", "linux", "x64", "amd64", "x86_64"),
        Platform("aarch64-unknown-linux-gnu", "linux", "arm64", "arm64", "aarch64"),
        # Static programs, which run with any libc.
        Platform("x86_64-unknown-linux-musl", "linux", "x64", "amd64", "x86_64"),
        Platform("aarch64-unknown-linux-musl", "linux", "arm64", "arm64", "aarch64"),
        Platform("x86_64-apple-darwin", "darwin", "x64", None, "macosx_10_12_x86_64"),
        Platform("aarch64-apple-darwin", "darwin", "arm64", None, "macosx_11_0_arm64"),
        Platform("x86_64-pc-windows-msvc", "win32", "x64", None, "win_amd64"),
        Platform("x86_64-pc-windows-gnu", "win32", "x64", None, "win_amd64"),
    ]
}


class Failure(Exception):
    """Something that the caller can mend."""


@dataclass
class Build:
    """The programs of one target."""

    platform: Platform
    programs: dict[str, bytes]

    def glibc(self):
        """The oldest glibc that all programs run with; none if they are static."""
        found = [tuple(map(int, it.split(b"."))) for program in self.programs.values() for it in re.findall(rb"GLIBC_(2\.\d+)", program)]
        return ".".join(map(str, max(found))) if found else None

    def needs_libgcc(self):
        return any(b"libgcc_s.so.1" in program for program in self.programs.values())


class Release:
    """One version, and what all its packages share."""

    def __init__(self, version, epoch, out, repository):
        self.version, self.epoch, self.out, self.repository = version, epoch, out, repository
        self.written = []

    def write(self, name, data):
        (self.out / name).write_bytes(data)
        self.written.append(name)
        print(f"  {name:58} {len(data) / 1e6:7.2f} MB")

    def gzip(self, data):
        packed = io.BytesIO()
        # Neither name nor time of the file are in the result.
        with gzip.GzipFile(filename="", mode="wb", compresslevel=9, fileobj=packed, mtime=0) as file:
            file.write(data)
        return packed.getvalue()

    def xz(self, data):
        """Compresses as dpkg can read it. The result depends on liblzma's version, and on nothing else of the machine."""
        return lzma.compress(data, preset=9 | lzma.PRESET_EXTREME)

    def tar(self, files, folders=False):
        """A tar file. `files` has the content and the mode of each path."""
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w", format=tarfile.GNU_FORMAT) as tar:
            names = set()
            for path in sorted(files):
                parents = list(Path(path).parents)[:-1][::-1] if folders else []
                for parent in parents:
                    if str(parent) not in names:
                        names.add(str(parent))
                        self.add(tar, f"./{parent}/", b"", 0o755, tarfile.DIRTYPE)
                data, mode = files[path]
                self.add(tar, f"./{path}" if folders else path, data, mode, tarfile.REGTYPE)
        return packed.getvalue()

    def add(self, tar, name, data, mode, kind):
        info = tarfile.TarInfo(name)
        info.size, info.mode, info.mtime, info.type = len(data), mode, self.epoch, kind
        info.uname = info.gname = "root"
        tar.addfile(info, io.BytesIO(data) if kind == tarfile.REGTYPE else None)

    def archive_name(self, platform):
        return f"{PROGRAM}-{self.version}-{platform.triple}"


def texts():
    """The files that every package has."""
    return {name: (ROOT / name).read_bytes() for name in ["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE"]}


def documentation(program):
    """Completions and manual pages, as the program writes them."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {"HOME": folder, "PATH": os.environ["PATH"], "THROUGHLINE_HOME": folder}

        def run(*words):
            return subprocess.run([program, *words], env=environment, check=True, capture_output=True).stdout

        completions = {name: run("completions", shell) for shell, name in SHELLS.items()}
        run("man", "--out", f"{folder}/man")
        pages = {page.name: page.read_bytes() for page in sorted(Path(f"{folder}/man").iterdir())}
    return completions, pages


def archive(release, build, docs):
    completions, pages = docs
    folder = release.archive_name(build.platform)
    files = {f"{folder}/{name}": (data, 0o644) for name, data in texts().items()}
    files |= {f"{folder}/completions/{name}": (data, 0o644) for name, data in completions.items()}
    files |= {f"{folder}/man/man1/{name}": (data, 0o644) for name, data in pages.items()}
    files |= {f"{folder}/{name}{build.platform.suffix}": (data, 0o755) for name, data in build.programs.items()}
    if build.platform.npm_os == "win32":
        release.write(f"{folder}.zip", zipped(release, files))
    else:
        release.write(f"{folder}.tar.gz", release.gzip(release.tar(files)))


def zipped(release, files):
    packed = io.BytesIO()
    import time

    # The zip format has no dates before 1980.
    date = max(time.gmtime(release.epoch)[:6], (1980, 1, 1, 0, 0, 0))
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for path, (data, mode) in files.items():
            info = zipfile.ZipInfo(path, date)
            info.external_attr = (0o100000 | mode) << 16
            info.create_system = 3
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, data)
    return packed.getvalue()


def debian(release, build, docs):
    completions, pages = docs
    files = {f"usr/bin/{name}": (data, 0o755) for name, data in build.programs.items()}
    files |= {f"usr/share/man/man1/{name}.gz": (release.gzip(data), 0o644) for name, data in pages.items()}
    for shell, place in [
        ("bash", "bash-completion/completions/throughline"),
        ("zsh", "zsh/vendor-completions/_throughline"),
        ("fish", "fish/vendor_completions.d/throughline.fish"),
    ]:
        files[f"usr/share/{place}"] = (completions[SHELLS[shell]], 0o644)
    licences = texts()
    copyright_text = b"License: MIT or Apache-2.0\n\n" + licences["LICENSE-MIT"] + b"\n\n" + licences["LICENSE-APACHE"]
    files["usr/share/doc/throughline/copyright"] = (copyright_text, 0o644)
    files["usr/share/doc/throughline/changelog.gz"] = (release.gzip(licences["CHANGELOG.md"]), 0o644)
    depends = [f"libc6 (>= {build.glibc()})"] if build.glibc() else []
    depends += ["libgcc-s1"] if build.needs_libgcc() else []
    size = sum(len(data) for data, _ in files.values()) // 1024
    fields = {
        "Package": PROGRAM,
        "Version": release.version,
        "Architecture": build.platform.debian,
        "Maintainer": MAINTAINER,
        "Installed-Size": size,
        "Depends": ", ".join(depends),
        "Section": "devel",
        "Priority": "optional",
        "Homepage": release.repository,
        "Description": f"{SUMMARY}\n Keeps what a later session should know, and gives it to the next session.\n"
        " Run `throughline install` to register it with an agent.",
    }
    control = "".join(f"{name}: {value}\n" for name, value in fields.items() if value).encode()
    sums = "".join(f"{hashlib.md5(data).hexdigest()}  {path}\n" for path, (data, _) in sorted(files.items())).encode()
    parts = {
        "debian-binary": b"2.0\n",
        "control.tar.gz": release.gzip(release.tar({"control": (control, 0o644), "md5sums": (sums, 0o644)}, folders=True)),
        "data.tar.xz": release.xz(release.tar(files, folders=True)),
    }
    packed = b"!<arch>\n"
    for name, data in parts.items():
        packed += f"{name:<16}{release.epoch:<12}{0:<6}{0:<6}{100644:<8}{len(data):<10}`\n".encode() + data
        packed += b"\n" * (len(data) % 2)
    release.write(f"{PROGRAM}_{release.version}_{build.platform.debian}.deb", packed)


def npm_package(release, manifest, files):
    """A package as `npm pack` makes it. It has no script that npm would have to run."""
    common = {"version": release.version, "license": "MIT OR Apache-2.0", "repository": {"type": "git", "url": f"git+{release.repository}.git"}}
    manifest = {"name": manifest["name"], **common, **manifest}
    files = {f"package/{path}": value for path, value in files.items()}
    files["package/package.json"] = (json.dumps(manifest, indent=2).encode() + b"\n", 0o644)
    name = f"{manifest['name'].removeprefix('@').replace('/', '-')}-{release.version}.tgz"
    release.write(name, release.gzip(release.tar(files)))


def npm_platform(release, build):
    platform = build.platform
    files = {f"bin/{name}{platform.suffix}": (data, 0o755) for name, data in build.programs.items()}
    files |= {name: (data, 0o644) for name, data in texts().items() if name.startswith("LICENSE")}
    manifest = {
        "name": platform.npm_name,
        "description": f"{SUMMARY}: the programs for {platform.triple}",
        "os": [platform.npm_os],
        "cpu": [platform.npm_cpu],
        "preferUnplugged": True,
    }
    if build.glibc():
        manifest["libc"] = ["glibc"]
    npm_package(release, manifest, files)


def npm_main(release, platforms):
    files = {"bin/throughline.js": ((HERE / "launcher.js").read_bytes(), 0o755)}
    files |= {name: (data, 0o644) for name, data in texts().items() if name != "CHANGELOG.md"}
    names = sorted({it.npm_name for it in platforms})
    manifest = {
        "name": f"{SCOPE}/{PROGRAM}",
        "description": SUMMARY,
        "bin": {PROGRAM: "bin/throughline.js"},
        "engines": {"node": ">=18"},
        "optionalDependencies": {name: release.version for name in names},
    }
    npm_package(release, manifest, files)


def wheel(release, build):
    platform = build.platform
    tags = [platform.wheel]
    if platform.npm_os == "linux":
        libc = build.glibc()
        # A static program needs no libc. pip knows none of these names on every Linux, so the wheel has all three.
        libcs = [f"manylinux_{libc.replace('.', '_')}"] if libc else ["manylinux_2_17", "manylinux2014", "musllinux_1_1"]
        tags = [f"{it}_{platform.wheel}" for it in libcs]
    name = f"{PROGRAM}-{release.version}"
    metadata = (
        f"Metadata-Version: 2.4\nName: {PROGRAM}\nVersion: {release.version}\nSummary: {SUMMARY}\nLicense-Expression: MIT OR Apache-2.0\n"
        f"Project-URL: Source, {release.repository}\nRequires-Python: >=3.8\nDescription-Content-Type: text/markdown\n\n"
    )
    files = {f"{name}.data/scripts/{it}{platform.suffix}": (data, 0o755) for it, data in build.programs.items()}
    files[f"{name}.dist-info/METADATA"] = (metadata.encode() + texts()["README.md"], 0o644)
    tag_lines = "".join(f"Tag: py3-none-{tag}\n" for tag in tags)
    files[f"{name}.dist-info/WHEEL"] = (
        f"Wheel-Version: 1.0\nGenerator: throughline-packaging\nRoot-Is-Purelib: false\n{tag_lines}".encode(),
        0o644,
    )
    record = f"{name}.dist-info/RECORD"

    def entry(path, data):
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        return f"{path},sha256={digest},{len(data)}\n"

    lines = "".join(entry(path, data) for path, (data, _) in files.items()) + f"{record},,\n"
    files[record] = (lines.encode(), 0o644)
    release.write(f"{name}-py3-none-{'.'.join(tags)}.whl", zipped(release, files))


def digest(release, name):
    return hashlib.sha256((release.out / name).read_bytes()).hexdigest()


def installers(release, builds, base):
    """The installers know the checksums of the archives, so that whoever trusts an installer can trust what it fetches."""
    table, windows = [], []
    for build in builds:
        name = release.archive_name(build.platform)
        if build.platform.npm_os == "win32":
            windows.append((f"{name}.zip", digest(release, f"{name}.zip")))
        else:
            table.append(f"{build.platform.triple} {digest(release, f'{name}.tar.gz')}")
    shell = (HERE / "install.sh").read_text()
    shell = shell.replace("@VERSION@", release.version).replace("@BASE@", base).replace("@ARCHIVES@", "\n".join(table))
    release.write("install.sh", shell.encode())
    if windows:
        name, sum_ = windows[0]
        power = (HERE / "install.ps1").read_text()
        power = power.replace("@VERSION@", release.version).replace("@BASE@", base).replace("@ARCHIVE@", name).replace("@SHA256@", sum_)
        release.write("install.ps1", power.replace("\n", "\r\n").encode())


def formula(release, builds, base):
    systems = {"darwin": "on_macos", "linux": "on_linux"}
    chips = {"arm64": "on_arm", "x64": "on_intel"}
    blocks = []
    for system, block in systems.items():
        found = [it for it in builds if it.platform.npm_os == system]
        if not found:
            continue
        lines = [f"  {block} do"]
        for build in found:
            name = f"{release.archive_name(build.platform)}.tar.gz"
            lines += [f"    {chips[build.platform.npm_cpu]} do", f'      url "{base}/{name}"', f'      sha256 "{digest(release, name)}"', "    end"]
        blocks.append("\n".join([*lines, "  end"]))
    programs = ", ".join(f'"{name}"' for name in builds[0].programs)
    text = f"""# Installs Throughline from the archives of a release.
class Throughline < Formula
  desc "{SUMMARY}"
  homepage "{release.repository}"
  version "{release.version}"
  license any_of: ["MIT", "Apache-2.0"]

{chr(10).join(blocks)}

  def install
    bin.install {programs}
    man1.install Dir["man/man1/*"]
    bash_completion.install "completions/throughline.bash" => "throughline"
    zsh_completion.install "completions/_throughline"
    fish_completion.install "completions/throughline.fish"
  end

  def caveats
    "Run `throughline install` to register Throughline with an agent."
  end

  test do
    assert_match version.to_s, shell_output("#{{bin}}/throughline --version")
  end
end
"""
    release.write("throughline.rb", text.encode())


def sbom(release, triples):
    """The crates that are compiled into the programs, as CycloneDX."""
    command = ["cargo", "metadata", "--locked", "--format-version", "1"]
    for triple in triples:
        command += ["--filter-platform", triple]
    metadata = json.loads(subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout)
    packages = {it["id"]: it for it in metadata["packages"]}
    nodes = {it["id"]: it for it in metadata["resolve"]["nodes"]}
    wanted = [it["id"] for it in metadata["packages"] if it["name"] in PACKAGES.values() and it["source"] is None]
    seen = set()
    while wanted:
        current = wanted.pop()
        if current in seen:
            continue
        seen.add(current)
        for dependency in nodes[current]["deps"]:
            if any(kind["kind"] is None for kind in dependency["dep_kinds"]):
                wanted.append(dependency["pkg"])
    components = []
    for package in sorted((packages[it] for it in seen), key=lambda it: (it["name"], it["version"])):
        url = f"pkg:cargo/{package['name']}@{package['version']}"
        component = {"type": "library", "bom-ref": url, "name": package["name"], "version": package["version"], "purl": url}
        if package.get("license"):
            component["licenses"] = [{"expression": package["license"].replace("/", " OR ")}]
        components.append(component)
    bom = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": {"type": "application", "name": PROGRAM, "version": release.version}},
        "components": components,
    }
    release.write(f"{PROGRAM}-{release.version}.cdx.json", json.dumps(bom, indent=1).encode() + b"\n")


def checksums(release):
    lines = "".join(f"{digest(release, name)}  {name}\n" for name in sorted(release.written))
    release.write("SHA256SUMS", lines.encode())


def host():
    said = subprocess.run(["rustc", "-vV"], check=True, capture_output=True, text=True, cwd=ROOT).stdout
    return re.search(r"^host: (.*)$", said, re.M)[1]


# Functions of other crates are called directly and not through a table that the loader fills at each start. By itself, the first flag
# would also leave the other tables writable while the program runs; with the second one they are read-only as before.
DIRECT_CALLS = "-C relro-level=partial -C link-arg=-Wl,-z,now"


def compile_programs(triple):
    """Builds the programs, for this machine if there is no target. Paths of the machine are left out of them, so that they are the same everywhere."""
    remap = " ".join(f"--remap-path-prefix={where}={what}" for where, what in [(ROOT, "/throughline"), (cargo_home(), "/cargo")])
    environment = {**os.environ, "RUSTFLAGS": f"{remap} {DIRECT_CALLS}" if "linux" in (triple or host()) else remap}
    # The compiler by itself: in one command with it, the other programs would get its features of wasmtime, and its code.
    for names in [[it for it in PROGRAMS if it != "throughline-compiler"], ["throughline-compiler"]]:
        command = ["cargo", "build", "--release", "--locked", *(["--target", triple] if triple else []), *[word for name in names for word in ("-p", PACKAGES[name])]]
        subprocess.run(command, cwd=ROOT, check=True, env=environment)
    return Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / (triple or "") / "release"


def cargo_home():
    return Path(os.environ.get("CARGO_HOME") or Path.home() / ".cargo")


def read_build(triple, folder, complete):
    platform = PLATFORMS.get(triple)
    if platform is None:
        raise Failure(f"there are no packages for {triple}; hint: one of {', '.join(PLATFORMS)}")
    programs = {}
    for name in PROGRAMS:
        file = folder / f"{name}{platform.suffix}"
        if file.is_file():
            programs[name] = file.read_bytes()
        elif complete or name in REQUIRED:
            raise Failure(f"{file} does not exist; hint: build it, or leave the other programs out with --without-companions")
    return Build(platform, programs)


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--target", action="append", default=[], metavar="TRIPLE=FOLDER", help="a target, and the folder with its programs")
    parser.add_argument("--build", metavar="TRIPLE", help="the target to build for if there is no --target; by default that of this machine")
    parser.add_argument("--runs", type=Path, metavar="PROGRAM", help="a throughline that runs here, for completions and manual pages; by default that of the first target")
    parser.add_argument("--version", help="another version than that of Cargo.toml, to try upgrades")
    parser.add_argument("--base", help="where the archives will be; by default the release on GitHub")
    parser.add_argument("--without-companions", action="store_true", help="allow the programs that are not needed to remember to be missing")
    parser.add_argument("--out", type=Path, default=ROOT / "target/packages", metavar="DIR", help="where to write; its former content is deleted")
    return parser.parse_args()


def main():
    arguments = parse()
    workspace = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]
    version = arguments.version or workspace["version"]
    if not re.fullmatch(r"\d+\.\d+\.\d+", version):
        raise Failure(f"{version} is no version; hint: three numbers, such as 0.1.0")
    given = []
    for word in arguments.target:
        triple, _, folder = word.partition("=")
        if not folder:
            raise Failure(f"--target {word} names no folder; hint: --target TRIPLE=FOLDER")
        given.append((triple, Path(folder)))
    if not given:
        given = [(arguments.build or host(), compile_programs(arguments.build))]
    builds = [read_build(triple, folder, not arguments.without_companions) for triple, folder in given]
    names = [it.platform.npm_name for it in builds]
    if len(set(names)) < len(names):
        raise Failure("two targets are for the same machines, and their packages have the same names; hint: pack one of them")
    epoch = os.environ.get("SOURCE_DATE_EPOCH") or subprocess.run(
        ["git", "log", "-1", "--format=%ct"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout
    base = arguments.base or f"{workspace['repository']}/releases/download/v{version}"
    if arguments.out.is_dir():
        shutil.rmtree(arguments.out)
    arguments.out.mkdir(parents=True)
    release = Release(version, int(epoch), arguments.out, workspace["repository"])
    docs = documentation((arguments.runs or given[0][1] / PROGRAM).resolve())
    print(f"throughline {version} in {arguments.out}")
    for build in builds:
        archive(release, build, docs)
        if build.platform.debian:
            debian(release, build, docs)
        npm_platform(release, build)
        wheel(release, build)
    npm_main(release, [it.platform for it in builds])
    installers(release, builds, base)
    formula(release, builds, base)
    sbom(release, [it.platform.triple for it in builds])
    checksums(release)


if __name__ == "__main__":
    try:
        main()
    except Failure as failure:
        sys.exit(f"error: {failure}")
    except subprocess.CalledProcessError as failure:
        said = (failure.stderr or b"").strip()
        said = said.decode(errors="replace") if isinstance(said, bytes) else said
        sys.exit(f"error: `{' '.join(map(str, failure.cmd))}` failed: {said}")
