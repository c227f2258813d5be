"""The conformance plugin in Python: the same tools in every language."""

import base64
import http.client
import io
import logging
import os
import random
import secrets
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Annotated, Any, Literal, NotRequired, TypedDict

from portcullis import (
    Cancelled,
    Context,
    Denied,
    Destination,
    Failed,
    Failure,
    Field,
    File,
    Image,
    InvalidArguments,
    Level,
    Missing,
    Part,
    Permission,
    Plugin,
    ReadableDirectory,
    Success,
    ToolAnswer,
    ToolSummary,
    Unavailable,
    WritableDirectory,
)

plugin = Plugin("conformance", version="1.0.0", description="The same tools in every language.")
plugin.directory("workspace", "Files that the tools read and write.", optional=True)
plugin.http("web", "What the tools fetch.", optional=True)
plugin.store("notes", "What the tools remember.", optional=True)
plugin.process("sh", "What the tools run.", optional=True)
plugin.toolset("others", "What the tools call.", optional=True)

WORKSPACE = Path("/workspace")
WAIT_SECONDS = 20
POLL_SECONDS = 0.01
NAP_SECONDS = 0.005
KEPT_BYTES = 100_000
TAIL_CHARACTERS = 100
PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


class Sum(TypedDict):
    """A sum."""

    sum: int
    kind: Literal["exact", "rounded"]
    note: NotRequired[str]


@plugin.tool(read_only=True, idempotent=True)
def echo(value: Any) -> dict[str, Any]:
    """Answers with the value that it was given.

    Args:
        value: Any JSON value.
    """
    return {"value": value}


@plugin.tool(read_only=True, idempotent=True)
def reverse(text: str) -> Success:
    """Turns a text around, character by character.

    Args:
        text: The text to turn around.
    """
    return Success(text[::-1], title="Reversed", metadata={"characters": len(text)})


@plugin.tool(read_only=True, idempotent=True)
def repeat(text: str, times: Annotated[int, Field(minimum=0, maximum=10_000_000)]) -> str:
    """Says a text many times over.

    Args:
        text: The text to say.
        times: How often.
    """
    return text * times


@plugin.tool(read_only=True, idempotent=True)
def measure(text: str) -> dict[str, int]:
    """Counts the bytes and the characters of a text.

    Args:
        text: The text to measure.
    """
    return {"bytes": len(text.encode()), "characters": len(text)}


@plugin.tool(read_only=True, idempotent=True)
def add(a: int, b: int, note: str | None = None, kind: Literal["exact", "rounded"] = "exact") -> Sum:
    """Adds two integers.

    Args:
        a: The first integer.
        b: The second integer.
        note: Words that come back with the sum.
        kind: What to call the sum.
    """
    result: Sum = {"sum": a + b, "kind": kind}
    if note is not None:
        result["note"] = note
    return result


@plugin.tool(read_only=True, idempotent=True)
def fail(kind: Literal["invalid-arguments", "denied", "unavailable", "cancelled", "failed"], message: str) -> str:
    """Ends with a failure of a kind.

    Args:
        kind: The kind of failure.
        message: What the failure says.
    """
    kinds: dict[str, type[Failure]] = {
        "invalid-arguments": InvalidArguments,
        "denied": Denied,
        "unavailable": Unavailable,
        "cancelled": Cancelled,
        "failed": Failed,
    }
    raise kinds[kind](message)


@plugin.tool(read_only=True, idempotent=True)
def throw(message: str) -> str:
    """Raises an exception that nothing catches.

    Args:
        message: What the exception says.
    """
    raise ValueError(message)


@plugin.tool(read_only=True, idempotent=True)
def trap() -> str:
    """Ends the instance at once."""
    os.abort()


@plugin.tool(read_only=True, idempotent=True)
def progress(steps: Annotated[int, Field(minimum=1, maximum=100)], context: Context) -> str:
    """Reports progress step by step.

    Args:
        steps: How many steps to report.
    """
    for step in range(1, steps + 1):
        context.progress(f"step {step}", fraction=step / steps, metadata={"step": step})
    return "done"


