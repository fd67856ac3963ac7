"""A session with the server by the official Python SDK. Prints what it got as one JSON object.

Arguments: the lifecycle to ask for (auto or legacy), the server's program, its folder; the environment is the server's.
"""

import asyncio
import json
import os
import sys

from mcp import Client, StdioServerParameters
from mcp import types

asked = []
steps = []


async def consent(_context, params):
    asked.append(params.message)
    return types.ElicitResult(action="accept", content={"forget": True})


async def progress(done, _total, _message):
    steps.append(done)


def plain(result):
    return result.model_dump(mode="json", by_alias=True, exclude_none=True)


async def main():
    mode, program, folder = sys.argv[1:]
    server = StdioServerParameters(command=program, args=["mcp"], cwd=folder, env=dict(os.environ))
    got = {}
    async with Client(server, mode=mode, elicitation_callback=consent) as client:
        got["tools"] = [tool.name for tool in (await client.list_tools()).tools]
        wish = {"type": "decision", "title": "Otter cache", "content": "Tokens live in the otter cache."}
        # The SDK checks each structured result against the tool's output schema.
        got["saved"] = plain(await client.call_tool("memory_save", wish, progress_callback=progress))
        identifier = got["saved"]["structuredContent"]["id"]
        for name, tool, arguments in [
            ("found", "memory_search", {"query": "otter", "limit": 5}),
            ("read", "memory_get", {"ids": [identifier]}),
            ("timeline", "memory_timeline", {}),
            ("failures", "failures_for", {"command": "make"}),
            ("context", "session_context", {}),
            ("last", "session_context", {"of": "last"}),
            ("wrong", "memory_search", {"limit": 5}),
        ]:
            got[name] = plain(await client.call_tool(tool, arguments))
        got["resources"] = [str(it.uri) for it in (await client.list_resources()).resources]
        got["templates"] = [it.uri_template for it in (await client.list_resource_templates()).resource_templates]
        got["resource"] = plain(await client.read_resource(f"throughline://memory/{identifier}"))
        got["prompts"] = [it.name for it in (await client.list_prompts()).prompts]
        got["prompt"] = plain(await client.get_prompt("resume"))
        got["forgotten"] = plain(await client.call_tool("memory_forget", {"ids": [identifier]}))
        got["after"] = plain(await client.call_tool("memory_search", {"query": "otter"}))
    got["asked"] = asked
    got["steps"] = steps
    print(json.dumps(got))


asyncio.run(main())
