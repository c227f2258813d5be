"""Programs that a policy grants. The operating system confines them."""

from __future__ import annotations

import codecs
import io
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Literal, Protocol, TypeAlias

from .failures import Cancelled
from .values import sendable

# Default maximum of what `Program.run` keeps of each stream: large enough for a model, small compared with the memory
# of a call.
OUTPUT_BYTES_MAX = 4 * 1024 * 1024
# Number of bytes to read at once.
READ_BYTES = 64 * 1024
# Interval at which reading checks whether the caller has cancelled the call. A host gives a tool some tenths of a
# second to stop.
CANCELLATION_SECONDS = 0.05

StreamName: TypeAlias = Literal["stdout", "stderr"]
"""One of the two streams that a program writes."""
RunEvent: TypeAlias = Literal["stdin", "stdout", "stderr", "end"]
"""What a wait can be for: stdin accepts more, a stream has more, the program has ended."""


@dataclass(frozen=True)
class Exited:
    """The program ended by itself, with this code."""

    code: int

    def __str__(self) -> str:
        return f"exit code {self.code}"


@dataclass(frozen=True)
class Signaled:
    """This signal ended the program."""

    signal: int

    def __str__(self) -> str:
        return f"signal {self.signal}"


@dataclass(frozen=True)
class Stopped:
    """The host ended the program. The text says which limit it reached, for the model."""

    text: str

    def __str__(self) -> str:
        return self.text


Exit: TypeAlias = Exited | Signaled | Stopped
"""How a program ended. `str` describes it for a model."""


@dataclass(frozen=True)
class ExitReport:
    """The report of a program that has ended.

    Attributes:
        exit: How it ended.
        seconds: The time from start to end.
        left_processes: The number of background processes that the host ended with the program.
        refused: What the confinement refused and the host knows of, such as `GET http://a.example/`: for the model.
    """

    exit: Exit
    seconds: float = 0.0
    left_processes: int = 0
    refused: list[str] = field(default_factory=list)

    @property
    def is_success(self) -> bool:
        """Whether the program ended by itself with the code 0."""
        return self.exit == Exited(0)


@dataclass(frozen=True)
class Destination:
    """A host and a port that a program lacks, such as `files.example.org:443`."""

    authority: str


@dataclass(frozen=True)
class ReadableDirectory:
    """A directory that a program has to read, by its absolute path on the machine."""

    path: str | os.PathLike[str]


@dataclass(frozen=True)
class WritableDirectory:
    """A directory that a program has to read and write, by its absolute path on the machine."""

    path: str | os.PathLike[str]


Missing: TypeAlias = Destination | ReadableDirectory | WritableDirectory
"""What a program lacks for one run."""


@dataclass(frozen=True)
class Launch:
    """What a program is started with.

    Attributes:
        arguments: The arguments after the program's own name.
        environment: The additional environment variables.
        directory: The directory to start in; None for the first directory of the binding.
        stdin: The input.
        merge: Whether stderr goes to the stream of stdout.
        needs: What the program lacks for this run, if the start asks for it.
    """

    arguments: list[str] = field(default_factory=list)
    environment: dict[str, str] = field(default_factory=dict)
    directory: str | None = None
    stdin: bytes = b""
    merge: bool = False
    needs: Missing | None = None


@dataclass(frozen=True)
class Chunk:
    """Bytes that a program wrote.

    Attributes:
        stream: The stream, `stdout` or `stderr`.
        data: The bytes.
    """

    stream: StreamName
    data: bytes


@dataclass(frozen=True)
class ProgramOutput:
    """What a program wrote, and how it ended.

    Attributes:
        stdout: What it wrote to stdout.
        stderr: What it wrote to stderr. Empty if stderr went to the stream of stdout.
        is_cut: Whether it wrote more than was kept.
        report: How it ended.
    """

    stdout: bytes
    stderr: bytes
    is_cut: bool
    report: ExitReport

    @property
    def text(self) -> str:
        """Stdout as UTF-8. Invalid bytes are replaced."""
        return self.stdout.decode(errors="replace")

    @property
    def errors(self) -> str:
        """Stderr as UTF-8. Invalid bytes are replaced."""
        return self.stderr.decode(errors="replace")


