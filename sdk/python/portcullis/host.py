"""The interface of a host for a running call. A component and a test each implement it."""

from collections.abc import Mapping, Sequence
from typing import Literal, Protocol, TypeAlias

from .context import Call, Level
from .programs import ExitReport, Launch, StreamName

RunEvent: TypeAlias = Literal["stdin", "stdout", "stderr", "end"]
"""What a wait can be for: stdin accepts more, a stream has more, the program has ended."""


class Bucket(Protocol):
    """The handle behind a store."""

    def get(self, key: str) -> bytes | None: ...
    def set(self, key: str, value: bytes) -> None: ...
    def delete(self, key: str) -> None: ...
    def exists(self, key: str) -> bool: ...
    def keys(self, cursor: int | None) -> tuple[list[str], int | None]: ...


class Reply(Protocol):
    """The answer of an HTTP server, while its body is arriving."""

    status: int
    headers: list[tuple[str, str]]

    def read(self) -> bytes: ...


class Gate(Protocol):
    """The handle behind an HTTP client."""

    def send(
        self, method: str, url: str, headers: list[tuple[str, str]], body: bytes | None, timeout: float | None
    ) -> Reply: ...
    def has_secret(self) -> bool: ...


class Line(Protocol):
    """The handle behind a service."""

    def call(self, method: str, text: str) -> str: ...


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


class Text(Protocol):
    """The beginning of the call's text answer, while it is written."""

    def write(self, data: bytes) -> None: ...


class Host(Protocol):
    """Everything that a tool reaches."""

    def call(self) -> Call: ...
    def report(self, title: str | None, metadata: Mapping[str, object] | None, fraction: float | None) -> None: ...
    def is_cancelled(self) -> bool: ...
    def ask(self, permission: str, resource: str, reason: str) -> None: ...
    def directory(self, key: str) -> str: ...
    def client(self, key: str) -> Gate: ...
    def store(self, key: str) -> Bucket: ...
    def service(self, key: str) -> Line: ...
    def program(self, key: str) -> ProgramHandle: ...
    def names_host(self, key: str, url: str) -> bool: ...
    def setting(self, key: str) -> str | None: ...
    def log(self, level: Level, message: str) -> None: ...
    def text(self) -> Text: ...

    # Whether a file is in a directory that was granted, and whether this call may try to write there.
    def is_granted(self, path: str) -> bool: ...
    def may_write(self, path: str) -> bool: ...
