"""One agent's session with the Python SDK 2: a JSON line for each step.

usage: python_2.py auto|legacy ANSWER stdio COMMAND [ARGUMENT...]
       python_2.py auto|legacy ANSWER http URL
ANSWER: allow_once, deny, decline, cancel, bare (accepts and fills in nothing) or none (cannot be asked).
"""
import asyncio
import json
import sys

import mcp_types as types
from mcp import Client, StdioServerParameters

era, answer, kind, *target = sys.argv[1:]


def say(step, **what):
    print(json.dumps({"step": step, **what}), flush=True)


def told(result):
    return {
        "error": bool(result.is_error),
        "text": "".join(part.text for part in result.content if part.type == "text"),
        "kinds": [part.type for part in result.content],
    }


async def asked(_context, question):
    say("asked", message=question.message, schema=question.requested_schema)
    if answer in ("decline", "cancel"):
        return types.ElicitResult(action=answer)
    if answer == "bare":
        return types.ElicitResult(action="accept")
    return types.ElicitResult(action="accept", content={"decision": answer})


async def main():
    where = target[0] if kind == "http" else StdioServerParameters(command=target[0], args=target[1:])
    ask = {} if answer == "none" else {"elicitation_callback": asked}
    async with Client(where, mode=era, **ask) as client:
        say("connected", version=client.protocol_version)
        names, hints, cursor = [], {}, None
        while True:
            page = await client.list_tools(cursor=cursor)
            for tool in page.tools:
                names.append(tool.name)
                hint = tool.annotations
                hints[tool.name] = [hint.read_only_hint, hint.destructive_hint, hint.idempotent_hint, hint.open_world_hint]
            cursor = page.next_cursor
            if cursor is None:
                break
        say("listed", names=names, hints=hints)
        say("read", **told(await client.call_tool("Read", {"file_path": "a.txt"})))
        say("denied", **told(await client.call_tool("Read", {"file_path": "secret.env"})))
        say("invalid", **told(await client.call_tool("Read", {"file": 1})))
        try:
            await client.call_tool("Nope", {})
            say("unknown", code=None)
        except Exception as error:
            say("unknown", code=getattr(getattr(error, "error", error), "code", None))
        say("asking", **told(await client.call_tool("Write", {"file_path": "new.txt", "content": "new\n"})))
        seen = []

        async def progress(done, total, message):
            seen.append(done)

        result = await client.call_tool("test_tool_with_progress", {}, progress_callback=progress)
        say("progress", seen=seen, **told(result))
        try:
            result = await client.call_tool(
                "Bash", {"command": "echo $$ > started; setsid sleep 300 & sleep 300"}, read_timeout_seconds=2
            )
            say("cancelled", ended=True, **told(result))
        except Exception as error:
            say("cancelled", ended=False, why=type(error).__name__)
        say("after", **told(await client.call_tool("Read", {"file_path": "a.txt"})))
    say("closed")


asyncio.run(main())
