# Sets `program` to the throughline that is installed, or to nothing. Read by the plugin's scripts; starts no process.

program=
# `throughline install --plugin` leaves a note of where it is.
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
    # A plugin's own folder is on the PATH of its agent: what lies there only leads here again.
    if [ -x "$folder/throughline" ] && [ -f "$folder/throughline" ] && [ ! -e "$folder/../.claude-plugin" ]; then
        program=$folder/throughline
    fi
done
set +f
IFS=$saved_ifs

install='cargo install --locked --git https://github.com/throughline/throughline host'
