"""Tools that a plugin hides or narrows for some callers."""

import unittest
from collections.abc import Callable
from typing import Any

from portcullis import (
    Caller,
    DefinitionError,
    Denied,
    Failed,
    Level,
    Narrowed,
    Plugin,
    Preparation,
    Preparing,
)
from portcullis.testing import Host, prepare, problems

SHORT = {"type": "object", "properties": {"kind": {"enum": ["short"]}}}


def plugin_of_tests() -> Plugin:
    plugin = Plugin("tests", version="1.0.0", description="Tools of the tests.")
    plugin.directory("words", "what a preparer does not get")

    @plugin.tool(read_only=True)
    def note(kind: str) -> str:
        """Notes a text."""
        return kind

    @plugin.tool()
    def erase() -> None:
        """Erases all notes."""

    return plugin


def returning(answer: Any) -> Callable[[Preparing], list[Preparation]]:
    return lambda offer: answer


class Preparers(unittest.TestCase):
    def setUp(self) -> None:
        self.plugin = plugin_of_tests()

    def prepare(self, function: Callable[[Preparing], list[Preparation]]) -> list[Preparation]:
        self.plugin.prepare = None
        self.plugin.preparer(function)
        return prepare(self.plugin)

    def test_a_preparer_decides_by_the_caller_and_the_settings(self) -> None:
        @self.plugin.preparer
        def reduce(offer: Preparing) -> list[Preparation]:
            reduced: list[Preparation] = []
            if offer.caller.automated or offer.caller.client == "stranger":
                reduced.append(Preparation.hide("erase", f"not in {offer.caller.session}"))
            if offer.context.setting("mode") == "short":
                reduced.append(Preparation.narrow("note", SHORT, "Notes a short text."))
            return reduced

        hidden = Preparation.hide("erase", "not in s")
        narrowed = Preparation("note", Narrowed(SHORT, "Notes a short text."))
        self.assertEqual(prepare(self.plugin), [])
        self.assertEqual(prepare(self.plugin, Caller("s", "local", automated=True)), [hidden])
        both = prepare(self.plugin, Caller("s", "local", "stranger"), Host(settings={"mode": "short"}))
        self.assertEqual(both, [hidden, narrowed])
        self.assertEqual(problems(self.plugin), [])

    def test_a_preparer_has_no_handle(self) -> None:
        self.plugin.preparer(lambda offer: [Preparation.hide("erase", str(offer.context.directory("words")))])
        host = Host(directories={"words": "."})
        with self.assertRaisesRegex(Denied, "the policy grants no directory `words`") as raised:
            prepare(self.plugin, host=host)
        self.assertEqual(host.logged, [(Level.ERROR, raised.exception.text)])

    def test_an_answer_that_a_host_refuses_fails(self) -> None:
        hidden = Preparation.hide("erase", "it is of no use")
        answers: list[tuple[str, Any]] = [
            ("TypeError: a preparer must return a list of Preparation, not of str", ["erase"]),
            ("TypeError", None),
            ("^the plugin has no tool `drop`", [Preparation.hide("drop", "there is none")]),
            ("^the tool `erase` is hidden or narrowed twice", [hidden, hidden]),
        ]
        for why, answer in answers:
            with self.subTest(why), self.assertRaisesRegex(Failed, why):
                self.prepare(returning(answer))

    def test_a_plugin_has_at_most_one_preparer(self) -> None:
        self.assertEqual(prepare(self.plugin), [])
        self.plugin.preparer(lambda offer: [])
        with self.assertRaisesRegex(DefinitionError, "a plugin has one preparer"):
            self.plugin.preparer(lambda offer: [])
