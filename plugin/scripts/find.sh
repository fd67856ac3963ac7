# Sets `program` to the throughline that is installed, or to nothing. Read by the scripts beside it; starts no process.

program=
saved_ifs=$IFS
IFS=:
set -f
for folder in $PATH "${CARGO_HOME:-$HOME/.cargo}/bin" "$HOME/.local/bin"; do
    case $folder in
    /*) ;;
    *) continue ;;
    esac
    # A plugin's own folder is on the PATH of its agent: what lies there only leads here again.
    if [ -x "$folder/throughline" ] && [ -f "$folder/throughline" ] && [ ! -e "$folder/../.claude-plugin" ]; then
        program=$folder/throughline
        break
    fi
done
set +f
IFS=$saved_ifs

install='cargo install --locked --git https://github.com/throughline/throughline host'
