"""A scripted host for the tests of a plugin: no component, no policy, no network.

from portcullis.testing import Host, call

def test_counts_files(tmp_path):
    host = Host(directories={"workspace": tmp_path})
    assert call(plugin, "count", {}, host).json == {"files": 0}
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar

from . import _sqlite, answers, values
from ._played_program import Execution, ProgramHandle, Started
from ._played_toolset import ToolsetHandle
from .call import Call, Level
from .failures import Denied, Failed, Unavailable
from .generate import GeneratedTool
from .outputs import File, Image, Part
from .permissions import Permission
from .plugin import Plugin
from .prepare import Caller, Preparation
from .programs import Launch
from .review import Verdict
from .toolset import CallableTool, Outlook, ToolCall

__all__ = [
    "Answer",
    "Execution",
    "Host",
    "Played",
    "Sent",
    "Started",
    "call",
    "generate",
    "prepare",
    "problems",
    "review",
]

T = TypeVar("T")

try:
    import sqlite3
except ImportError:
    # Without SQLite there is nothing to adapt to the behaviour of a component.
    pass
else:
    _sqlite.adapt(sqlite3)


@dataclass(frozen=True)
class Sent:
    """A request that the tool sent."""

    method: str
    url: str
    headers: list[tuple[str, str]]
    body: bytes


@dataclass(frozen=True)
class Played:
    """The reply of a played server."""

    status: int = 200
    body: bytes | str = b""
    headers: list[tuple[str, str]] = field(default_factory=list)


@dataclass
class Host:
    """What the policy grants, and afterwards what the tool did. Grants nothing by default.

    Attributes:
        directories: The path of the directory of each key. A tool must get it from `context.directory`.
        servers: The function that answers the requests of each HTTP key.
        stores: The content of the store of each key. The tool changes it.
        services: The function that answers the calls of each service.
        programs: The function that plays each program. It raises `Failed` if the program does not start.
        tools: The function that plays the tools of each key. It returns what a tool may return, or raises a `Failure`.
        definitions: The definitions of the tools of each key, for `list`, `search` and `definition`.
        outlook: The function that says what the host would do with a call of a tool. By default every call runs.
        settings: The settings of the policy's `config`.
        named_hosts: For each HTTP key, the hosts that the policy names.
        answer: The reason to deny questions during a call. None allows them.
        who: Who asked for the call.
        is_cancelled_after: Number of checks after which the call is cancelled. None: never.
        reported: The progress reports: title, metadata and fraction.
        asked: The questions: permission, resource and reason.
        logged: The lines of the log.
        sent: The requests.
        started: The starts of programs.
        called: The calls of other tools.
        planned: The calls that each `approve` asked about.
        kept: The files that the tool kept beside its answer.
        written: The bytes written with `context.writer()`.
    """

    directories: Mapping[str, str | PathLike[str]] = field(default_factory=dict)
    servers: Mapping[str, Callable[[Sent], Played]] = field(default_factory=dict)
    stores: dict[str, dict[str, bytes]] = field(default_factory=dict)
    services: Mapping[str, Callable[[str, Any], Any]] = field(default_factory=dict)
    programs: Mapping[str, Callable[[Launch], Execution]] = field(default_factory=dict)
    tools: Mapping[str, Callable[[ToolCall], Any]] = field(default_factory=dict)
    definitions: Mapping[str, Sequence[CallableTool]] = field(default_factory=dict)
    outlook: Callable[[ToolCall], Outlook] = lambda call: "runs"
    settings: Mapping[str, str] = field(default_factory=dict)
    named_hosts: Mapping[str, Iterable[str]] = field(default_factory=dict)
    answer: str | None = None
    who: Call = field(default_factory=lambda: Call("call", "session"))
    is_cancelled_after: int | None = None
    reported: list[tuple[str | None, Mapping[str, object] | None, float | None]] = field(default_factory=list)
    asked: list[tuple[str, str, str]] = field(default_factory=list)
    logged: list[tuple[Level, str]] = field(default_factory=list)
    sent: list[Sent] = field(default_factory=list)
    started: list[Started] = field(default_factory=list)
    called: list[ToolCall] = field(default_factory=list)
    planned: list[list[ToolCall]] = field(default_factory=list)
    kept: list[Image | File] = field(default_factory=list)
    written: bytearray = field(default_factory=bytearray)
    _declared: frozenset[Permission] | None = field(default=None, init=False, repr=False)

    def call(self) -> Call:
        return self.who

    def report(self, title: str | None, metadata: Mapping[str, object] | None, fraction: float | None) -> None:
        self.reported.append((title, metadata, fraction))

    def is_cancelled(self) -> bool:
        if self.is_cancelled_after is None:
            return False
        self.is_cancelled_after -= 1
        return self.is_cancelled_after < 0

    def ask(self, permission: str, resource: str, reason: str) -> None:
        self.asked.append((permission, resource, reason))
        if self.answer is not None:
            raise Denied(self.answer)

    def keep(self, file: Image | File) -> None:
        self.kept.append(file)

    def directory(self, key: str) -> str:
        self._check_declared(("read", "write"), "directory", key)
        return str(_granted("directory", key, self.directories))

    def client(self, key: str) -> "_Gate":
        self._check_declared(("network",), "HTTP client", key)
        return _Gate(_granted("HTTP client", key, self.servers), self.sent)

    def store(self, key: str) -> "_Bucket":
        only_reads = self._declared is not None and "read" in self._declared and "write" not in self._declared
        return _Bucket(_granted("store", key, self.stores), only_reads)

    def service(self, key: str) -> "_Line":
        return _Line(_granted("service", key, self.services))

    def program(self, key: str) -> ProgramHandle:
        self._check_declared(("execute",), "program", key)
        return ProgramHandle(key, _granted("program", key, self.programs), self.started)

    def toolset(self, key: str) -> ToolsetHandle:
        tools, definitions = _granted("set of tools", key, self.tools), self.definitions.get(key, ())
        return ToolsetHandle(tools, definitions, self.called, self.outlook, self.planned)

    def names_host(self, key: str, url: str) -> bool:
        return any(f"//{host}" in url for host in _granted("HTTP client", key, self.named_hosts))

    def setting(self, key: str) -> str | None:
        return self.settings.get(key)

    def log(self, level: Level, message: str) -> None:
        self.logged.append((level, message))

    def text(self) -> "_Text":
        return _Text(self.written)

    def is_granted(self, path: str) -> bool:
        return any(Path(path).is_relative_to(Path(folder).resolve()) for folder in self.directories.values())

    def may_write(self, path: str) -> bool:
        return self._declared is None or "write" in self._declared

    def _check_declared(self, any_of: tuple[Permission, ...], kind: str, key: str) -> None:
        """Refuses a handle unless the running tool declares one of the permissions for it, as a host does."""
        if self._declared is None or not self._declared.isdisjoint(any_of):
            return
        names = " or ".join(f"`{name}`" for name in any_of)
        raise Denied(f"the tool does not declare {names}, so it has no {kind} `{key}`")


@dataclass(frozen=True)
class Answer:
    """The answer of a successful call."""

    output: str | answers.Json | list[Part]
    title: str | None
    metadata: Any

    @property
    def text(self) -> str:
        """The answer as text."""
        if not isinstance(self.output, str):
            raise AssertionError(f"the answer is not text: {self.output!r}")
        return self.output

    @property
    def json(self) -> Any:
        """The answer as JSON."""
        if not isinstance(self.output, answers.Json):
            raise AssertionError(f"the answer is not JSON: {self.output!r}")
        return values.loads(self.output.text)

    @property
    def parts(self) -> list[Part]:
        """The parts of the answer."""
        if not isinstance(self.output, list):
            raise AssertionError(f"the answer has no parts: {self.output!r}")
        return self.output


def call(plugin: Plugin, tool: str, arguments: Mapping[str, Any], host: Host | None = None) -> Answer:
    """Calls a tool like a real call, from JSON to the answer. The tool gets only handles that its permissions allow.

    Raises:
        Failure: As for a host: any other exception becomes a `Failed`.
    """
    playing, called = host or Host(), plugin.tools.get(tool)
    playing._declared = None if called is None else called.required | called.optional
    try:
        answer = answers.run(plugin, tool, values.dumps(arguments), playing)
    finally:
        playing._declared = None
    metadata = None if answer.metadata is None else values.loads(answer.metadata)
    return Answer(answer.output, answer.title, metadata)


def review(plugin: Plugin, tool: str, arguments: Mapping[str, Any], host: Host | None = None) -> Verdict:
    """Lets the plugin review a call, as a host does before the call runs. A reviewer that raises refuses."""
    return answers.review(plugin, tool, values.dumps(arguments), host or Host())


def generate(plugin: Plugin, host: Host | None = None) -> list[GeneratedTool]:
    """Lets the plugin make more tools, as a host does when it loads the plugin. `call` runs them.

    Raises:
        Failure: As for a host: any other exception becomes a `Failed`.
    """
    return answers.generate(plugin, host or Host())


def prepare(plugin: Plugin, caller: Caller | None = None, host: Host | None = None) -> list[Preparation]:
    """Lets the plugin hide and narrow its tools, as a host does before it offers them to a caller.

    The preparer gets the settings of the host, and no handle. The caller is by default a person in the session
    `session`, with the principal `local`.

    Raises:
        Failure: As for a host: any other exception becomes a `Failed`. A host then offers none of the plugin's tools.
    """
    playing = host or Host()
    settings = Host(settings=playing.settings, logged=playing.logged)
    return answers.prepare(plugin, caller or Caller("session", "local"), settings)


def problems(plugin: Plugin) -> list[str]:
    """Returns the reasons for which a host would refuse the plugin, beyond what its declaration has checked."""
    texts = {plugin.name: plugin.description} | {tool.name: tool.description for tool in plugin.tools.values()}
    found = [f"`{name}` has no description" for name, text in texts.items() if not text.strip()]
    found += [
        f"the description of `{name}` has invisible characters"
        for name, text in texts.items()
        if not all(character.isprintable() or character == "\n" for character in text)
    ]
    if not plugin.tools and plugin.generate is None:
        found.append("the plugin has no tool")
    return found


class _Gate:
    def __init__(self, server: Callable[[Sent], Played], sent: list[Sent]) -> None:
        self._server = server
        self._sent = sent

    def has_secret(self) -> bool:
        return False

    def send(
        self, method: str, url: str, headers: list[tuple[str, str]], body: bytes | None, timeout: float | None
    ) -> "_Reply":
        request = Sent(method, url, headers, body or b"")
        self._sent.append(request)
        return _Reply(self._server(request))


class _Reply:
    def __init__(self, played: Played) -> None:
        self.status = played.status
        self.headers = played.headers
        self._rest = played.body.encode() if isinstance(played.body, str) else played.body

    def read(self) -> bytes:
        rest, self._rest = self._rest, b""
        return rest


class _Bucket:
    def __init__(self, kept: dict[str, bytes], is_read_only: bool) -> None:
        self._kept = kept
        self._is_read_only = is_read_only

    def _check_writable(self) -> None:
        if self._is_read_only:
            raise Denied("the store is read-only for this tool: it declares `read` and not `write`")

    def get(self, key: str) -> bytes | None:
        return self._kept.get(key)

    def set(self, key: str, value: bytes) -> None:
        self._check_writable()
        self._kept[key] = value

    def delete(self, key: str) -> None:
        self._check_writable()
        self._kept.pop(key, None)

    def exists(self, key: str) -> bool:
        return key in self._kept

    def keys(self, cursor: int | None) -> tuple[list[str], int | None]:
        return list(self._kept), None


class _Line:
    def __init__(self, answer: Callable[[str, Any], Any]) -> None:
        self._answer = answer

    def call(self, method: str, text: str) -> str:
        try:
            return values.dumps(self._answer(method, values.loads(text)))
        except (Failed, Unavailable):
            raise
        except Exception as error:
            raise Failed(str(error)) from error


class _Text:
    def __init__(self, written: bytearray) -> None:
        self._written = written

    def write(self, data: bytes) -> None:
        self._written += data


def _granted(kind: str, key: str, granted: Mapping[str, T]) -> T:
    if key not in granted:
        raise Denied(f"the policy grants no {kind} `{key}` to this tool")
    return granted[key]
