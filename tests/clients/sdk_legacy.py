"""The Python SDK in its old major version, which speaks the revisions of the protocol that begin with a handshake."""

import contextlib

import anyio
import httpx
import mcp.types as types
from mcp import ClientSession, McpError, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

import person
import site_of_test as site

INVALID_PARAMS = -32602


def text(result):
    return "".join(block.text for block in result.content if block.type == "text")


async def tools(session):
    return {tool.name: tool for tool in (await session.list_tools()).tools}


async def offers(session):
    listed = await tools(session)
    assert site.CLERK <= set(listed), sorted(listed)
    assert site.HELLO not in listed, sorted(listed)
    assert listed["clerk__echo"].title == "Say it back"
    assert listed["clerk__echo"].annotations.readOnlyHint is True
    assert listed["clerk__note"].annotations.readOnlyHint is False
    assert listed["clerk__add"].outputSchema["properties"].keys() == {"count", "sum"}


async def answers(session):
    said = await session.call_tool("clerk__echo", {"text": "as it is"})
    assert not said.isError and text(said) == "as it is", said
    sum_ = await session.call_tool("clerk__add", {"numbers": [1, 2, 39]})
    assert sum_.structuredContent == {"count": 3, "sum": 42}, sum_
    failed = await session.call_tool("clerk__fail", {})
    assert failed.isError and text(failed).startswith("Error executing tool"), failed
    wrong = await session.call_tool("clerk__echo", {"text": 7})
    assert wrong.isError and "text" in text(wrong), wrong
    try:
        await session.call_tool("clerk__nothing", {})
    except McpError as error:
        assert error.error.code == INVALID_PARAMS, error.error
    else:
        raise AssertionError("a tool that does not exist answered")


async def progress(session):
    heard = []

    async def hear(progress, total, message):
        heard.append((progress, total, message))

    counted = await session.call_tool("clerk__count", {"to": 4}, progress_callback=hear)
    assert text(counted).split() == ["1", "2", "3", "4"], counted
    assert heard and site.rising([progress for progress, _, _ in heard]), heard


async def approvals(session, asked):
    asked.says = person.yes
    kept = await session.call_tool("clerk__note", {"text": "with leave"})
    assert not kept.isError and text(kept) == "kept: with leave", kept
    assert len(asked.messages) == 1 and "clerk.note" in asked.messages[0], asked.messages
    asked.says = person.no
    refused = await session.call_tool("clerk__note", {"text": "without leave"})
    assert refused.isError, refused
    asked.says = person.yes
    signed = await session.call_tool("clerk__sign", {"text": "in the middle"})
    assert not signed.isError and text(signed) == "signed: in the middle", signed
    assert len(asked.messages) == 3 and "the seal" in asked.messages[2], asked.messages
    assert site.notes() == ["with leave", "signed: in the middle"], site.notes()


class Changes:
    """Hears that the list of tools has changed."""

    def __init__(self):
        self.event = anyio.Event()

    async def hear(self, message):
        notification = message.root if isinstance(message, types.ServerNotification) else None
        if isinstance(notification, types.ToolListChangedNotification):
            self.event.set()

    async def next(self):
        await self.event.wait()
        self.event = anyio.Event()


async def changes(session, changed):
    with anyio.fail_after(30):
        site.drop_in()
        await changed.next()
        while site.HELLO not in await tools(session):
            await changed.next()
    greeted = await session.call_tool(site.HELLO, {"name": "Ada"})
    assert text(greeted) == "Hello, Ada!", greeted


async def cancellation(session):
    begun = anyio.Event()

    async def hear(*_):
        begun.set()

    with anyio.fail_after(30):
        async with anyio.create_task_group() as group:

            async def wait():
                await session.call_tool("clerk__wait", {}, progress_callback=hear)
                raise AssertionError("a tool that waits until it is cancelled answered")

            # With this SDK, its user must send the cancellation.
            request = session._request_id
            group.start_soon(wait)
            await begun.wait()
            cancelled = types.CancelledNotification(params=types.CancelledNotificationParams(requestId=request))
            await session.send_notification(types.ClientNotification(cancelled))
            group.cancel_scope.cancel()
    said = await session.call_tool("clerk__echo", {"text": "still there"})
    assert text(said) == "still there", said


async def meet(read, write):
    asked = person.Person(types)
    changed = Changes()
    session = ClientSession(read, write, elicitation_callback=asked.answer, message_handler=changed.hear)
    async with session:
        begun = await session.initialize()
        assert begun.protocolVersion == "2025-11-25", begun.protocolVersion
        assert begun.capabilities.tools.listChanged is True, begun.capabilities
        await offers(session)
        await answers(session)
        await progress(session)
        await approvals(session, asked)
        await changes(session, changed)
        await cancellation(session)


@contextlib.asynccontextmanager
async def connected():
    if "command" in site.SITE:
        command, *arguments = site.SITE["command"]
        async with stdio_client(StdioServerParameters(command=command, args=arguments)) as (read, write):
            yield read, write
    else:
        async with httpx.AsyncClient(headers=site.headers(), timeout=60) as http:
            async with streamable_http_client(site.SITE["url"], http_client=http) as (read, write, _):
                yield read, write


async def main():
    async with connected() as (read, write):
        await meet(read, write)


anyio.run(main)
