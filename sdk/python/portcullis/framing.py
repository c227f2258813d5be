"""Parses HTTP requests that a client writes to a wire piece by piece."""

from dataclasses import dataclass

_LINE_END = b"\r\n"
_HEAD_END = b"\r\n\r\n"


@dataclass(frozen=True)
class Request:
    """A complete request. Its body is not chunked any more."""

    method: str
    path: str
    headers: list[tuple[str, bytes]]
    body: bytes


class Reader:
    """Assembles one request. Reads each piece once, so that a body of many pieces takes linear time."""

    def __init__(self) -> None:
        # Bytes that have not been parsed yet.
        self._rest = bytearray()
        self._head: Request | None = None
        # The length of the body, if known. None for a chunked body.
        self._length: int | None = None
        self._body = bytearray()

    def feed(self, piece: bytes) -> Request | None:
        """Takes the next piece. Returns the request when it is complete."""
        self._rest += piece
        if self._head is None:
            self._head = self._read_head()
        if self._head is None or not self._read_body():
            return None
        head, body = self._head, bytes(self._body)
        headers = head.headers if self._length is not None else [*head.headers, ("content-length", b"%d" % len(body))]
        return Request(head.method, head.path, headers, body)

    def _read_head(self) -> Request | None:
        head, end, rest = self._rest.partition(_HEAD_END)
        if not end:
            return None
        self._rest = rest
        first, *lines = bytes(head).split(_LINE_END)
        method, path, _ = first.decode("latin-1").split(" ", 2)
        pairs = [line.partition(b":")[::2] for line in lines]
        headers = [(name.decode("latin-1").lower(), value.strip()) for name, value in pairs]
        known = dict(headers)
        if known.get("transfer-encoding", b"").lower() != b"chunked":
            self._length = int(known.get("content-length", b"0"))
        return Request(method, path, headers, b"")

    def _read_body(self) -> bool:
        """Reads more of the body. Returns whether it is complete."""
        if self._length is not None:
            if len(self._rest) < self._length:
                return False
            self._body = self._rest[: self._length]
            return True
        while (end := self._rest.find(_LINE_END)) >= 0:
            length = int(self._rest[:end].split(b";")[0], 16)
            if length == 0:
                return True
            begin = end + len(_LINE_END)
            if len(self._rest) < begin + length + len(_LINE_END):
                return False
            self._body += self._rest[begin : begin + length]
            del self._rest[: begin + length + len(_LINE_END)]
        return False
