"""The JSON tool of the bench, as a server on FastMCP. It isolates nothing."""

from fastmcp import FastMCP
from pydantic import BaseModel


class Order(BaseModel):
    item: str
    count: int


class Summary(BaseModel):
    orders: int
    items: dict[str, int]
    text: str


server = FastMCP("fastmcp")


@server.tool(name="json__summarize")
def summarize(orders: list[Order]) -> Summary:
    """Counts the items of orders."""
    items: dict[str, int] = {}
    for order in orders:
        items[order.item] = items.get(order.item, 0) + order.count
    return Summary(orders=len(orders), items=items, text=f"{len(orders)} orders, {len(items)} kinds")


@server.tool
def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


server.run(show_banner=False)
