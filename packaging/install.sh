#!/bin/sh
# Installs Throughline @VERSION@ below the home folder. Fetches one archive, and checks it against the checksum in this file.
#
#   THROUGHLINE_INSTALL_DIR  where the programs go, instead of ~/.local/bin
#   THROUGHLINE_BASE_URL     where the archives are, instead of the release's own place
set -eu

version=@VERSION@
base=${THROUGHLINE_BASE_URL:-@BASE@}
# A line each: the target, and the checksum of its archive.
archives="@ARCHIVES@"

fail() {
    echo "error: $1" >&2
    echo "hint: $2" >&2
    exit 1
}

# Everything is in a function, so that a script that arrived in part does nothing.
main() {
    [ -n "${HOME:-}" ] || fail "HOME is not set" "set it to your home folder"
    bin=${THROUGHLINE_INSTALL_DIR:-$HOME/.local/bin}
    case $(uname -s) in
    Linux) systems="unknown-linux-musl unknown-linux-gnu" ;;
    Darwin) systems=apple-darwin ;;
    *) fail "there is no archive for $(uname -s)" "build from source, as README.md says" ;;
    esac
    case $(uname -m) in
    x86_64 | amd64) chip=x86_64 ;;
    aarch64 | arm64) chip=aarch64 ;;
    *) fail "there is no archive for $(uname -m)" "build from source, as README.md says" ;;
    esac
    sum=
    for system in $systems; do
        target=$chip-$system
        sum=$(printf '%s\n' "$archives" | sed -n "s/^$target //p")
        [ -z "$sum" ] || break
    done
    [ -n "$sum" ] || fail "version $version has no archive for $target" "build from source, as README.md says"

    folder=$(mktemp -d)
    trap 'rm -rf "$folder"' EXIT
    name=throughline-$version-$target
    if command -v curl >/dev/null; then
        curl -fsSL "$base/$name.tar.gz" -o "$folder/archive" || fail "$base/$name.tar.gz cannot be fetched" "check the connection, and try again"
    elif command -v wget >/dev/null; then
        wget -q "$base/$name.tar.gz" -O "$folder/archive" || fail "$base/$name.tar.gz cannot be fetched" "check the connection, and try again"
    else
        fail "there is neither curl nor wget" "install one of them"
    fi
    if command -v sha256sum >/dev/null; then
        found=$(sha256sum <"$folder/archive")
    else
        found=$(shasum -a 256 <"$folder/archive")
    fi
    [ "${found%% *}" = "$sum" ] || fail "the archive is not the one of the release: its checksum is ${found%% *}, not $sum" "try again; if it stays so, report it"

    tar -xzf "$folder/archive" -C "$folder"
    mkdir -p "$bin"
    data=${XDG_DATA_HOME:-$HOME/.local/share}
    for program in throughline throughline-compiler throughline-embedder throughline-viewer throughline-sync throughline-model; do
        [ -f "$folder/$name/$program" ] || continue
        # A program that runs cannot be written to, but another file can take its place.
        cp "$folder/$name/$program" "$bin/.$program.new"
        chmod 755 "$bin/.$program.new"
        mv -f "$bin/.$program.new" "$bin/$program"
    done
    mkdir -p "$data/man/man1" "$data/bash-completion/completions"
    cp "$folder/$name"/man/man1/* "$data/man/man1/"
    cp "$folder/$name/completions/throughline.bash" "$data/bash-completion/completions/throughline"
    echo "installed throughline $version in $bin"
    case ":$PATH:" in
    *":$bin:"*) echo "next: throughline install" ;;
    *) echo "next: add $bin to your PATH, then run: throughline install" ;;
    esac
}

main