class RunHandle(Protocol):
    """The handle behind a running program. Only `wait` waits."""

    def write_stdin(self, data: memoryview) -> int | None:
        """Writes as much as the program accepts now. Returns the number of bytes; None if it has closed its stdin."""

    def end_stdin(self) -> bool:
        """Ends the input. Returns False while the program does not have all bytes: then call it again later."""

    def read(self, stream: StreamName, size: int) -> bytes | None:
        """Returns what has arrived; None at the end."""

    def wait(self, events: Sequence[RunEvent], timeout: float | None) -> bool:
        """Waits until one of the events may have happened. Returns False if the timeout came first."""

    def report(self) -> ExitReport | None: ...
    def kill(self) -> None: ...
    def close(self) -> None: ...


class ProgramHandle(Protocol):
    """The handle behind a program."""

    def start(self, launch: Launch) -> RunHandle: ...


class Cancellation(Protocol):
    """Knows whether the caller has cancelled the call."""

    def is_cancelled(self) -> bool: ...


class Program:
    """A program that the policy binds to a key. Nothing runs before `run` or `start`."""

    def __init__(self, handle: ProgramHandle, host: Cancellation) -> None:
        self._handle = handle
        self._host = host

    def run(
        self,
        arguments: Sequence[str | os.PathLike[str]] = (),
        *,
        environment: Mapping[str, str] | None = None,
        directory: str | os.PathLike[str] | None = None,
        stdin: bytes | str = b"",
        merge: bool = False,
        needs: Missing | None = None,
        max_bytes: int = OUTPUT_BYTES_MAX,
    ) -> ProgramOutput:
        """Runs the program to its end, and returns what it wrote. An exit code other than 0 raises nothing.

        Args:
            arguments: The arguments after the program's own name. No shell reads them.
            environment: More environment variables. A variable of the policy wins over one of the same name.
            directory: The directory to start in, such as `/workspace/src`: the key of a directory of the program's
                binding, and a path below it. The default is the first directory of the binding.
            stdin: The input. A str is sent as UTF-8.
            merge: Whether stderr goes to the stream of stdout, in the order of the writes.
            needs: What the program lacks for this run. The start then asks an approver, who reads the program and its
                arguments, and waits for the answer. Only a person can allow it.
            max_bytes: Maximum size of what is kept of each stream. The rest is dropped.

        Raises:
            Failed: The host could not start it; the text says why. With `needs`, also: the policy does not let the
                program ask, or the approver said no.
            Cancelled: The caller has cancelled the call. The program was ended.
        """
        kept: dict[StreamName, bytearray] = {"stdout": bytearray(), "stderr": bytearray()}
        is_cut = False
        launch = _launch(arguments, environment, directory, stdin, merge, needs)
        with Running(self._handle.start(launch), launch.stdin, self._host) as running:
            for chunk in running:
                piece = chunk.data[: max_bytes - len(kept[chunk.stream])]
                kept[chunk.stream] += piece
                is_cut = is_cut or len(piece) < len(chunk.data)
            return ProgramOutput(bytes(kept["stdout"]), bytes(kept["stderr"]), is_cut, running.wait())

    def start(
        self,
        arguments: Sequence[str | os.PathLike[str]] = (),
        *,
        environment: Mapping[str, str] | None = None,
        directory: str | os.PathLike[str] | None = None,
        stdin: bytes | str = b"",
        merge: bool = False,
        needs: Missing | None = None,
    ) -> Running:
        """Starts the program, see `run` for the arguments. `with` ends it at the end of the block.

        Raises:
            Failed: The program did not start, see `run`.
        """
        launch = _launch(arguments, environment, directory, stdin, merge, needs)
        return Running(self._handle.start(launch), launch.stdin, self._host)


