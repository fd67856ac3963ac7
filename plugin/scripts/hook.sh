#!/bin/sh
# hook.sh EVENT [NAME]: hands the event to the program. Where that is not installed, a session is told so once, at its start.

. "${0%/*}/find.sh"
event=$1
shift
if [ -n "$program" ]; then
    # By this the program knows that it is called for the plugin, and stays silent where settings register the same event.
    THROUGHLINE_PLUGIN_EVENT=$event exec "$program" hook "$@"
fi
[ "$event" = SessionStart ] || exit 0
IFS= read -r payload
case $payload in
*'"source":"compact"'*) exit 0 ;;
esac
printf '{"systemMessage":"Throughline remembers nothing yet, because its program is not installed; install it with: %s"}\n' "$install"
