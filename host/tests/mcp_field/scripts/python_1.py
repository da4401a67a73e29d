"""One agent's session with the Python SDK 1: a JSON line for each step.

usage: python_1.py ANSWER stdio COMMAND [ARGUMENT...]
       python_1.py ANSWER http URL
"""
import asyncio
import json
import sys
from contextlib import asynccontextmanager
from datetime import timedelta

from mcp import ClientSession, McpError, StdioServerParameters, types
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamablehttp_client

answer, kind, *target = sys.argv[1:]


def say(step, **what):
    print(json.dumps({"step": step, **what}), flush=True)


def told(result):
    return {
        "error": bool(result.isError),
        "text": "".join(part.text for part in result.content if part.type == "text"),
        "kinds": [part.type for part in result.content],
    }


async def asked(_context, question):
    say("asked", message=question.message, schema=question.requestedSchema)
    if answer in ("decline", "cancel"):
        return types.ElicitResult(action=answer)
    if answer == "bare":
        return types.ElicitResult(action="accept")
    return types.ElicitResult(action="accept", content={"decision": answer})


@asynccontextmanager
async def streams():
    if kind == "http":
        async with streamablehttp_client(target[0]) as (read, write, _):
            yield read, write
    else:
        async with stdio_client(StdioServerParameters(command=target[0], args=target[1:])) as (read, write):
            yield read, write


async def main():
    ask = {} if answer == "none" else {"elicitation_callback": asked}
    async with streams() as (read, write), ClientSession(read, write, **ask) as session:
        hello = await session.initialize()
        say("connected", version=hello.protocolVersion)
        names, hints, cursor = [], {}, None
        while True:
            page = await session.list_tools(cursor=cursor)
            for tool in page.tools:
                names.append(tool.name)
                hint = tool.annotations
                hints[tool.name] = [hint.readOnlyHint, hint.destructiveHint, hint.idempotentHint, hint.openWorldHint]
            cursor = page.nextCursor
            if cursor is None:
                break
        say("listed", names=names, hints=hints)
        say("read", **told(await session.call_tool("Read", {"file_path": "a.txt"})))
        say("denied", **told(await session.call_tool("Read", {"file_path": "secret.env"})))
        say("invalid", **told(await session.call_tool("Read", {"file": 1})))
        try:
            await session.call_tool("Nope", {})
            say("unknown", code=None)
        except McpError as error:
            say("unknown", code=error.error.code)
        say("asking", **told(await session.call_tool("Write", {"file_path": "new.txt", "content": "new\n"})))
        seen = []

        async def progress(done, total, message):
            seen.append(done)

        result = await session.call_tool("test_tool_with_progress", {}, progress_callback=progress)
        say("progress", seen=seen, **told(result))
        # This client sends no cancellation when it gives up: the call's own bound ends it.
        result = await session.call_tool(
            "Bash",
            {"command": "echo $$ > started; setsid sleep 300 & sleep 300", "timeout": 1500},
            read_timeout_seconds=timedelta(seconds=60),
        )
        say("cancelled", ended=True, **told(result))
        say("after", **told(await session.call_tool("Read", {"file_path": "a.txt"})))
    say("closed")


asyncio.run(main())
