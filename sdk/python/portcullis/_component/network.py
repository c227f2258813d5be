"""Python's own HTTP client over the host: `http.client`, and with it `urllib.request`.

A connection writes its request to an object that acts as a socket, and reads the response from it. The object sends the
request through the client that the policy granted. HTTPS only changes the scheme: the host does the TLS, so the module
`ssl`, which CPython lacks here, is not needed.
"""

import importlib.abc
import io
import sys
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

from .. import _sqlite
from ..failures import Denied, Failure, Unavailable
from ..framing import Reader
from ..plugin import Plugin
from . import absent
from .exchange import Exchange, Reply
from .host import open_client

# Headers that the host sets, or that describe framing on a wire that does not exist here.
_REQUEST_LEFT_OUT = frozenset({"host", "connection", "transfer-encoding", "accept-encoding"})
_RESPONSE_LEFT_OUT = frozenset({"connection", "transfer-encoding", "keep-alive"})

_keys: list[str] = []


def watch() -> None:
    """Adapts `http.client`, `socket` and `sqlite3` when they are imported, and explains missing modules."""
    sys.meta_path.insert(0, _Watch())


def install(plugin: Plugin) -> None:
    """Sets the keys of the plugin's clients. The first granted one is used."""
    _keys[:] = [key for key, dependency in plugin.dependencies.items() if dependency.kind == "http"]


class _Watch(importlib.abc.MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        adapt = _ADAPTED.get(fullname)
        if adapt is None and fullname not in absent.WORDS:
            return None
        spec = PathFinder.find_spec(fullname, path)
        if spec is None or spec.loader is None:
            return spec
        loader: Any = spec.loader
        execute = loader.exec_module

        def exec_module(module: ModuleType) -> None:
            try:
                execute(module)
            except ModuleNotFoundError:
                if fullname in absent.WORDS:
                    raise absent.refusal(fullname) from None
                raise
            if adapt is not None:
                adapt(module)

        loader.exec_module = exec_module
        return spec


def _close_sockets(module: Any) -> None:
    """Makes sockets raise an error that says what to use instead. Otherwise they trap or fail without a message."""

    def refuse(*arguments: object, **options: object) -> None:
        raise PermissionError("a component has no sockets: use urllib.request, or context.client of the tool's context")

    module.socket.__init__ = refuse
    module.getaddrinfo = module.gethostbyname = module.create_connection = refuse


def _adapt_client(client: Any) -> None:
    def connect(self: Any) -> None:
        self.sock = _Wire("https" if self.default_port == client.HTTPS_PORT else "http", self.host, self.port, self)

    class HTTPSConnection(client.HTTPConnection):  # type: ignore[misc]
        """A connection whose TLS is done by the host."""

        default_port = client.HTTPS_PORT

        def __init__(self, host: str, port: int | None = None, *, context: Any = None, **options: Any) -> None:
            super().__init__(host, port, **options)

    client.HTTPConnection.connect = connect
    client.HTTPSConnection = HTTPSConnection
    # `urllib.request` creates a TLS context for each opener, but the host does the TLS.
    client._create_https_context = lambda http_version: None


_ADAPTED: dict[str, Callable[[Any], None]] = {
    "http.client": _adapt_client,
    "socket": _close_sockets,
    "sqlite3": _sqlite.adapt,
}


class _Wire:
    """Acts as the socket of a connection. Each request becomes a separate exchange."""

    def __init__(self, scheme: str, host: str, port: int, connection: Any) -> None:
        default = 443 if scheme == "https" else 80
        name = f"[{host}]" if ":" in host else host
        self._scheme = scheme
        self._server = name if port == default else f"{name}:{port}"
        self._connection = connection
        self._reader = Reader()
        self._reply: Reply | None = None

    def sendall(self, data: bytes) -> None:
        """Takes a piece of the request. Sends the request when it is complete."""
        request = self._reader.feed(data)
        if request is None:
            return
        self._reader = Reader()
        fields = [field for field in request.headers if field[0] not in _REQUEST_LEFT_OUT]
        timeout = self._connection.timeout
        try:
            client = _first_client()
            exchange = Exchange(client, self._server, timeout if isinstance(timeout, (int, float)) else None)
            self._reply = exchange.send(request.method, self._scheme, request.path, fields, request.body)
        except Failure as failure:
            raise _os_error(failure) from None

    def makefile(self, mode: str) -> io.BufferedReader:
        """Returns the response as it would arrive over a wire."""
        reply, self._reply = self._reply, None
        if reply is None:
            raise ConnectionError("the request was not complete")
        return io.BufferedReader(_Incoming(reply))

    def settimeout(self, timeout: float | None) -> None:
        """Does nothing: the timeout of the connection applies."""

    def setsockopt(self, *option: object) -> None:
        """Does nothing: there is no socket."""

    def shutdown(self, how: int) -> None:
        """Does nothing: there is no socket."""

    def close(self) -> None:
        """Does nothing: the exchange ends with its response."""


class _Incoming(io.RawIOBase):
    """A response as bytes: its head, then its body until the end."""

    def __init__(self, reply: Reply) -> None:
        super().__init__()
        fields = [(name, value) for name, value in reply.headers if name.lower() not in _RESPONSE_LEFT_OUT]
        lines = [f"HTTP/1.1 {reply.status} {_reason(reply.status)}", *(f"{name}: {value}" for name, value in fields)]
        head = "\r\n".join([*lines, "connection: close", "", ""])
        self._rest = head.encode("latin-1", errors="replace")
        self._reply = reply

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        if not self._rest:
            try:
                self._rest = self._reply.read()
            except Failure as failure:
                raise _os_error(failure) from None
        piece = self._rest[: len(buffer)]
        self._rest = self._rest[len(piece) :]
        buffer[: len(piece)] = piece
        return len(piece)

    def close(self) -> None:
        self._reply.close()
        super().close()


def _first_client() -> Any:
    """Opens the first client that the policy grants."""
    refusal: Failure = Denied("the plugin asks for no HTTP client")
    for key in _keys:
        try:
            return open_client(key)
        except Failure as failure:
            refusal = failure
    raise refusal


def _reason(status: int) -> str:
    from http import HTTPStatus

    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Unknown"


def _os_error(failure: Failure) -> OSError:
    """Converts a failure into the error of a socket. `urllib.request` turns it into a `URLError`."""
    match failure:
        case Denied():
            return PermissionError(failure.text)
        case Unavailable():
            return ConnectionError(failure.text)
        case _:
            return OSError(failure.text)
