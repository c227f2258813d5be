"""Tools of other plugins: what a call gets and returns, and how the tools are found."""

import unittest
from typing import Any

from portcullis import (
    CallableTool,
    Cancelled,
    Context,
    Denied,
    Failed,
    Failure,
    File,
    Image,
    InvalidArguments,
    Outlook,
    Plugin,
    Success,
    ToolAnswer,
    ToolCall,
    ToolSummary,
    Unavailable,
)
from portcullis.testing import Host, call

READ = CallableTool(
    name="files.read",
    description="Reads a text file.",
    schema={"type": "object", "properties": {"path": {"type": "string"}}},
    permissions=frozenset({"read"}),
    hints=frozenset({"read_only"}),
)
FETCH = CallableTool("web.fetch", "Fetches a page.", {"type": "object"}, title="Fetch")


def plugin_of_tests() -> Plugin:
    plugin = Plugin("tests", version="1.0.0", description="Tools of the tests.")
    plugin.toolset("others", "reads files", optional=True)

    @plugin.tool()
    def lines(path: str, context: Context) -> int:
        """Counts the lines of a file."""
        return len(context.tools("others").call("files.read", {"path": path}).text.splitlines())

    @plugin.tool()
    def relay(context: Context) -> ToolAnswer:
        """Returns the answer of another tool."""
        return context.tools("others").call("any.tool")

    return plugin


class Tools(unittest.TestCase):
    def setUp(self) -> None:
        self.plugin = plugin_of_tests()

    def test_a_dependency_of_the_kind_tools_is_declared(self) -> None:
        dependency = self.plugin.dependencies["others"]
        self.assertEqual((dependency.kind, dependency.optional), ("tools", True))

    def test_a_called_tool_gets_its_arguments(self) -> None:
        host = Host(tools={"others": lambda called: "one\ntwo\n"})
        self.assertEqual(call(self.plugin, "lines", {"path": "ü.txt"}, host).json, 2)
        self.assertEqual(host.called, [ToolCall("files.read", {"path": "ü.txt"})])
        self.assertEqual(host.called, [("files.read", {"path": "ü.txt"})])

    def test_tools_need_a_grant(self) -> None:
        with self.assertRaisesRegex(Denied, "the policy grants no set of tools `others` to this tool"):
            call(self.plugin, "lines", {"path": "a"}, Host())

    def test_a_failure_of_a_called_tool_keeps_its_kind_and_text(self) -> None:
        for kind in (InvalidArguments, Denied, Unavailable, Cancelled, Failed):
            with self.assertRaisesRegex(kind, "^not now$"):
                call(self.plugin, "lines", {"path": "a"}, Host(tools={"others": raises(kind("not now"))}))

    def test_an_answer_has_the_kind_of_its_output(self) -> None:
        image, file = Image(b"i"), File(b"f", "text/csv", "f.csv")
        answers: list[tuple[Any, Any, str, str]] = [
            ("a", "a", "text", "a"),
            (None, "", "text", ""),
            ({"a": [1, None]}, {"a": [1, None]}, "json", '{"a":[1,null]}'),
            ([1, "a"], [1, "a"], "json", '[1,"a"]'),
            (ToolAnswer("a", kind="json"), "a", "json", '"a"'),
            (["a", image, "b", file], ["a", image, "b", file], "parts", "a\nb"),
            (image, [image], "parts", ""),
        ]
        for played, output, kind, text in answers:
            answer = tools(lambda called, played=played: played).call("any.tool")
            self.assertEqual((answer.output, answer.kind, answer.text), (output, kind, text))

    def test_an_answer_keeps_its_title_and_metadata(self) -> None:
        answer = tools(lambda called: Success({"a": 1}, "A title", {"number": 1})).call("any.tool")
        self.assertEqual(answer, ToolAnswer({"a": 1}, "A title", {"number": 1}, "json"))

    def test_a_tool_returns_the_answer_of_another_tool_unchanged(self) -> None:
        self.assertIsNone(self.plugin.tools["relay"].output_schema)

        def relayed(played: Any) -> Any:
            return call(self.plugin, "relay", {}, Host(tools={"others": lambda called: played}))

        self.assertEqual(relayed("a").text, "a")
        self.assertEqual(relayed(ToolAnswer("a", kind="json")).json, "a")
        self.assertEqual(relayed(ToolAnswer(["a", "b"], kind="parts")).parts, ["a", "b"])
        answer = relayed(Success(["a", Image(b"i")], "A title", {"number": 1}))
        self.assertEqual((answer.parts, answer.title, answer.metadata), (["a", Image(b"i")], "A title", {"number": 1}))

    def test_several_calls_return_answers_and_failures_in_order(self) -> None:
        def plays(called: ToolCall) -> Any:
            if called.arguments.get("fails"):
                raise Unavailable("try later")
            return called.tool

        answers = tools(plays).call_all([("a.a", {}), ToolCall("b.b", {"fails": True}), ("c.c", {})])
        self.assertEqual([describe(answer) for answer in answers], ["a.a", "Unavailable: try later", "c.c"])
        self.assertEqual(tools(plays).call_all([]), [])

    def test_the_definitions_are_listed_and_searched(self) -> None:
        host = Host(tools={"others": lambda called: ""}, definitions={"others": [FETCH, READ]})
        found = Context(host).tools("others")
        read, fetch = (ToolSummary(tool.name, tool.title, tool.description) for tool in (READ, FETCH))
        self.assertEqual(found.list(), [read, fetch])
        self.assertEqual(found.search("pages or a text"), [fetch, read])
        self.assertEqual(found.search("page", 0), [])
        self.assertEqual(found.search("page", 2**40), [fetch])
        self.assertEqual((found.definition("files.read"), found.definition("files.write")), (READ, None))
        with self.assertRaisesRegex(ValueError, "cannot be negative"):
            found.search("page", -1)

    def test_calls_are_foreseen_and_approved_together(self) -> None:
        def outlook(called: ToolCall) -> Outlook:
            return Denied("not this one") if called.tool == "a.a" else "needs-approval"

        host = Host(tools={"others": lambda called: ""}, outlook=outlook)
        found = Context(host).tools("others")
        calls = [("a.a", {}), ToolCall("b.b", {"n": 1})]
        outlooks = found.foresee(calls)
        self.assertEqual((str(outlooks[0]), outlooks[1]), ("not this one", "needs-approval"))
        self.assertEqual(host.planned, [])
        self.assertEqual(found.approve(calls), [False, True])
        self.assertEqual((host.planned, host.called), ([[("a.a", {}), ("b.b", {"n": 1})]], []))
        self.assertEqual((tools(lambda called: "").foresee(calls), found.foresee([])), (["runs", "runs"], []))

    def test_arguments_that_are_no_object_are_an_error(self) -> None:
        played: Any = tools(lambda called: "")
        for wrong in (["a"], "path", 1, object()):
            with self.assertRaises(TypeError):
                played.call("any.tool", wrong)
            with self.assertRaises(TypeError):
                played.call_all([("any.tool", wrong)])
            with self.assertRaises(TypeError):
                played.foresee([("any.tool", wrong)])
            with self.assertRaises(TypeError):
                played.approve([("any.tool", wrong)])


def tools(plays: Any) -> Any:
    return Context(Host(tools={"others": plays})).tools("others")


def raises(failure: Failure) -> Any:
    def play(called: ToolCall) -> Any:
        raise failure

    return play


def describe(answer: ToolAnswer | Failure) -> str:
    return f"{type(answer).__name__}: {answer.text}" if isinstance(answer, Failure) else answer.text
