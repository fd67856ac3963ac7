# Sets `program` to the path of the installed throughline, or to nothing. Sourced by the plugin's scripts; starts no process.

program=
# `throughline install --plugin` writes the program's path to this file.
note=${0%/*}/../scripts/program
if [ -f "$note" ]; then
    IFS= read -r program <"$note"
    [ -x "$program" ] || program=
fi
saved_ifs=$IFS
IFS=:
set -f
for folder in $PATH "${CARGO_HOME:-$HOME/.cargo}/bin" "$HOME/.local/bin"; do
    [ -z "$program" ] || break
    case $folder in
    /*) ;;
    *) continue ;;
    esac
    # The agent's PATH contains the plugin's own bin folder; its `throughline` would only lead back here.
    if [ -x "$folder/throughline" ] && [ -f "$folder/throughline" ] && [ ! -e "$folder/../.claude-plugin" ]; then
        program=$folder/throughline
    fi
done
set +f
IFS=$saved_ifs

install='cargo install --locked --git https://github.com/throughline/throughline throughline throughline-compiler'
