#!/bin/sh
# Usage: md-store-memory.sh TITLE CONTENT [TAGS] [TYPE] [KEYWORDS] [DESCRIPTION] [RELATED]
# Stores a note and prints the path of its file, or [SKIP:DUPLICATE] and the path of the existing note.
set -u
title=${1:?Usage: md-store-memory.sh TITLE CONTENT [TAGS] [TYPE] [KEYWORDS] [DESCRIPTION] [RELATED]}
content=${2:?Missing content}
project=${CLAUDE_PROJECT_DIR:-.}
printf '%s' "$content" | exec throughline note add --title "$title" --tags "${3:-general,auto}" --type "${4:-general}" \
    --keywords "${5:-}" --description "${6:-}" --related "${7:-}" --project "$project" --into "$project/.gsd/memories" --paths -
