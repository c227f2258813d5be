"""A program that runs, in the types of the contract."""

import os
from collections.abc import Sequence
from typing import Any

from componentize_py_types import Err
from wit_world.imports import monotonic_clock, poll, programs, streams

from ..failures import Failed
from ..programs import (
    Destination,
    Exit,
    Exited,
    ExitReport,
    Launch,
    Missing,
    ReadableDirectory,
    RunEvent,
    Signaled,
    Stopped,
    StreamName,
)

# The programs that have not been closed. The references keep the garbage collector from dropping their handles in any
# order: the host ends a call that drops a program before its streams.
_open: set["RunHandle"] = set()


class ProgramHandle:
    """A program that the policy binds."""

    def __init__(self, program: programs.Program) -> None:
        self._program = program

    def start(self, launch: Launch) -> "RunHandle":
        variables = list(launch.environment.items())
        lowered = programs.Launch(launch.arguments, variables, launch.directory, launch.merge)
        try:
            if launch.needs is None:
                running = self._program.start(lowered)
            else:
                running = self._program.start_with(lowered, _missing(launch.needs))
        except Err as error:
            raise Failed(error.value) from None
        return RunHandle(running)


class RunHandle:
    """A program that runs, and its streams."""

    def __init__(self, running: programs.Running) -> None:
        self._running: programs.Running | None = running
        self._stdin = running.stdin()
        self._outputs: dict[StreamName, streams.InputStream | None] = {
            "stdout": running.stdout(),
            "stderr": running.stderr(),
        }
        # Whether stdin has bytes that the host has accepted, and may not have passed on.
        self._is_unflushed = False
        self._report: ExitReport | None = None
        _open.add(self)

    def write_stdin(self, data: memoryview) -> int | None:
        if self._stdin is None:
            return None
        try:
            piece = data[: self._stdin.check_write()]
            if piece:
                self._stdin.write(bytes(piece))
                self._is_unflushed = True
            return len(piece)
        except Err:
            self._drop_stdin()
            return None

    def end_stdin(self) -> bool:
        if self._stdin is None:
            return True
        try:
            if self._is_unflushed:
                self._stdin.flush()
                self._is_unflushed = False
            # Dropping the stream could lose bytes that the host has accepted. While it flushes them, it accepts none.
            if self._stdin.check_write() == 0:
                return False
        except Err:
            # The program has closed its stdin.
            pass
        self._drop_stdin()
        return True

    def read(self, stream: StreamName, size: int) -> bytes | None:
        output = self._outputs[stream]
        if output is None:
            return None
        try:
            return output.read(size)
        except Err as error:
            self._outputs[stream] = None
            match error.value:
                case streams.StreamError_LastOperationFailed(cause):
                    raise Failed(f"the {stream} of the program broke: {cause.to_debug_string()}") from None
            return None
        finally:
            if self._outputs[stream] is None:
                _drop(output)

    def wait(self, events: Sequence[RunEvent], timeout: float | None) -> bool:
        if self._running is None:
            raise ValueError("the program is closed")
        sources: Any = {"stdin": self._stdin, "end": self._running, **self._outputs}
        if any(sources[event] is None for event in events):
            # A stream that has ended never has more.
            return True
        pollables = [sources[event].subscribe() for event in events]
        if timeout is not None:
            pollables.append(monotonic_clock.subscribe_duration(int(timeout * 1e9)))
        try:
            ready = poll.poll(pollables)
        finally:
            for pollable in pollables:
                _drop(pollable)
        return any(index < len(events) for index in ready)

    def report(self) -> ExitReport | None:
        if self._report is None and self._running is not None:
            report = self._running.exit()
            if report is not None:
                self._report = ExitReport(
                    _exit(report.exit), report.milliseconds / 1000, report.left_processes, report.refused
                )
        return self._report

    def kill(self) -> None:
        if self._running is not None:
            self._running.kill()

    def close(self) -> None:
        running, self._running = self._running, None
        if running is None:
            return
        self._drop_stdin()
        for stream, output in self._outputs.items():
            self._outputs[stream] = None
            if output is not None:
                _drop(output)
        # This ends the program.
        _drop(running)
        _open.discard(self)

    def _drop_stdin(self) -> None:
        stdin, self._stdin = self._stdin, None
        if stdin is not None:
            _drop(stdin)


def _missing(needs: Missing) -> programs.Missing:
    match needs:
        case Destination(authority):
            return programs.Missing_Destination(authority)
        case ReadableDirectory(path):
            return programs.Missing_ReadableDirectory(os.fspath(path))
        case writable:
            return programs.Missing_WritableDirectory(os.fspath(writable.path))


def _exit(exit: programs.Exit) -> Exit:
    match exit:
        case programs.Exit_Code(code):
            return Exited(code)
        case programs.Exit_Signal(signal):
            return Signaled(signal)
        case stopped:
            return Stopped(stopped.value)


def _drop(handle: Any) -> None:
    handle.__exit__(None, None, None)
