"""Programs: how they are started, what is read of them, and how they end."""

import io
import unittest
from collections.abc import Callable, Iterator
from pathlib import PurePosixPath
from typing import Any

from portcullis import (
    Cancelled,
    Chunk,
    Context,
    Denied,
    Destination,
    Exited,
    Failed,
    Launch,
    Plugin,
    ProgramOutput,
    ReadableDirectory,
    Stopped,
    WritableDirectory,
)
from portcullis.testing import Execution, Host, Started, call


def plugin_of_tests() -> Plugin:
    plugin = Plugin("tests", version="1.0.0", description="Tools of the tests.")
    plugin.process("wc", "counts lines", optional=True)

    @plugin.tool(requires=["execute"])
    def lines(context: Context) -> dict[str, Any]:
        """Counts the lines of a text."""
        output = context.program("wc").run(
            ["-l"], stdin="one\ntwo\n", environment={"LC_ALL": "C"}, directory="/cache/a", max_bytes=8
        )
        return {"exit": str(output.report.exit), "text": output.text, "errors": output.errors, "cut": output.is_cut}

    @plugin.tool(requires=["execute"])
    def stream(context: Context) -> Iterator[str]:
        """Passes on what a program writes."""
        with context.program("wc").start(merge=True) as running:
            yield from running.text()
            yield f"[{running.wait().exit}]"

    @plugin.tool()
    def stray(context: Context) -> None:
        """Opens what only another permission reaches."""
        context.program("wc")

    return plugin


