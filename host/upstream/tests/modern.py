"""A server of the modern era, made with the Python SDK."""

import asyncio
import sys
from typing import Annotated

from mcp.server.mcpserver import Context, Elicit, ElicitationResult, MCPServer, Resolve
from pydantic import BaseModel

server = MCPServer("modern", instructions="Use it with care.")


class Name(BaseModel):
    name: str


@server.tool()
def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


@server.tool()
async def count(steps: int, ctx: Context) -> str:
    """Counts, and reports progress."""
    for step in range(steps):
        await ctx.report_progress(step + 1, steps, "counting")
        await asyncio.sleep(0.05)
    return "counted"


@server.tool()
async def sleep(ctx: Context) -> str:
    """Sleeps for a minute."""
    await asyncio.sleep(60)
    return "slept"


@server.tool()
async def grow(ctx: Context) -> str:
    """Adds a tool."""
    server.add_tool(lambda: "new", name="new", description="A new tool.")
    await ctx.notify_tools_changed()
    return "grown"


async def ask() -> Elicit[Name]:
    return Elicit("Who?", Name)


@server.tool()
async def greet(name: Annotated[ElicitationResult[Name], Resolve(ask)]) -> str:
    """Asks who you are."""
    return f"{name.action} {name.data.name if name.action == 'accept' else ''}".strip()


if len(sys.argv) > 1:
    server.run("streamable-http", port=int(sys.argv[1]))
else:
    server.run()
