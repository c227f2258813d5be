"""Runs a tool, and converts its result or exception into an answer or a failure for the host."""

import contextlib
import sys
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from . import _sqlite, values
from .call import Level
from .context import Context
from .failures import Failed, Failure
from .generate import GeneratedCall, GeneratedTool
from .handles import Writer
from .host import Host
from .outputs import File, Image, Part, Success
from .plugin import Plugin
from .prepare import Caller, Preparation, Preparing
from .review import Ask, Clear, Names, Refuse, Review, Verdict
from .toolset import ToolAnswer

# Maximum characters to log of a traceback. The last frames help most, and the log's quota is small.
TRACEBACK_CHARS_MAX = 16_000


@dataclass(frozen=True)
class Json:
    """One JSON document."""

    text: str


@dataclass(frozen=True)
class Answer:
    """The answer for the host."""

    output: str | Json | list[Part]
    title: str | None = None
    metadata: str | None = None


def run(plugin: Plugin, tool: str, arguments: str, host: Host) -> Answer:
    """Runs a tool with its arguments as JSON.

    Raises:
        Failure: The tool raised it. Any other exception becomes a `Failed`, with its traceback in the log.
    """
    try:
        context = Context(host)
        called = plugin.tools.get(tool)
        with _sqlite.during(host):
            if called is not None:
                value = called.run(values.loads(arguments), context)
                return _answer(value, context, called.output_schema is not None)
            if plugin.run_generated is None:
                raise Failed(f"the plugin has no tool `{tool}`")
            value = plugin.run_generated(GeneratedCall(tool, values.loads(arguments), context))
            return _answer(value, context, has_schema=False)
    except Failure:
        raise
    except BaseException as error:
        raise _uncaught(error, host) from None


def generate(plugin: Plugin, host: Host) -> list[GeneratedTool]:
    """Lets the plugin make more tools.

    Raises:
        Failure: The generator raised it. Any other exception becomes a `Failed`, with its traceback in the log.
    """
    if plugin.generate is None:
        return []
    try:
        with _sqlite.during(host):
            made = list(plugin.generate(Context(host)))
        wrong = next((tool for tool in made if not isinstance(tool, GeneratedTool)), None)
        if wrong is not None:
            raise TypeError(f"a generator must return a list of GeneratedTool, not of {type(wrong).__name__}")
        return made
    except Failure:
        raise
    except BaseException as error:
        raise _uncaught(error, host) from None


def prepare(plugin: Plugin, caller: Caller, host: Host) -> list[Preparation]:
    """Lets the plugin hide and narrow its tools for a caller.

    Raises:
        Failure: The preparer raised it, or the host would refuse the answer. Its text is in the log. Any other exception
            becomes a `Failed`, with its traceback in the log.
    """
    if plugin.prepare is None:
        return []
    try:
        prepared = list(plugin.prepare(Preparing(caller, Context(host))))
        named: set[str] = set()
        for preparation in prepared:
            if not isinstance(preparation, Preparation):
                raise TypeError(f"a preparer must return a list of Preparation, not of {type(preparation).__name__}")
            if preparation.tool not in plugin.tools:
                raise Failed(f"the plugin has no tool `{preparation.tool}` to hide or narrow")
            if preparation.tool in named:
                raise Failed(f"the tool `{preparation.tool}` is hidden or narrowed twice")
            named.add(preparation.tool)
        return prepared
    except Failure as failure:
        host.log(Level.ERROR, failure.text)
        raise
    except BaseException as error:
        raise _uncaught(error, host) from None


def flush() -> None:
    """Flushes the standard streams. A tool may have closed or replaced them, so errors are ignored."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(BaseException):
            stream.flush()


def review(plugin: Plugin, tool: str, arguments: str, host: Names) -> Verdict:
    """Lets the plugin review a call, with its arguments as JSON. A reviewer that raises refuses the call."""
    if plugin.review is None:
        return Clear()
    try:
        match plugin.review(Review(tool, values.loads(arguments), host)):
            case Clear():
                return Clear()
            case Ask(text):
                return Ask(values.sendable(text))
            case Refuse(text):
                return Refuse(values.sendable(text))
            case other:
                raise TypeError(f"a review must return Clear, Ask or Refuse, not {type(other).__name__}")
    except BaseException as error:
        # Free the frames, which may hold all memory. An exception that leaves this function ends the instance.
        traceback.clear_frames(error.__traceback__)
        return Refuse(f"the review failed: {_words(error)}")


def _answer(value: Any, context: Context, has_schema: bool) -> Answer:
    success = value if isinstance(value, Success) else Success(value)
    metadata = None if success.metadata is None else values.dumps(dict(success.metadata))
    title = None if success.title is None else values.sendable(success.title)
    # The kind of a called tool's answer tells a JSON string from a text, and a JSON list from parts.
    if isinstance(success, ToolAnswer) and success.kind == "json":
        return Answer(Json(values.dumps(success.output)), title, metadata)
    if isinstance(success, ToolAnswer) and success.kind == "parts":
        return Answer([_part(part) for part in success.output], title, metadata)
    return Answer(_output(success.output, context, has_schema), title, metadata)


def _output(value: Any, context: Context, has_schema: bool) -> str | Json | list[Part]:
    if value is None or isinstance(value, str):
        # A host validates only JSON against a schema, and refuses text if there is one.
        return Json(values.dumps(value)) if has_schema else values.sendable(value or "")
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
        name = None if value.name is None else values.sendable(value.name)
        return type(value)(bytes(memoryview(value.data)), values.sendable(value.media_type), name)
    return values.sendable(value) if isinstance(value, str) else values.dumps(value)


def _uncaught(error: BaseException, host: Host) -> Failed:
    # Free the frames, which may hold all memory.
    traceback.clear_frames(error.__traceback__)
    failed = Failed(_words(error))
    with contextlib.suppress(Exception):
        lines = "".join(traceback.format_exception(type(error), error, _authors_part(error.__traceback__)))
        host.log(Level.ERROR, lines[-TRACEBACK_CHARS_MAX:].rstrip())
    return failed


def _words(error: BaseException) -> str:
    text = str(error)
    return values.sendable(f"{type(error).__name__}: {text}" if text else type(error).__name__)


def _authors_part(frames: TracebackType | None) -> TracebackType | None:
    """Returns the traceback from the first frame of the author's code."""
    part = frames
    while part is not None and part.tb_frame.f_globals.get("__package__") == __package__:
        part = part.tb_next
    return part or frames