@plugin.tool(read_only=True, idempotent=True)
def wait(context: Context) -> str:
    """Waits until the call is cancelled."""
    end = time.monotonic() + WAIT_SECONDS
    while time.monotonic() < end:
        if context.is_cancelled:
            context.log(Level.INFO, "the call is cancelled")
            raise Cancelled
        time.sleep(POLL_SECONDS)
    return "not cancelled"


@plugin.tool(name="context", read_only=True, idempotent=True)
def who_asked(context: Context) -> dict[str, Any]:
    """Says who asked for the call."""
    call = context.call
    return {"id": call.id, "session": call.session, "message": call.message, "agent": call.agent}


@plugin.tool(requires=["write"])
def ask(permission: Permission, resource: str, reason: str, context: Context) -> str:
    """Asks in the middle of the call whether something may be done.

    Args:
        permission: The right in question.
        resource: What it is about.
        reason: Why it is wanted.
    """
    context.ask(permission, resource, reason)
    return "yes"


@plugin.tool(requires=["read"], read_only=True, idempotent=True)
def read(path: str) -> str:
    """Reads a text file of the workspace.

    Args:
        path: The file, below the workspace.
    """
    try:
        with open(WORKSPACE / path, encoding="utf-8", newline="") as file:
            return file.read()
    except (OSError, ValueError) as error:
        raise Failed(f"cannot read {path}: {error}") from error


@plugin.tool(requires=["read", "write"], idempotent=True, destructive=True)
def write(path: str, text: str) -> str:
    """Writes a text file of the workspace.

    Args:
        path: The file, below the workspace; folders on the way are made.
        text: What the file is to hold.
    """
    data = text.encode()
    try:
        file = WORKSPACE / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
    except (OSError, ValueError) as error:
        raise Failed(f"cannot write {path}: {error}") from error
    return f"wrote {len(data)} bytes"


@plugin.tool(name="list", requires=["read"], read_only=True, idempotent=True)
def list_entries(path: str) -> dict[str, Any]:
    """Lists a folder of the workspace.

    Args:
        path: The folder, below the workspace; `.` is the workspace itself.
    """
    try:
        entries = [
            {
                "name": entry.name,
                "kind": "directory" if entry.is_dir() else "file",
                "size": 0 if entry.is_dir() else entry.stat().st_size,
            }
            for entry in os.scandir(WORKSPACE / path)
        ]
    except (OSError, ValueError) as error:
        raise Failed(f"cannot list {path}: {error}") from error
    return {"entries": sorted(entries, key=lambda entry: str(entry["name"]).encode())}


@plugin.tool(requires=["read", "write"], destructive=True)
def remove(path: str) -> str:
    """Removes a file of the workspace.

    Args:
        path: The file, below the workspace.
    """
    try:
        os.remove(WORKSPACE / path)
    except (OSError, ValueError) as error:
        raise Failed(f"cannot remove {path}: {error}") from error
    return "removed"


@plugin.tool(requires=["network"], open_world=True)
def fetch(url: str, method: str = "GET", body: str | None = None) -> dict[str, Any]:
    """Sends an HTTP request and answers with the response.

    Args:
        url: The whole address.
        method: The method of the request.
        body: What to send.
    """
    data = None if body is None else body.encode()
    try:
        request = urllib.request.Request(url, data=data, method=method, headers={"x-test": "conformance"})
        with urllib.request.urlopen(request) as response:
            return _response(response.status, response.headers, response.read())
    except urllib.error.HTTPError as error:
        return _response(error.status, error.headers, error.read())
    except (OSError, ValueError, http.client.HTTPException) as error:
        raise Unavailable(f"cannot fetch {url}: {getattr(error, 'reason', error)}") from error


def _response(status: int | None, headers: Any, body: bytes) -> dict[str, Any]:
    return {"status": status, "type": headers.get("content-type"), "body": body.decode(errors="replace")}


@plugin.tool(requires=["write"], idempotent=True)
def remember(key: str, value: Any, context: Context) -> str:
    """Keeps a value under a key.

    Args:
        key: The key.
        value: Any JSON value.
    """
    context.store("notes").set_json(key, value)
    return "remembered"


