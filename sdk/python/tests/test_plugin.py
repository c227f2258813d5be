"""Tools: how they are declared, called and what they answer."""

import contextlib
import io
import math
import tempfile
import unittest
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Literal

from portcullis import (
    Ask,
    Cancelled,
    Clear,
    Context,
    DefinitionError,
    Denied,
    Failed,
    Field,
    File,
    Image,
    InvalidArguments,
    Plugin,
    Refuse,
    Review,
    Success,
    Verdict,
)
from portcullis.answers import flush
from portcullis.testing import Host, Played, call, problems, review
from portcullis.values import dumps


@dataclass
class Count:
    files: int


def plugin_of_tests() -> Plugin:
    plugin = Plugin("tests", version="1.0.0", description="Tools of the tests.")
    plugin.directory("workspace", "the files")
    plugin.http("web", "pages")

    @plugin.tool(read_only=True, title="Greet")
    def greet(name: str, times: int = 1) -> str:
        """Greets a person
        by name.

        Args:
            name: A person's name,
                as people write it.
            times: How often.

        Returns:
            The greeting.
        """
        return f"Hello, {name}!" * times

    @plugin.tool(requires=["read"])
    def count(context: Context) -> Count:
        """Counts files."""
        context.progress("counting", fraction=0.5)
        return Count(sum(1 for _ in context.directory("workspace").iterdir()))

    @plugin.tool()
    def throw(kind: str) -> str:
        """Raises an exception."""
        if kind == "recursion":
            return throw(kind)
        raise {"value": ValueError("boom"), "exit": SystemExit(3)}[kind]

    @plugin.tool()
    def lines(context: Context) -> Iterator[str]:
        """Writes lines."""
        for number in range(3):
            context.check_cancelled()
            yield f"{number}\n"

    @plugin.tool()
    def parts() -> Success:
        """Answers in parts."""
        return Success(["a", Image(b"1"), File(b"2", "text/csv", "b.csv")], title="Parts", metadata={"n": 3})

    @plugin.tool(requires=["network"])
    def page(url: str, context: Context) -> dict[str, int]:
        """Fetches a page."""
        return {"status": context.client("web").get(url).status}

    @plugin.tool()
    def stray(context: Context) -> list[str]:
        """Opens what only other permissions reach."""
        told = []
        for opens, key in ((context.directory, "workspace"), (context.client, "web")):
            try:
                opens(key)
                told.append("opened")
            except Denied as denied:
                told.append(denied.text)
        return told

    @plugin.tool(requires=["read"])
    def peek(context: Context, deletes: bool) -> None:
        """Changes the store, and declares that it reads."""
        store = context.store("notes")
        store.get("a")
        if deletes:
            store.delete("a")
        else:
            store.set("a", b"2")

    @plugin.tool()
    def odd() -> object:
        """Answers with what JSON cannot say."""
        return {"x": object()}

    @plugin.tool()
    def choose() -> Literal["a", "b"]:
        """Answers with one of two words."""
        return "a"

    @plugin.tool()
    def find(there: bool) -> Count | None:
        """Answers with something or nothing."""
        return Count(1) if there else None

    @plugin.reviewer
    def look(call: Review) -> Verdict:
        if call.tool == "throw":
            raise ValueError("boom \ud800")
        return Ask("a person should look") if call.tool == "page" else Clear()

    return plugin


