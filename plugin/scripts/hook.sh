#!/bin/sh
# hook.sh EVENT [NAME]: passes the event to the program. If the program is not installed, the session says so once, at its start.

. "${0%/*}/find.sh"
event=$1
shift
if [ -n "$program" ]; then
    # The variable tells the program that the plugin calls it; it then does nothing if the settings register the same event.
    THROUGHLINE_PLUGIN_EVENT=$event exec "$program" hook "$@"
fi
[ "$event" = SessionStart ] || exit 0
IFS= read -r payload
case $payload in
*'"source":"compact"'*) exit 0 ;;
esac
printf '{"systemMessage":"Throughline does not work yet, because its program is not installed; install it with: %s"}\n' "$install"