@plugin.tool(requires=["read"], read_only=True, idempotent=True)
def recall(key: str, context: Context) -> dict[str, Any]:
    """Gives back the value that was kept under a key.

    Args:
        key: The key.
    """
    return {"value": context.store("notes").get_json(key)}


@plugin.tool(requires=["read", "write", "execute"])
def run(
    key: str,
    arguments: list[str],
    context: Context,
    input: str | None = None,
    directory: str | None = None,
    merge: bool = False,
    needs_host: str | None = None,
    needs_read: str | None = None,
    needs_write: str | None = None,
) -> dict[str, Any]:
    """Runs a program to its end, and answers with what it wrote.

    Args:
        key: The key of the program.
        arguments: Its arguments.
        input: What it reads from stdin.
        directory: The directory to start in.
        merge: Whether stderr goes to the stream of stdout.
        needs_host: A host and a port that the program lacks.
        needs_read: A directory of the machine that the program has to read.
        needs_write: A directory of the machine that the program has to write.
    """
    needs: Missing | None = None
    if needs_host is not None:
        needs = Destination(needs_host)
    elif needs_read is not None:
        needs = ReadableDirectory(needs_read)
    elif needs_write is not None:
        needs = WritableDirectory(needs_write)
    output = context.program(key).run(
        arguments,
        environment={"CALLER": "conformance"},
        directory=directory,
        stdin=input or "",
        merge=merge,
        needs=needs,
        max_bytes=KEPT_BYTES,
    )
    return {"exit": str(output.report.exit), "stdout": output.text, "stderr": output.errors, "cut": output.is_cut}


@plugin.tool(requires=["read", "write", "execute"])
def stream(
    key: str, arguments: list[str], context: Context, input: str | None = None, until: str | None = None
) -> str:
    """Passes on what a program writes, and ends the program once it has written a text.

    Args:
        key: The key of the program.
        arguments: Its arguments.
        input: What it reads from stdin.
        until: The text that ends the program.
    """
    answer, tail = context.writer(), ""
    with context.program(key).start(arguments, stdin=input or "", merge=True) as running:
        for piece in running.text():
            answer.write(piece)
            tail = tail[-TAIL_CHARACTERS:] + piece
            if until is not None and until in tail:
                running.kill()
        return f"[{running.wait().exit}]"


@plugin.tool(requires=["read", "write", "execute"])
def converse(key: str, arguments: list[str], lines: list[str], context: Context) -> dict[str, Any]:
    """Writes lines to a program, and reads its answer to each.

    Args:
        key: The key of the program.
        arguments: Its arguments.
        lines: What to write.
    """
    with context.program(key).start(arguments, merge=True) as running:
        answers, replies = io.BufferedReader(running.stdout), []
        for line in lines:
            running.stdin.write(f"{line}\n".encode())
            replies.append(answers.readline().decode())
        running.stdin.close()
        return {"replies": replies, "rest": answers.read().decode(), "exit": str(running.wait().exit)}


@plugin.tool()
def delegate(key: str, tool: str, arguments: dict[str, Any], context: Context) -> ToolAnswer:
    """Calls another tool, and answers as that tool does.

    Args:
        key: The key of the tools.
        tool: The full name of the tool.
        arguments: Its arguments.
    """
    return context.tools(key).call(tool, arguments)


@plugin.tool(name="delegate-all")
def delegate_all(key: str, tools: list[str], texts: list[str], context: Context) -> dict[str, Any]:
    """Calls several tools with a text each at the same time, and answers with the text or the failure of each.

    Args:
        key: The key of the tools.
        tools: The full names of the tools.
        texts: The argument of each.
    """
    answers = context.tools(key).call_all((tool, {"text": text}) for tool, text in zip(tools, texts))
    return {
        "answers": [
            {"failure": answer.text} if isinstance(answer, Failure) else {"text": answer.text} for answer in answers
        ]
    }