class Tools(unittest.TestCase):
    def setUp(self) -> None:
        self.plugin = plugin_of_tests()

    def test_the_definition_comes_from_the_function(self) -> None:
        tool = self.plugin.tools["greet"]
        self.assertEqual(tool.description, "Greets a person by name.")
        self.assertEqual(
            tool.schema["properties"]["name"],
            {"description": "A person's name, as people write it.", "type": "string"},
        )
        self.assertEqual(tool.schema["required"], ["name"])
        self.assertEqual(
            self.plugin.tools["count"].output_schema,
            {
                "type": "object",
                "properties": {"files": {"type": "integer"}},
                "additionalProperties": False,
                "required": ["files"],
            },
        )
        self.assertEqual(problems(self.plugin), [])

    def test_answers(self) -> None:
        self.assertEqual(call(self.plugin, "greet", {"name": "Ada"}).text, "Hello, Ada!")
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "a.txt").touch()
            host = Host(directories={"workspace": folder})
            self.assertEqual(call(self.plugin, "count", {}, host).json, {"files": 1})
            self.assertEqual(host.reported, [("counting", None, 0.5)])
        answer = call(self.plugin, "parts", {})
        self.assertEqual(answer.parts, ["a", Image(b"1"), File(b"2", "text/csv", "b.csv")])
        self.assertEqual((answer.title, answer.metadata), ("Parts", {"n": 3}))

    def test_an_answer_with_a_schema_is_json(self) -> None:
        self.assertEqual(self.plugin.tools["choose"].output_schema, {"enum": ["a", "b"], "type": "string"})
        self.assertEqual(call(self.plugin, "choose", {}).json, "a")
        self.assertIsNotNone(self.plugin.tools["find"].output_schema)
        self.assertEqual(call(self.plugin, "find", {"there": True}).json, {"files": 1})
        self.assertIsNone(call(self.plugin, "find", {"there": False}).json)

    def test_an_exception_is_a_failure_with_its_name(self) -> None:
        for kind, words in [("value", "ValueError: boom"), ("exit", "SystemExit: 3"), ("recursion", "RecursionError")]:
            host = Host()
            with self.subTest(kind=kind), self.assertRaises(Failed) as caught:
                call(self.plugin, "throw", {"kind": kind}, host)
            self.assertIn(words, caught.exception.text)
            self.assertIn("in throw", host.logged[0][1])
            self.assertNotIn("answers.py", host.logged[0][1])

    def test_a_decimal_keeps_its_digits_or_is_refused(self) -> None:
        texts = [
            ("12.90", "12.9"),
            ("0.1", "0.1"),
            ("12345678901234567890", "12345678901234567890"),
            ("-0.5E-7", "-5e-08"),
        ]
        for text, expected in texts:
            self.assertEqual(dumps(Decimal(text)), expected)
        for text in ("1234567890123456.123", "0.12345678901234567890", "1E+999999999", "NaN", "Infinity"):
            with self.subTest(text=text), self.assertRaisesRegex(ValueError, "return str"):
                dumps(Decimal(text))

    def test_streams_that_a_tool_closed_are_let_be(self) -> None:
        closed = io.StringIO()
        closed.close()
        for stream in (closed, None):
            with contextlib.redirect_stdout(stream), contextlib.redirect_stderr(stream):
                flush()

    def test_what_json_cannot_say_is_a_failure(self) -> None:
        with self.assertRaisesRegex(Failed, "JSON cannot represent object"):
            call(self.plugin, "odd", {})

    def test_arguments_are_checked(self) -> None:
        with self.assertRaisesRegex(InvalidArguments, "name must be a string"):
            call(self.plugin, "greet", {"name": 1})

    def test_nothing_is_granted_by_itself(self) -> None:
        with self.assertRaises(Denied):
            call(self.plugin, "count", {})

    def test_a_tool_gets_no_more_than_it_declares(self) -> None:
        host = Host(directories={"workspace": "/"}, servers={"web": lambda request: Played()}, stores={"notes": {}})
        self.assertEqual(
            call(self.plugin, "stray", {}, host).json,
            [
                "the tool does not declare `read` or `write`, so it has no directory `workspace`",
                "the tool does not declare `network`, so it has no HTTP client `web`",
            ],
        )
        host.stores["notes"]["a"] = b"1"
        for deletes in (False, True):
            with self.assertRaisesRegex(Denied, "^the store is read-only for this tool: it declares `read`"):
                call(self.plugin, "peek", {"deletes": deletes}, host)
        self.assertEqual(host.stores, {"notes": {"a": b"1"}})
        self.assertEqual(host.directory("workspace"), "/", "outside of a call nothing is held to a tool")

    def test_a_generator_writes_until_the_call_is_cancelled(self) -> None:
        host = Host(is_cancelled_after=2)
        with self.assertRaises(Cancelled):
            call(self.plugin, "lines", {}, host)
        self.assertEqual(host.written, b"0\n1\n")

    def test_a_server_is_played(self) -> None:
        host = Host(servers={"web": lambda request: Played(404)})
        self.assertEqual(call(self.plugin, "page", {"url": "http://x/"}, host).json, {"status": 404})
        self.assertEqual([request.method for request in host.sent], ["GET"])

    def test_a_reviewer_tightens(self) -> None:
        self.assertEqual(review(self.plugin, "page", {"url": "x"}), Ask("a person should look"))
        self.assertEqual(review(self.plugin, "greet", {"name": "x"}), Clear())

    def test_a_reviewer_that_raises_refuses(self) -> None:
        self.assertEqual(review(self.plugin, "throw", {}), Refuse("the review failed: ValueError: boom ?"))


class Declarations(unittest.TestCase):
    def test_what_no_host_would_load_is_refused_at_once(self) -> None:
        plugin = Plugin("tests", version="1.0.0", description="Tools of the tests.")

        def without_docstring() -> str:
            return ""

        def without_hint(x) -> str:  # type: ignore[no-untyped-def]
            """Has an argument without a hint."""
            return ""

        async def waits() -> str:
            """Is async."""
            return ""

        def forgets(x: int) -> str:
            """Describes another argument.

            Args:
                y: Not there.
            """
            return ""

        for function in (without_docstring, without_hint, waits, forgets):
            with self.subTest(function=function.__name__), self.assertRaises(DefinitionError):
                plugin.tool()(function)
        with self.assertRaises(DefinitionError):
            plugin.tool(name="Not a name")(waits)
        with self.assertRaises(DefinitionError):
            Plugin("Tests", version="1", description="")

    def test_bounds_are_numbers_of_json(self) -> None:
        plugin = Plugin("tests", version="1.0.0", description="Tools of the tests.")

        @plugin.tool()
        def unbounded(x: float = math.inf) -> str:
            """Has a default that JSON cannot say."""
            return str(x)

        def bounded(x: Annotated[float, Field(maximum=math.inf)]) -> str:
            """Has a bound that JSON cannot say."""
            return str(x)

        self.assertEqual(plugin.tools["unbounded"].schema["properties"], {"x": {"type": "number"}})
        self.assertEqual(call(plugin, "unbounded", {}).text, "inf")
        with self.assertRaisesRegex(DefinitionError, "tool `bounded`"):
            plugin.tool()(bounded)
