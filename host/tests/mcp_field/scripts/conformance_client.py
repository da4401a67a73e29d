"""The client leg of the conformance suite: the suite's server is an upstream of Toolgate's, and its tools are called
through the gates.

usage: conformance_client.py TOOLGATE FOLDER URL      the suite appends the URL
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

toolgate, folder, url = sys.argv[1:]
scenario = os.environ.get("MCP_CONFORMANCE_SCENARIO", "")
context = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT") or "{}")
home = pathlib.Path(tempfile.mkdtemp(dir=folder))
workspace, state, config = home / "ws", home / "state", home / "toolgate.toml"
workspace.mkdir()
era = "modern" if os.environ.get("MCP_CONFORMANCE_PROTOCOL_VERSION", "") >= "2026" else "legacy"
config.write_text(f'[mcp.servers.suite]\nurl = "{url}"\nera = "{era}"\n')


def run(*words):
    command = [toolgate, *words, "--workspace", workspace, "--state", state, "--config", config, "--no-user-config"]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
    print(" ".join(words), "->", done.returncode, done.stdout, done.stderr, file=sys.stderr)
    return done


def least(schema):
    """The least input that fits a schema."""
    kinds = {"string": "a", "number": 1, "integer": 1, "boolean": True, "array": [], "object": {}}
    if "enum" in schema:
        return schema["enum"][0]
    return kinds.get(schema.get("type"), "a")


report = json.loads(run("mcp", "list", "--json").stdout)[0]
calls = [(call["name"], call["arguments"]) for call in context.get("toolCalls", [])]
shown = {}
for tool in report["tools"]:
    name = tool["of_server"]
    if name in [called for called, _ in calls]:
        continue
    about = json.loads(run("inspect", tool["name"], "--json").stdout)
    schema = about["declaration"]["input_schema"]
    if isinstance(schema, str):
        schema = json.loads(schema)
    shown[name] = schema
    fields = {field: least(of) for field, of in schema.get("properties", {}).items()}
    calls.append((name, fields))
if "json_schema_echo" in shown:
    # The suite wants back what the other tool's schema became here.
    calls = [("json_schema_echo", {"schema": shown["json_schema_2020_12_tool"]})]
names = {tool["of_server"]: tool["name"] for tool in report["tools"]}
for name, fields in calls:
    if name in names:
        run("call", names[name], json.dumps(fields), "--mode", "bypass")