class Running:
    """A program that runs.

    Iterate over it to get what the program writes, until it has ended and everything has been read::

        with context.program("make").start(["all"]) as running:
            for chunk in running:
                ...
            report = running.wait()

    Both streams are read together, and the input is written in the meantime, so that the program never waits for a
    stream that nothing reads. The end of the `with` block ends the program and everything that it started.
    """

    def __init__(self, handle: RunHandle, stdin: bytes, host: Cancellation) -> None:
        self._handle = handle
        self._host = host
        self._feed = _ProgramFeed(handle, stdin)
        # The streams that have not ended, and that the tool has not taken.
        self._unread: list[StreamName] = ["stdout", "stderr"]
        # The files that the tool has taken. One more that nothing keeps would end stdin.
        self._stdin: _InputFile | None = None
        self._outputs: dict[StreamName, _OutputFile] = {}

    def __enter__(self) -> Running:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, frames: TracebackType | None
    ) -> None:
        self.close()

    def __del__(self) -> None:
        self.close()

    def __iter__(self) -> Iterator[Chunk]:
        """Yields what the program writes, in the order of arrival.

        Raises:
            Cancelled: The caller has cancelled the call. The program was ended.
        """
        while (chunk := self._next(None)) is not None:
            yield chunk

    def text(self) -> Iterator[str]:
        """Yields what the program writes to both streams as text. Invalid UTF-8 is replaced. Raises like iteration."""
        decoders = {name: codecs.getincrementaldecoder("utf-8")(errors="replace") for name in ("stdout", "stderr")}
        for chunk in self:
            if piece := decoders[chunk.stream].decode(chunk.data):
                yield piece
        for decoder in decoders.values():
            if piece := decoder.decode(b"", final=True):
                yield piece

    def read(self, timeout: float | None = None) -> Chunk | None:
        """Waits for the next chunk of either stream. Returns None when the program has ended and everything is read.

        Args:
            timeout: Maximum time to wait in seconds.

        Raises:
            TimeoutError: Nothing happened in that time. The program still runs.
            Cancelled: The caller has cancelled the call. The program was ended.
        """
        return self._next(timeout)

    def wait(self) -> ExitReport:
        """Waits until the program has ended. Drops what it writes to a stream that the tool has not taken."""
        while self._step() is not None:
            pass
        report = self.report
        assert report is not None
        return report

    @property
    def report(self) -> ExitReport | None:
        """How the program ended; None while it runs, and if it was closed before its end."""
        return self._handle.report()

    def kill(self) -> None:
        """Ends the program and everything that it started. What it wrote before can still be read."""
        self._handle.kill()

    def close(self) -> None:
        """Ends the program if it still runs, and closes its streams."""
        self._feed.stop()
        self._unread = []
        self._handle.close()

    @property
    def stdin(self) -> io.RawIOBase:
        """A binary file for stdin. Closing it ends the input. It replaces the input of the start."""
        self._feed.stop()
        if self._stdin is None:
            self._stdin = _InputFile(self._handle)
        return self._stdin

    @property
    def stdout(self) -> io.RawIOBase:
        """A binary file for stdout. From now on, iteration skips the stream.

        A program that fills a stream that nothing reads waits without end, so also read stderr, or use `merge`.
        """
        return self._take("stdout")

    @property
    def stderr(self) -> io.RawIOBase:
        """A binary file for stderr. It is empty if stderr goes to the stream of stdout. See `stdout`."""
        return self._take("stderr")

    def _take(self, stream: StreamName) -> io.RawIOBase:
        if stream in self._unread:
            self._unread.remove(stream)
        if stream not in self._outputs:
            self._outputs[stream] = _OutputFile(self._handle, stream, self._feed)
        return self._outputs[stream]

    def _next(self, timeout: float | None) -> Chunk | None:
        left = timeout
        while True:
            if self._host.is_cancelled():
                self.kill()
                raise Cancelled
            pause = CANCELLATION_SECONDS if left is None else min(CANCELLATION_SECONDS, left)
            try:
                return self._step(pause)
            except TimeoutError:
                if left is not None and (left := left - pause) <= 0:
                    raise

    def _step(self, timeout: float | None = None) -> Chunk | None:
        """Waits for the next chunk. Returns None when there is no more, and the program has ended."""
        while True:
            self._feed.write()
            for stream in tuple(self._unread):
                data = self._handle.read(stream, READ_BYTES)
                if data:
                    return Chunk(stream, data)
                if data is None:
                    self._unread.remove(stream)
            if not self._unread and self.report is not None:
                return None
            # The end of the program stays ready, so it counts only when there is nothing left to read.
            events: list[RunEvent] = [*self._unread] if self._unread else ["end"]
            if not self._handle.wait([*events, *self._feed.events()], timeout):
                raise TimeoutError("the program has written nothing in that time")


