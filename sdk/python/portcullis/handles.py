"""The handles that the policy grants a call, by key."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from . import values
from .failures import Failed

# Default maximum of a response: large enough for texts for a model, small compared with the memory of a call.
RESPONSE_BYTES_MAX = 4 * 1024 * 1024


class Bucket(Protocol):
    """The handle behind a store."""

    def get(self, key: str) -> bytes | None: ...
    def set(self, key: str, value: bytes) -> None: ...
    def delete(self, key: str) -> None: ...
    def exists(self, key: str) -> bool: ...
    def keys(self, cursor: int | None) -> tuple[list[str], int | None]: ...


class Store:
    """Values under keys. The policy sets its quota, and whether each session has its own."""

    def __init__(self, bucket: Bucket) -> None:
        self._bucket = bucket

    def get(self, key: str) -> bytes | None:
        """Returns the value of a key, or None."""
        return self._bucket.get(key)

    def set(self, key: str, value: bytes) -> None:
        """Sets a value. A full store raises `Failed` and stays unchanged."""
        self._bucket.set(key, value)

    def get_json(self, key: str, default: Any = None) -> Any:
        """Returns the value of a key, parsed as JSON."""
        value = self.get(key)
        return default if value is None else values.loads(value.decode())

    def set_json(self, key: str, value: Any) -> None:
        """Sets a value as JSON."""
        self.set(key, values.dumps(value).encode())

    def delete(self, key: str) -> None:
        """Deletes a key."""
        self._bucket.delete(key)

    def __contains__(self, key: str) -> bool:
        return self._bucket.exists(key)

    def __iter__(self) -> Iterator[str]:
        """Iterates over the keys, in no particular order."""
        cursor = None
        while True:
            keys, cursor = self._bucket.keys(cursor)
            yield from keys
            if cursor is None:
                return


@dataclass(frozen=True)
class Response:
    """The answer of an HTTP server, whatever its status."""

    url: str
    status: int
    headers: list[tuple[str, str]]
    body: bytes

    def header(self, name: str) -> str | None:
        """Returns the first header with a name, ignoring case."""
        return next((value for key, value in self.headers if key.lower() == name.lower()), None)

    @property
    def text(self) -> str:
        """The body as UTF-8. Invalid bytes are replaced."""
        return self.body.decode(errors="replace")

    def json(self) -> Any:
        """Parses the body as JSON.

        Raises:
            Failed: It is not JSON.
        """
        try:
            return values.loads(self.text)
        except ValueError as error:
            raise Failed(f"{self.url}: the response is not JSON: {error}") from error


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


class Client:
    """Sends HTTP requests to what the policy names. `urllib.request` works too, but has less detailed errors."""

    def __init__(self, gate: Gate) -> None:
        self._gate = gate

    def send(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        body: bytes | str | None = None,
        json: Any = None,
        timeout: float | None = None,
        max_bytes: int = RESPONSE_BYTES_MAX,
    ) -> Response:
        """Sends one request. Does not follow redirects: a request to the target gets its own policy decision.

        Args:
            method: `GET`, `POST` and so on.
            url: The absolute URL.
            headers: The headers by name.
            body: The body. A str is sent as UTF-8.
            json: A value to send as JSON instead of `body`.
            timeout: Maximum time of the exchange in seconds.
            max_bytes: Maximum size of the response. A larger one is an error.

        Raises:
            Denied: The policy does not cover the request; the text says which part, and nothing was sent.
            Unavailable: The server could not be reached, or the connection broke.
            Failed: The response is too large or cannot be read.
        """
        fields = list((headers or {}).items())
        if json is not None:
            body = values.dumps(json)
            fields.append(("content-type", "application/json"))
        data = body.encode() if isinstance(body, str) else body
        reply = self._gate.send(method, url, fields, data, timeout)
        received = bytearray()
        while piece := reply.read():
            received += piece
            if len(received) > max_bytes:
                raise Failed(f"{url}: the response is larger than {max_bytes} bytes")
        return Response(url, reply.status, reply.headers, bytes(received))

    def get(self, url: str, *, headers: Mapping[str, str] | None = None, timeout: float | None = None) -> Response:
        """Sends a `GET`, see `send`."""
        return self.send("GET", url, headers=headers, timeout=timeout)

    @property
    def has_secret(self) -> bool:
        """Whether the host adds a secret to requests to its bound destination. A tool never sees a secret."""
        return self._gate.has_secret()


class Line(Protocol):
    """The handle behind a service."""

    def call(self, method: str, text: str) -> str: ...


class Service:
    """A service of the application that embeds the host."""

    def __init__(self, line: Line) -> None:
        self._line = line

    def call(self, method: str, argument: Any = None) -> Any:
        """Calls a method: JSON in and out.

        Raises:
            Failed: The application refused, with its text.
        """
        return json.loads(self._line.call(method, values.dumps(argument)))


class Text(Protocol):
    """The beginning of the call's text answer, while it is written."""

    def write(self, data: bytes) -> None: ...


class Writer(io.TextIOBase):
    """The beginning of the call's text answer, as a text file: `print(row, file=writer)`.

    The host stores it piece by piece, so that it can be larger than what a tool may return. The tool then returns text
    to append, or None.
    """

    def __init__(self, text: Text) -> None:
        super().__init__()
        self._text = text

    def writable(self) -> bool:
        return True

    def write(self, text: str, /) -> int:
        self._text.write(text.encode(errors="replace"))
        return len(text)
