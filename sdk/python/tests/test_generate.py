"""Tools that a plugin makes, and files that a call keeps."""

import pathlib
import tempfile
import unittest
from typing import Any

from portcullis import (
    Context,
    DefinitionError,
    Denied,
    Failed,
    File,
    GeneratedCall,
    GeneratedTool,
    Image,
    Plugin,
)
from portcullis.testing import Host, call, generate, problems


def plugin_of_tests() -> Plugin:
    plugin = Plugin("tests", version="1.0.0", description="Tools of the tests.")
    plugin.directory("words", "a word on each line")

    @plugin.generator
    def greetings(context: Context) -> list[GeneratedTool]:
        words = (context.directory("words") / "words.txt").read_text().split()
        schema = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
        return [GeneratedTool(word, f"Says {word}.", schema, hints=["read_only"]) for word in words]

    @plugin.generated
    def greet(called: GeneratedCall) -> Any:
        if called.tool == "list":
            return ["json", called.context.setting("mark")]
        return f"{called.tool}, {called.arguments['name']}{called.context.setting('mark')}"

    return plugin


class Generators(unittest.TestCase):
    def setUp(self) -> None:
        self.plugin = plugin_of_tests()

    def test_a_generator_reads_its_directory(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "words.txt").write_text("hello bye")
            made = generate(self.plugin, Host(directories={"words": folder}))
        described = [(tool.name, tool.description) for tool in made]
        self.assertEqual(described, [("hello", "Says hello."), ("bye", "Says bye.")])
        self.assertEqual(problems(self.plugin), [])

    def test_a_generated_tool_runs(self) -> None:
        host = Host(settings={"mark": "!"})
        self.assertEqual(call(self.plugin, "hello", {"name": "Ada"}, host).text, "hello, Ada!")
        self.assertEqual(call(self.plugin, "list", {}, host).json, ["json", "!"])

    def test_a_generator_that_fails_says_why(self) -> None:
        with self.assertRaisesRegex(Denied, "the policy grants no directory `words` to this tool"):
            generate(self.plugin, Host())
        wrong = Plugin("wrong", version="1", description="Wrong.")
        wrong.generator(lambda context: ["no tool"])  # type: ignore[list-item]
        with self.assertRaisesRegex(Failed, "TypeError: a generator must return a list of GeneratedTool, not of str"):
            generate(wrong)
        with self.assertRaisesRegex(Failed, "the plugin has no tool `hello`"):
            call(wrong, "hello", {})
        self.assertEqual(generate(Plugin("none", version="1", description="None.")), [])

    def test_a_plugin_has_one_generator(self) -> None:
        for decorator in (self.plugin.generator, self.plugin.generated):
            with self.assertRaises(DefinitionError):
                decorator(lambda given: [])  # type: ignore[operator]


class Keeping(unittest.TestCase):
    def test_a_tool_keeps_files_beside_its_answer(self) -> None:
        plugin = Plugin("tests", version="1.0.0", description="Tools of the tests.")
        files = [File(b"one", "text/plain", "notes.txt"), Image(b"i")]

        @plugin.tool()
        def keeps(context: Context) -> str:
            """Keeps files."""
            for file in files:
                context.keep(file)
            return "done"

        host = Host()
        self.assertEqual((call(plugin, "keeps", {}, host).text, host.kept), ("done", files))
