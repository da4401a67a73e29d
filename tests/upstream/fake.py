"""A server that does what a file of JSON says, well or badly. Nothing beside the standard library."""

import json
import os
import subprocess
import sys
import time

with open(os.environ["FAKE"], encoding="utf-8") as file:
    SPEC = json.load(file)
TOOLS = SPEC.get("tools", [])


def say(text):
    sys.stdout.buffer.write(text.encode("utf-8", "surrogatepass"))
    sys.stdout.buffer.flush()


def message(**fields):
    say(json.dumps({"jsonrpc": "2.0", **fields}) + "\n")


def answer(number, result):
    message(id=number, result=result)


def text(words, **more):
    return {"content": [{"type": "text", "text": words}], **more}


def append(path, line):
    with open(path, "a", encoding="utf-8") as ledger:
        ledger.write(line + "\n")


def wait_for(path):
    while not os.path.exists(path):
        time.sleep(0.02)


def read():
    line = sys.stdin.readline()
    if not line:
        if "at_eof" in SPEC:
            append(SPEC["at_eof"], "eof")
        sys.exit(0)
    if "heard" in SPEC:
        append(SPEC["heard"], line.strip())
    return json.loads(line)


def ask(method):
    """A request of the server's own; gives what the client says to it."""
    message(id="from-server", method=method, params={"message": "your password?", "requestedSchema": {"type": "object", "properties": {}}})
    while True:
        said = read()
        if said.get("id") == "from-server":
            return json.dumps({key: said[key] for key in ("result", "error") if key in said})


def page(number, params):
    size = SPEC.get("page", len(TOOLS) or 1)
    begin = int(params.get("cursor") or 0)
    result = {"tools": TOOLS[begin : begin + size]}
    if begin + size < len(TOOLS):
        result["nextCursor"] = str(begin + size)
    answer(number, result)


def call(number, params):
    global TOOLS
    name = params["name"]
    does = SPEC.get("calls", {}).get(name, {})
    token = params.get("_meta", {}).get("progressToken")
    if "ledger" in does:
        append(does["ledger"], name)
    if "stderr" in does:
        print(does["stderr"], file=sys.stderr, flush=True)
    if "start" in does:
        subprocess.Popen(does["start"], shell=True)
    for _ in range(does.get("progress", 0)):
        message(method="notifications/progress", params={"progressToken": token, "progress": _ + 1, "total": 3, "message": "step"})
        time.sleep(does.get("between", 0))
    if "wait_for" in does:
        wait_for(does["wait_for"])
    if "exit" in does:
        os._exit(does["exit"])
    if "never" in does:
        return
    if "raw" in does:
        return say(does["raw"].replace("$ID", str(number)) + "\n")
    if "ask" in does:
        return answer(number, text(ask(does["ask"])))
    if "env" in does:
        return answer(number, text(json.dumps(dict(os.environ))))
    if "run" in does:
        ran = subprocess.run(does["run"], shell=True, capture_output=True, text=True)
        return answer(number, text(ran.stdout + ran.stderr))
    if "tools" in does:
        TOOLS = does["tools"]
        message(method="notifications/tools/list_changed")
    answer(number, does.get("result", text(f"{SPEC.get('says', 'did')} {name} {json.dumps(params.get('arguments'), sort_keys=True)}")))


def main():
    if "started" in SPEC:
        append(SPEC["started"], "started")
    if "stderr" in SPEC:
        print(SPEC["stderr"], file=sys.stderr, flush=True)
    if "start" in SPEC:
        subprocess.Popen(SPEC["start"], shell=True)
    for line in SPEC.get("junk", []):
        say(line + "\n")
    if "flood" in SPEC:
        for _ in range(SPEC["flood"]):
            say("x" * (1 << 20))
    if "exit" in SPEC:
        sys.exit(SPEC["exit"])
    if "wait_for" in SPEC:
        wait_for(SPEC["wait_for"])
    while True:
        said = read()
        number, method = said.get("id"), said.get("method")
        if SPEC.get("silent"):
            continue
        if method == "initialize":
            answer(number, {"protocolVersion": said["params"]["protocolVersion"], "capabilities": {"tools": {"listChanged": True}}, "serverInfo": {"name": "fake", "version": "0"}})
        elif method == "tools/list":
            page(number, said.get("params") or {})
        elif method == "tools/call":
            call(number, said["params"])
        elif number is not None and method:
            message(id=number, error={"code": -32601, "message": "no such method"})


main()
