"""The Python SDK in its new major version, which speaks the newest revision of the protocol where the server does."""

import anyio
import mcp.types as types
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client

import person
import site_of_test as site

INVALID_PARAMS = -32602


def text(result):
    return "".join(block.text for block in result.content if block.type == "text")


async def tools(client):
    return {tool.name: tool for tool in (await client.list_tools()).tools}


async def offers(client):
    listed = await tools(client)
    assert site.CLERK <= set(listed), sorted(listed)
    assert site.HELLO not in listed, sorted(listed)
    assert listed["clerk__echo"].title == "Say it back"
    assert listed["clerk__echo"].annotations.read_only_hint is True
    assert listed["clerk__note"].annotations.read_only_hint is False
    assert listed["clerk__add"].output_schema["properties"].keys() == {"count", "sum"}
    again = [tool.name for tool in (await client.list_tools()).tools]
    assert again == list(listed), (again, list(listed))


async def answers(client):
    said = await client.call_tool("clerk__echo", {"text": "as it is"})
    assert not said.is_error and text(said) == "as it is", said
    sum_ = await client.call_tool("clerk__add", {"numbers": [1, 2, 39]})
    assert sum_.structured_content == {"count": 3, "sum": 42}, sum_
    failed = await client.call_tool("clerk__fail", {})
    assert failed.is_error and text(failed).startswith("Error executing tool"), failed
    assert "come back tomorrow" in text(failed), failed
    wrong = await client.call_tool("clerk__echo", {"text": 7})
    assert wrong.is_error and "text" in text(wrong), wrong
    try:
        await client.call_tool("clerk__nothing", {})
    except MCPError as error:
        assert error.error.code == INVALID_PARAMS, error.error
    else:
        raise AssertionError("a tool that does not exist answered")


async def progress(client):
    heard = []

    async def hear(progress, total, message):
        heard.append((progress, total, message))

    counted = await client.call_tool("clerk__count", {"to": 4}, progress_callback=hear)
    assert text(counted).split() == ["1", "2", "3", "4"], counted
    assert heard and site.rising([progress for progress, _, _ in heard]), heard
    assert any("at " in (message or "") for _, _, message in heard), heard


async def approvals(client, asked):
    asked.says = person.yes
    kept = await client.call_tool("clerk__note", {"text": "with leave"})
    assert not kept.is_error and text(kept) == "kept: with leave", kept
    assert len(asked.messages) == 1 and "clerk.note" in asked.messages[0], asked.messages
    asked.says = person.no
    refused = await client.call_tool("clerk__note", {"text": "without leave"})
    assert refused.is_error, refused
    asked.says = person.yes
    signed = await client.call_tool("clerk__sign", {"text": "in the middle"})
    assert not signed.is_error and text(signed) == "signed: in the middle", signed
    assert len(asked.messages) == 3 and "the seal" in asked.messages[2], asked.messages
    assert site.notes() == ["with leave", "signed: in the middle"], site.notes()


async def changes(client):
    with anyio.fail_after(30):
        async with client.listen(tools_list_changed=True) as subscription:
            site.drop_in()
            async for _ in subscription:
                if site.HELLO in await tools(client):
                    break
    greeted = await client.call_tool(site.HELLO, {"name": "Ada"})
    assert text(greeted) == "Hello, Ada!", greeted


async def cancellation(client):
    begun = anyio.Event()

    async def hear(*_):
        begun.set()

    with anyio.fail_after(30):
        async with anyio.create_task_group() as group:

            async def wait():
                await client.call_tool("clerk__wait", {}, progress_callback=hear)
                raise AssertionError("a tool that waits until it is cancelled answered")

            group.start_soon(wait)
            await begun.wait()
            group.cancel_scope.cancel()
    said = await client.call_tool("clerk__echo", {"text": "still there"})
    assert text(said) == "still there", said


async def meet(transport):
    asked = person.Person(types)
    async with Client(transport, elicitation_callback=asked.answer, read_timeout_seconds=60) as client:
        assert client.protocol_version == "2026-07-28", client.protocol_version
        await offers(client)
        await answers(client)
        await progress(client)
        await approvals(client, asked)
        await changes(client)
        await cancellation(client)


async def main():
    if "command" in site.SITE:
        command, *arguments = site.SITE["command"]
        await meet(StdioServerParameters(command=command, args=arguments))
    else:
        async with create_mcp_http_client(headers=site.headers()) as http:
            await meet(streamable_http_client(site.SITE["url"], http_client=http))


anyio.run(main)