class Programs(unittest.TestCase):
    def setUp(self) -> None:
        self.plugin = plugin_of_tests()

    def test_a_dependency_of_the_kind_process_is_declared(self) -> None:
        dependency = self.plugin.dependencies["wc"]
        self.assertEqual((dependency.kind, dependency.optional), ("process", True))

    def test_a_program_gets_its_launch_and_its_input(self) -> None:
        host = plays(Execution("2", "warning: 1 of 2", Exited(2)))
        answer = call(self.plugin, "lines", {}, host).json
        self.assertEqual(answer, {"exit": "exit code 2", "text": "2", "errors": "warning:", "cut": True})
        launch = Launch(["-l"], {"LC_ALL": "C"}, "/cache/a", b"one\ntwo\n")
        self.assertEqual(host.started, [Started("wc", launch, b"one\ntwo\n", is_killed=False)])

    def test_a_program_that_does_not_start_fails_with_the_reason(self) -> None:
        def fails(launch: Launch) -> Execution:
            raise Failed("/usr/bin/wc has changed")

        with self.assertRaisesRegex(Failed, "^/usr/bin/wc has changed$"):
            call(self.plugin, "lines", {}, Host(programs={"wc": fails}))

    def test_a_start_names_what_the_program_lacks(self) -> None:
        host = plays(Execution())
        program = Context(host).program("wc")
        program.run(["-l"], needs=Destination("files.example.org:443"))
        program.start(needs=ReadableDirectory(PurePosixPath("/srv/data"))).close()
        program.run(needs=WritableDirectory("/srv/data"))
        program.run()
        self.assertEqual(
            [started.launch for started in host.started],
            [
                Launch(["-l"], needs=Destination("files.example.org:443")),
                Launch(needs=ReadableDirectory("/srv/data")),
                Launch(needs=WritableDirectory("/srv/data")),
                Launch(),
            ],
        )

    def test_an_approver_who_says_no_is_a_failure(self) -> None:
        def asks(launch: Launch) -> Execution:
            if launch.needs is not None:
                raise Failed("not approved")
            return Execution()

        program = Context(Host(programs={"wc": asks})).program("wc")
        with self.assertRaisesRegex(Failed, "^not approved$"):
            program.run(needs=Destination("files.example.org:443"))
        self.assertTrue(program.run().report.is_success)

    def test_a_program_needs_a_grant_and_a_permission(self) -> None:
        with self.assertRaisesRegex(Denied, "the policy grants no program `wc`"):
            call(self.plugin, "lines", {}, Host())
        with self.assertRaisesRegex(Denied, "the tool does not declare `execute`, so it has no program `wc`"):
            call(self.plugin, "stray", {}, plays(Execution()))

    def test_a_tool_passes_output_on_while_the_program_runs(self) -> None:
        # The character is split between two chunks.
        host = plays(Execution(b"x" * 1023 + "é".encode() + b"\xff", "end", Stopped("limit of time")))
        call(self.plugin, "stream", {}, host)
        self.assertEqual(host.written.decode(), "x" * 1023 + "é\ufffdend[limit of time]")

    def test_both_streams_are_read_in_pieces(self) -> None:
        host = plays(Execution(b"x" * 5000, "e", left_processes=2, refused=["GET http://a.example/"]))
        running = Context(host).program("wc").start()
        chunks = list(running)
        self.assertEqual(b"".join(chunk.data for chunk in chunks if chunk.stream == "stdout"), b"x" * 5000)
        self.assertIn(Chunk("stderr", b"e"), chunks)
        report = running.wait()
        self.assertTrue(report.is_success)
        self.assertEqual((report.left_processes, report.refused), (2, ["GET http://a.example/"]))

    def test_each_stream_is_a_file(self) -> None:
        host = plays(Execution("one\ntwo\n", "e"))
        with Context(host).program("wc").start(stdin="dropped") as running:
            self.assertEqual(running.stdin.write(b"y" * 2000), 2000)
            with running.stdin as stdin:
                self.assertEqual(stdin.write(b"y" * 1000), 1000)
            self.assertTrue(running.stdin.closed)
            with self.assertRaises(ValueError):
                stdin.write(b"more")
            self.assertEqual(list(io.BufferedReader(running.stdout)), [b"one\n", b"two\n"])
            self.assertEqual(running.stderr.read(), b"e")
            self.assertIsNone(running.read())
            self.assertEqual(running.wait().exit, Exited(0))
        self.assertEqual(host.started[0].stdin, b"y" * 3000)

    def test_a_reader_of_one_stream_writes_the_input(self) -> None:
        host = plays(Execution("out"))
        with Context(host).program("wc").start(stdin="in") as running:
            self.assertEqual(running.stdout.read(), b"out")
        self.assertEqual(host.started[0].stdin, b"in")

    def test_merged_streams_are_one(self) -> None:
        output = Context(plays(Execution("a", "b"))).program("wc").run(merge=True)
        self.assertEqual(output, ProgramOutput(b"ab", b"", False, output.report))

    def test_a_read_waits_for_a_limited_time(self) -> None:
        running = Context(plays(Execution("begun", is_endless=True))).program("wc").start()
        self.assertEqual(running.read(timeout=1), Chunk("stdout", b"begun"))
        with self.assertRaises(TimeoutError):
            running.read(timeout=1)
        self.assertIsNone(running.report)
        running.kill()
        self.assertIsNone(running.read())
        self.assertEqual(running.wait().exit, Stopped("the host ended it"))

    def test_a_program_ends_when_the_call_is_cancelled(self) -> None:
        host = plays(Execution("begun", is_endless=True))
        host.is_cancelled_after = 2
        with self.assertRaises(Cancelled):
            call(self.plugin, "lines", {}, host)
        self.assertTrue(host.started[0].is_killed)

    def test_a_program_ends_with_its_block_or_its_object(self) -> None:
        host = plays(Execution(is_endless=True))
        program = Context(host).program("wc")
        with self.assertRaises(KeyError), program.start():
            raise KeyError
        program.start()
        self.assertEqual([started.is_killed for started in host.started], [True, True])

    def test_a_test_that_would_wait_without_end_fails(self) -> None:
        running = Context(plays(Execution(is_endless=True))).program("wc").start()
        waits: list[Callable[[], object]] = [running.wait, running.read, lambda: list(running), running.stdout.read]
        for wait in waits:
            with self.assertRaisesRegex(AssertionError, "until the tool kills it"):
                wait()

    def test_arguments_of_the_wrong_type_are_an_error(self) -> None:
        program: Any = Context(plays(Execution())).program("wc")
        wrong: Any
        for wrong in ("-l", [1], [b"-l"]):
            with self.assertRaises(TypeError):
                program.run(wrong)
        wrong = b"a.example:443"
        for needs in (wrong, "a.example:443", Destination, Destination(wrong), ReadableDirectory(wrong)):
            with self.assertRaises(TypeError):
                program.run(needs=needs)


def plays(execution: Execution) -> Host:
    return Host(programs={"wc": lambda launch: execution})
