"""The host of a component: the imports of the contract, with its errors as exceptions."""

from collections.abc import Mapping

from componentize_py_types import Err
from wit_world.imports import (
    context,
    dependencies,
    logging,
    output,
    programs,
    streams,
    tools,
    wasi_config_store,
    wasi_keyvalue_store,
)
from wit_world.imports import portcullis_tool_types as contract

from .. import values
from ..call import Call, Level
from ..failures import Denied, Failed, Failure, Unavailable
from ..outputs import File, Image
from ..values import sendable
from .exchange import Gate
from .program import ProgramHandle
from .toolset import ToolsetHandle

__all__ = ["ComponentHost", "Err", "names_host", "open_client"]

# Prefix of the host's error for a store over its quota. The interface has no code for it.
_FULL = "the store is full"
# Prefix of the host's error if a tool that declares `read` but not `write` changes a store.
_READ_ONLY = "the store is read-only"
_LEVELS = {level: logging.Level[level.name] for level in Level}


class ComponentHost:
    """Everything that a tool reaches, by the imports of the component."""

    def call(self) -> Call:
        current = context.current()
        return Call(current.id, current.session, current.message, current.agent)

    def report(self, title: str | None, metadata: Mapping[str, object] | None, fraction: float | None) -> None:
        document = None if metadata is None else values.dumps(dict(metadata))
        words = None if title is None else sendable(title)
        context.report(context.Progress(words, document, None if fraction is None else float(fraction)))

    def is_cancelled(self) -> bool:
        return context.is_cancelled()

    def ask(self, permission: str, resource: str, reason: str) -> None:
        try:
            context.ask(sendable(permission), sendable(resource), sendable(reason))
        except Err as error:
            raise Denied(error.value) from None

    def keep(self, file: Image | File) -> None:
        name = None if file.name is None else sendable(file.name)
        try:
            context.keep(contract.Blob(name, sendable(file.media_type), bytes(file.data)))
        except Err as error:
            raise Failed(error.value) from None

    def directory(self, key: str) -> str:
        try:
            with dependencies.open_directory(sendable(key)):
                return f"/{key}"
        except Err as error:
            raise _no_handle("directory", key, error) from None

    def client(self, key: str) -> Gate:
        return Gate(open_client(key))

    def store(self, key: str) -> "Bucket":
        try:
            return Bucket(key, wasi_keyvalue_store.open(sendable(key)))
        except Err as error:
            raise _store_failure(key, error) from None

    def service(self, key: str) -> "Line":
        try:
            return Line(dependencies.open_service(sendable(key)))
        except Err as error:
            raise _no_handle("service", key, error) from None

    def program(self, key: str) -> ProgramHandle:
        try:
            return ProgramHandle(programs.open_program(sendable(key)))
        except Err as error:
            raise _no_handle("program", key, error) from None

    def toolset(self, key: str) -> ToolsetHandle:
        try:
            return ToolsetHandle(tools.open_tools(sendable(key)))
        except Err as error:
            raise _no_handle("set of tools", key, error) from None

    def names_host(self, key: str, url: str) -> bool:
        return names_host(key, url)

    def setting(self, key: str) -> str | None:
        try:
            return wasi_config_store.get(sendable(key))
        except Err as error:
            raise Unavailable(error.value.value) from None

    def log(self, level: Level, message: str) -> None:
        logging.log(_LEVELS[level], "", sendable(message))

    def text(self) -> "Text":
        stream = output.open_text()
        if stream is None:
            raise Failed("there is no answer to write")
        return Text(stream)

    def is_granted(self, path: str) -> bool:
        return True

    def may_write(self, path: str) -> bool:
        # Only the host knows. It refuses the write if it is not allowed.
        return True


class Bucket:
    """A store: `wasi:keyvalue`."""

    def __init__(self, name: str, bucket: wasi_keyvalue_store.Bucket) -> None:
        self._name = name
        self._bucket = bucket

    def get(self, key: str) -> bytes | None:
        try:
            return self._bucket.get(sendable(key))
        except Err as error:
            raise _store_failure(self._name, error) from None

    def set(self, key: str, value: bytes) -> None:
        try:
            self._bucket.set(sendable(key), bytes(memoryview(value)))
        except Err as error:
            raise _store_failure(self._name, error) from None

    def delete(self, key: str) -> None:
        try:
            self._bucket.delete(sendable(key))
        except Err as error:
            raise _store_failure(self._name, error) from None

    def exists(self, key: str) -> bool:
        try:
            return self._bucket.exists(sendable(key))
        except Err as error:
            raise _store_failure(self._name, error) from None

    def keys(self, cursor: int | None) -> tuple[list[str], int | None]:
        try:
            page = self._bucket.list_keys(cursor)
        except Err as error:
            raise _store_failure(self._name, error) from None
        return page.keys, page.cursor


class Line:
    """A service of the embedding application."""

    def __init__(self, service: dependencies.Service) -> None:
        self._service = service

    def call(self, method: str, text: str) -> str:
        try:
            return self._service.call(sendable(method), text)
        except Err as error:
            raise Failed(error.value) from None


class Text:
    """The stream of the call's text answer."""

    def __init__(self, stream: streams.OutputStream) -> None:
        self._stream = stream

    def write(self, data: bytes) -> None:
        rest = memoryview(data)
        try:
            while rest:
                room = self._stream.check_write()
                if room == 0:
                    with self._stream.subscribe() as ready:
                        ready.block()
                    continue
                self._stream.write(bytes(rest[:room]))
                rest = rest[room:]
        except Err as error:
            raise Failed("the host accepts no more of the answer") from error


def open_client(key: str) -> dependencies.Client:
    """Opens the HTTP client behind a key."""
    try:
        return dependencies.open_client(sendable(key))
    except Err as error:
        raise _no_handle("HTTP client", key, error) from None


def names_host(key: str, url: str) -> bool:
    """Returns whether the policy names the host of a URL."""
    try:
        return dependencies.names_host(sendable(key), sendable(url))
    except Err as error:
        raise _no_handle("HTTP client", key, error) from None


def _no_handle(kind: str, key: str, error: Err[dependencies.Unavailable]) -> Failure:
    match error.value:
        case dependencies.Unavailable.UNKNOWN_KEY:
            return Failed(f"the plugin does not ask for `{key}`")
        case dependencies.Unavailable.WRONG_KIND:
            return Failed(f"`{key}` is not a key of kind {kind}")
        case dependencies.Unavailable.NOT_GRANTED:
            return Denied(f"the policy grants no {kind} `{key}` to this tool")
        case _:
            return Unavailable(f"the {kind} `{key}` could not be opened")


def _store_failure(key: str, error: Err[wasi_keyvalue_store.Error]) -> Failure:
    match error.value:
        case wasi_keyvalue_store.Error_NoSuchStore():
            return Failed(f"the plugin asks for no store `{key}`")
        case wasi_keyvalue_store.Error_AccessDenied():
            return Denied(f"the policy grants no store `{key}` to this tool")
        case wasi_keyvalue_store.Error_Other(text) if text.startswith(_FULL):
            return Failed(text)
        case wasi_keyvalue_store.Error_Other(text) if text.startswith(_READ_ONLY):
            return Denied(text)
        case other:
            return Unavailable(other.value)