@plugin.tool(read_only=True)
def plan(key: str, tools: list[str], texts: list[str], context: Context) -> dict[str, Any]:
    """Says what would happen to calls of other tools with a text each, and asks for them together.

    Args:
        key: The key of the tools.
        tools: The full names of the tools.
        texts: The argument of each.
    """
    others, calls = context.tools(key), [(tool, {"text": text}) for tool, text in zip(tools, texts)]
    outlooks = [f"fails: {one.text}" if isinstance(one, Failure) else one for one in others.foresee(calls)]
    return {"outlooks": outlooks, "approved": others.approve(calls)}


@plugin.tool(read_only=True, idempotent=True)
def lookup(
    key: str, query: str, limit: Annotated[int, Field(minimum=0, maximum=100)], tool: str, context: Context
) -> dict[str, Any]:
    """Lists and searches other tools, and says how one of them is defined.

    Args:
        key: The key of the tools.
        query: What the search is for.
        limit: How many tools the search may find.
        tool: The full name of the tool to define.
    """
    others = context.tools(key)
    found = others.definition(tool)
    definition: dict[str, Any] | None = None
    if found is not None:
        definition = {
            **_summary(ToolSummary(found.name, found.title, found.description)),
            "schema": found.schema,
            "output_schema": found.output_schema,
            "permissions": sorted(found.permissions),
            "hints": sorted(hint.replace("_", "-") for hint in found.hints),
        }
    return {
        "list": [_summary(one) for one in others.list()],
        "found": [_summary(one) for one in others.search(query, limit)],
        "definition": definition,
    }


def _summary(tool: ToolSummary) -> dict[str, Any]:
    return {"name": tool.name, "title": tool.title, "description": tool.description}


@plugin.tool(read_only=True, idempotent=True)
def setting(key: str, context: Context) -> dict[str, Any]:
    """Says what the policy sets for the plugin.

    Args:
        key: The key of the setting.
    """
    return {"value": context.setting(key)}


@plugin.tool(name="print", read_only=True, idempotent=True)
def print_text(text: str, context: Context) -> str:
    """Prints a text and logs it.

    Args:
        text: What to print.
    """
    print(text, "on stdout")
    print(text, "on stderr", file=sys.stderr)
    context.log(Level.WARN, text)
    logging.getLogger("conformance").info(text)
    return "printed"


@plugin.tool(read_only=True)
def surroundings() -> dict[str, Any]:
    """Says what time it is, what is random, and what surrounds the program."""
    # Whole nanoseconds, because the difference of two rounded numbers can be smaller than the nap.
    before = time.monotonic_ns()
    time.sleep(NAP_SECONDS)
    return {
        "now": int(time.time() * 1000),
        "monotonic": time.monotonic_ns() - before >= round(NAP_SECONDS * 1e9),
        "random": secrets.token_hex(16),
        "insecure": random.random(),
        "environment": sorted(os.environ),
        "arguments": len(sys.argv[1:]),
    }


@plugin.tool(read_only=True, idempotent=True)
def picture() -> Success:
    """Answers with a text, a picture and a file."""
    parts: list[Part] = ["a pixel", Image(PIXEL), File(bytes([0, 1, 2, 255]))]
    return Success(parts, title="Picture")


@plugin.tool(name="write-out", read_only=True, idempotent=True)
def write_out(pieces: Annotated[int, Field(minimum=1, maximum=1000)], context: Context) -> str:
    """Writes its answer piece by piece while it works.

    Args:
        pieces: How many pieces to write.
    """
    answer = context.writer()
    for piece in range(1, pieces + 1):
        print(f"piece {piece}", file=answer)
    return "end"


@plugin.tool(read_only=True, idempotent=True)
def keep(name: str, text: str, context: Context) -> str:
    """Keeps a text as a file beside its answer.

    Args:
        name: The name of the file.
        text: Its content.
    """
    context.keep(File(text.encode(), "text/plain", name))
    return "kept"


@plugin.tool(read_only=True, idempotent=True)
def spin() -> str:
    """Computes without end."""
    while True:
        pass


@plugin.tool(read_only=True, idempotent=True)
def hog() -> str:
    """Takes memory without end."""
    kept = []
    while True:
        kept.append(bytearray(b"\x01" * (1 << 20)))


@plugin.tool(read_only=True, idempotent=True)
def recurse() -> str:
    """Calls itself without end."""
    return recurse()
