"""Runs a tool, and makes of whatever comes of it an answer or a failure that a host knows."""

import contextlib
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from . import values
from .context import Context, Level
from .failures import Failed, Failure
from .handles import Writer
from .host import Host
from .outputs import File, Image, Part, Success
from .plugin import Plugin

# What is logged of an exception: its last frames are what helps, and a record has room for little more.
TRACEBACK_CHARS_MAX = 16_000


@dataclass(frozen=True)
class Json:
    """One JSON document."""

    text: str


@dataclass(frozen=True)
class Answer:
    """What a host is told."""

    output: str | Json | list[Part]
    title: str | None = None
    metadata: str | None = None


def run(plugin: Plugin, tool: str, arguments: str, host: Host) -> Answer:
    """Runs a tool with its arguments as JSON.

    Raises:
        Failure: The tool says so, or it raised anything else, which is then a `Failed` with its traceback in the log.
    """
    try:
        if tool not in plugin.tools:
            raise Failed(f"the plugin has no tool `{tool}`")
        context = Context(host)
        return _answer(plugin.tools[tool].run(values.loads(arguments), context), context)
    except Failure:
        raise
    except BaseException as error:
        raise _uncaught(error, host) from None


def _answer(value: Any, context: Context) -> Answer:
    success = value if isinstance(value, Success) else Success(value)
    metadata = None if success.metadata is None else values.dumps(dict(success.metadata))
    title = None if success.title is None else values.sendable(success.title)
    return Answer(_output(success.output, context), title, metadata)


def _output(value: Any, context: Context) -> str | Json | list[Part]:
    if value is None:
        return ""
    if isinstance(value, str):
        return values.sendable(value)
    if isinstance(value, (Image, File)):
        return [_part(value)]
    if isinstance(value, list) and any(isinstance(part, (Image, File)) for part in value):
        return [_part(part) for part in value]
    if isinstance(value, Iterator):
        writer = context.writer()
        for piece in value:
            writer.write(piece)
        return ""
    if isinstance(value, Writer):
        return ""
    return Json(values.dumps(value))


def _part(value: Any) -> Part:
    if isinstance(value, (Image, File)):
        return type(value)(bytes(memoryview(value.data)), values.sendable(value.media_type))
    return values.sendable(value) if isinstance(value, str) else values.dumps(value)


def _uncaught(error: BaseException, host: Host) -> Failed:
    # The frames may hold all of the memory there is.
    traceback.clear_frames(error.__traceback__)
    text = str(error)
    failed = Failed(values.sendable(f"{type(error).__name__}: {text}" if text else type(error).__name__))
    with contextlib.suppress(Exception):
        lines = "".join(traceback.format_exception(type(error), error, _authors_part(error.__traceback__)))
        host.log(Level.ERROR, lines[-TRACEBACK_CHARS_MAX:].rstrip())
    return failed


def _authors_part(frames: TracebackType | None) -> TracebackType | None:
    """The traceback from where the author's code begins."""
    part = frames
    while part is not None and part.tb_frame.f_globals.get("__package__") == __package__:
        part = part.tb_next
    return part or frames
