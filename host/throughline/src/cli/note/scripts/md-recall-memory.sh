#!/bin/sh
# Usage: md-recall-memory.sh QUERY [PROJECT_PATH] [LIMIT] [compact|full] [HOP]
# Prints the notes that match the query and, with a HOP of 2, the notes that they are related to.
set -u
query=${1:?Usage: md-recall-memory.sh QUERY [PROJECT_PATH] [LIMIT] [compact|full] [HOP]}
exec throughline note recall --project "${2:-${CLAUDE_PROJECT_DIR:-.}}" --limit "${3:-5}" --mode "${4:-compact}" --hop "${5:-2}" -- "$query"
