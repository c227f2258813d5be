"""The LangChain adapters: tools of a directory of plugins as tools of an agent framework, calls and what comes back."""

import anyio
from langchain_mcp_adapters.client import MultiServerMCPClient

import site_of_test as site


def connection():
    if "command" in site.SITE:
        command, *arguments = site.SITE["command"]
        return {"transport": "stdio", "command": command, "args": arguments}
    return {"transport": "streamable_http", "url": site.SITE["url"], "headers": site.headers()}


def call(tool, arguments):
    """A call as a model makes it: the answer is then a message for the model."""
    return tool.ainvoke({"type": "tool_call", "id": "call-1", "name": tool.name, "args": arguments})


async def main():
    client = MultiServerMCPClient({"portcullis": connection()})
    tools = {tool.name: tool for tool in await client.get_tools()}
    assert site.CLERK <= set(tools), sorted(tools)
    assert tools["clerk__echo"].args["text"]["type"] == "string", tools["clerk__echo"].args

    said = await call(tools["clerk__echo"], {"text": "as it is"})
    assert said.status == "success" and said.content[0]["text"] == "as it is", said

    sum_ = await call(tools["clerk__add"], {"numbers": [1, 2, 39]})
    assert sum_.artifact["structured_content"] == {"count": 3, "sum": 42}, sum_

    failed = await call(tools["clerk__fail"], {})
    assert failed.status == "error", failed
    assert failed.content[0]["text"].startswith("Error executing tool"), failed

    # There is no approver, so the model gets a readable refusal, and no exception is raised.
    refused = await call(tools["clerk__note"], {"text": "without leave"})
    assert refused.status == "error", refused
    assert site.notes() == [], site.notes()


anyio.run(main)
