"""Programs that a test plays. They test the logic of a plugin, without a system."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from .programs import Exit, Exited, ExitReport, Launch, RunEvent, Stopped, StreamName

# Number of bytes of a played program that arrive at once: few, so that even a short output arrives in pieces.
CHUNK_BYTES = 1024
# Maximum number of waits for a played program that does not end. It fails a test that would wait without end.
WAITS_MAX = 10_000
# How a host reports a program that the tool killed.
KILLED = "the host ended it"


@dataclass(frozen=True)
class Execution:
    """A run of a played program.

    Attributes:
        stdout: What it writes to stdout.
        stderr: What it writes to stderr. If the streams are merged, it comes after stdout.
        exit: How it ends.
        seconds: The time from start to end. The test does not wait for it.
        left_processes: The number of background processes that the host ended with it.
        refused: What the confinement refused.
        is_endless: Whether it goes on until the tool kills it.
    """

    stdout: bytes | str = b""
    stderr: bytes | str = b""
    exit: Exit = field(default_factory=lambda: Exited(0))
    seconds: float = 0.0
    left_processes: int = 0
    refused: list[str] = field(default_factory=list)
    is_endless: bool = False


@dataclass
class Started:
    """A start of a played program.

    Attributes:
        key: The key of the program.
        launch: What it was started with.
        stdin: What was written to its stdin.
        is_killed: Whether the tool killed it before its end.
    """

    key: str
    launch: Launch
    stdin: bytes = b""
    is_killed: bool = False


class ProgramHandle:
    """A played program."""

    def __init__(self, key: str, program: Callable[[Launch], Execution], started: list[Started]) -> None:
        self._key = key
        self._program = program
        self._started = started

    def start(self, launch: Launch) -> "RunHandle":
        execution = self._program(launch)
        started = Started(self._key, launch)
        self._started.append(started)
        return RunHandle(execution, started)


class RunHandle:
    """A run of a played program."""

    def __init__(self, execution: Execution, started: Started) -> None:
        stdout, stderr = _bytes(execution.stdout), _bytes(execution.stderr)
        if started.launch.merge:
            stdout, stderr = stdout + stderr, b""
        self._rest: dict[StreamName, bytes] = {"stdout": stdout, "stderr": stderr}
        self._execution = execution
        self._started = started
        self._is_running = execution.is_endless
        self._is_input_open = True
        self._waits = 0

    def write_stdin(self, data: memoryview) -> int | None:
        if not self._is_input_open:
            return None
        piece = bytes(data[:CHUNK_BYTES])
        self._started.stdin += piece
        return len(piece)

    def end_stdin(self) -> bool:
        self._is_input_open = False
        return True

    def read(self, stream: StreamName, size: int) -> bytes | None:
        size = min(size, CHUNK_BYTES)
        piece, self._rest[stream] = self._rest[stream][:size], self._rest[stream][size:]
        return piece if piece or self._is_running else None

    def wait(self, events: Sequence[RunEvent], timeout: float | None) -> bool:
        if not self._is_running:
            return True
        self._waits += 1
        if timeout is None or self._waits > WAITS_MAX:
            raise AssertionError("the played program runs until the tool kills it")
        return False

    def report(self) -> ExitReport | None:
        played = self._execution
        if self._is_running:
            return None
        ended = Stopped(KILLED) if self._started.is_killed else played.exit
        return ExitReport(ended, played.seconds, played.left_processes, played.refused)

    def kill(self) -> None:
        self._started.is_killed = self._started.is_killed or self._is_running
        self._is_running = False

    def close(self) -> None:
        self.kill()


def _bytes(text: bytes | str) -> bytes:
    return text.encode() if isinstance(text, str) else text