class _ProgramFeed:
    """The input of a start, on its way to the program."""

    def __init__(self, handle: RunHandle, data: bytes) -> None:
        self._handle = handle
        # What is not written yet. None once stdin has ended, or once the tool has taken it.
        self._rest: memoryview | None = memoryview(data)

    def write(self) -> None:
        """Writes as much as the program accepts now, and then ends stdin."""
        while self._rest:
            written = self._handle.write_stdin(self._rest)
            if written == 0:
                return
            # A program that closes its stdin does not want the rest.
            self._rest = None if written is None else self._rest[written:]
        if self._rest is not None and self._handle.end_stdin():
            self._rest = None

    def events(self) -> list[RunEvent]:
        """Returns what to wait for before the next write."""
        return [] if self._rest is None else ["stdin"]

    def stop(self) -> None:
        """Leaves stdin to the tool."""
        self._rest = None


class _InputFile(io.RawIOBase):
    """The stdin of a program. Closing it waits until the program has all bytes, or does not want them."""

    def __init__(self, handle: RunHandle) -> None:
        super().__init__()
        self._handle = handle

    def writable(self) -> bool:
        return True

    def write(self, data: object, /) -> int:
        if self.closed:
            raise ValueError("stdin is closed")
        rest = memoryview(data).cast("B")  # type: ignore[arg-type]
        length = len(rest)
        while rest:
            written = self._handle.write_stdin(rest)
            if written is None:
                raise BrokenPipeError("the program has closed its stdin")
            if written == 0:
                self._handle.wait(["stdin"], None)
            rest = rest[written:]
        return length

    def close(self) -> None:
        if not self.closed:
            while not self._handle.end_stdin():
                self._handle.wait(["stdin"], None)
        super().close()


class _OutputFile(io.RawIOBase):
    """The stdout or the stderr of a program."""

    def __init__(self, handle: RunHandle, stream: StreamName, feed: _ProgramFeed) -> None:
        super().__init__()
        self._handle = handle
        self._stream: StreamName = stream
        self._feed = feed

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object, /) -> int:
        room = memoryview(buffer).cast("B")  # type: ignore[arg-type]
        if not room:
            return 0
        self._feed.write()
        while not (data := self._handle.read(self._stream, min(len(room), READ_BYTES))):
            if data is None:
                return 0
            self._handle.wait([self._stream, *self._feed.events()], None)
            self._feed.write()
        room[: len(data)] = data
        return len(data)


def _launch(
    arguments: Sequence[str | os.PathLike[str]],
    environment: Mapping[str, str] | None,
    directory: str | os.PathLike[str] | None,
    stdin: bytes | str,
    merge: bool,
    needs: Missing | None,
) -> Launch:
    if isinstance(arguments, (str, bytes)):
        raise TypeError('the arguments of a program are a list, such as ["log", "-5"]: no shell splits them')
    variables = {_text(name): _text(value) for name, value in (environment or {}).items()}
    data = stdin.encode(errors="replace") if isinstance(stdin, str) else bytes(memoryview(stdin))
    place = None if directory is None else _text(directory)
    missing = None if needs is None else _missing(needs)
    return Launch([_text(argument) for argument in arguments], variables, place, data, bool(merge), missing)


def _missing(needs: Missing) -> Missing:
    """Returns what a program lacks, with a text for the host."""
    match needs:
        case Destination(authority):
            return Destination(_text(authority))
        case ReadableDirectory(path):
            return ReadableDirectory(_text(path))
        case WritableDirectory(path):
            return WritableDirectory(_text(path))
    raise TypeError(
        "`needs` is a Destination, a ReadableDirectory or a WritableDirectory, such as "
        f'Destination("files.example.org:443"), and not {type(needs).__name__}'
    )


def _text(value: str | os.PathLike[str]) -> str:
    """Returns a text for the host. A value of another type is an error, because it may be a mistake."""
    text = os.fspath(value)
    if not isinstance(text, str):
        raise TypeError(f"the arguments and variables of a program are str, and not {type(text).__name__}")
    return sendable(text)
