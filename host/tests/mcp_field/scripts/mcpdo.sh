#!/usr/bin/env bash
# Asks for a call of Write through the Inspector's `mcpdo`, and answers what is asked.
#
# usage: mcpdo.sh NODE MCPDO ERA ELICIT ANSWER -- SERVER [ARGUMENT...]
# ANSWER: the words for `elicitation/respond`; empty where nothing is asked.
set -euo pipefail
node="$1" mcpdo="$2" era="$3" elicit="$4" answer="$5"
shift 6

home=$(mktemp -d)
export HOME="$home" MCP_INSPECTOR_SECRET_STORE=memory
do_it() { "$node" "$mcpdo" "$@"; }
eval "$(do_it private)"
finish() {
    do_it daemon stop >/dev/null 2>&1 || true
    rm -rf "$home"
}
trap finish EXIT

do_it --connection field connect --era "$era" --elicit "$elicit" -- "$@"
asked=$(do_it --format json --connection field tools/call Write file_path:='"new.txt"' content:='"new"' || true)
printf '%s\n' "$asked"
[ -n "$answer" ] || exit 0
id=$(printf '%s' "$asked" | python3 -c '
import json, sys
print(json.load(sys.stdin)["elicitationPending"]["elicitationId"])')
# The words of the answer are several arguments.
# shellcheck disable=SC2086
do_it --format json --connection field elicitation/respond "$id" $answer || true
