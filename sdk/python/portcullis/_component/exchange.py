"""One HTTP exchange over a client that the policy granted, in the types of `wasi:http`."""

from typing import Any
from urllib.parse import quote, urlsplit

from componentize_py_types import Err, Ok
from wit_world.imports import dependencies, monotonic_clock, poll, streams
from wit_world.imports import wasi_http_types as http

from ..failures import Denied, Failed, Failure, InvalidArguments, Unavailable

# Number of bytes of a request's body to write at once: the minimum that `wasi:io` guarantees to accept.
_WRITE_BYTES = 4096
# Number of bytes of a response's body to read at once.
_READ_BYTES = 64 * 1024
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"})
# Characters that are not escaped in a path or a query.
_URL_SAFE = "%/?:@!$&'()*+,;=~-._[]"
# Texts for a model: why the server or the network failed.
_WORDS = {
    http.ErrorCode_DnsTimeout: "looking up the name took too long",
    http.ErrorCode_DnsError: "the name has no address",
    http.ErrorCode_DestinationNotFound: "the name has no address",
    http.ErrorCode_DestinationUnavailable: "it cannot be reached",
    http.ErrorCode_DestinationIpUnroutable: "it cannot be reached",
    http.ErrorCode_ConnectionRefused: "it refused the connection",
    http.ErrorCode_ConnectionTerminated: "the connection broke",
    http.ErrorCode_ConnectionTimeout: "connecting took too long",
    http.ErrorCode_ConnectionReadTimeout: "it took too long to answer",
    http.ErrorCode_ConnectionWriteTimeout: "it took too long to accept the request",
    http.ErrorCode_ConnectionLimitReached: "there are too many connections already",
    http.ErrorCode_HttpResponseTimeout: "it took too long to answer",
    http.ErrorCode_HttpResponseIncomplete: "its response ended before it was complete",
    http.ErrorCode_TlsProtocolError: "the TLS connection failed",
    http.ErrorCode_TlsAlertReceived: "the TLS connection failed",
    http.ErrorCode_TlsCertificateError: "its certificate is not trusted",
}
_REFUSED = (
    http.ErrorCode_HttpRequestDenied,
    http.ErrorCode_DestinationIpProhibited,
    http.ErrorCode_HttpRequestMethodInvalid,
    http.ErrorCode_HttpRequestUriInvalid,
    http.ErrorCode_HttpRequestBodySize,
)


class Gate:
    """A client that the policy granted."""

    def __init__(self, client: dependencies.Client) -> None:
        self._client = client

    def has_secret(self) -> bool:
        return self._client.has_secret()

    def send(
        self, method: str, url: str, headers: list[tuple[str, str]], body: bytes | None, timeout: float | None
    ) -> "Reply":
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname or "@" in parts.netloc:
            raise InvalidArguments(f"`{url}` is not an absolute URL: begin it with http:// or https:// and a host")
        path = quote(parts.path or "/", safe=_URL_SAFE)
        if parts.query:
            path += "?" + quote(parts.query, safe=_URL_SAFE)
        fields = [(name, value.encode("latin-1", errors="replace")) for name, value in headers]
        if body is not None or method in ("POST", "PUT", "PATCH"):
            fields.append(("content-length", str(len(body or b"")).encode()))
        return Exchange(self._client, parts.netloc, timeout).send(method, parts.scheme, path, fields, body or b"")


class Exchange:
    """One request and its response."""

    def __init__(self, client: dependencies.Client, server: str, timeout: float | None) -> None:
        self._client = client
        self._server = server
        self._deadline = None if timeout is None else monotonic_clock.now() + int(timeout * 1e9)

    def send(self, method: str, scheme: str, path: str, fields: list[tuple[str, bytes]], body: bytes) -> "Reply":
        """Sends the request and waits for the head of the response."""
        request = self._request(method, scheme, path, fields)
        outgoing = request.body()
        try:
            future = self._client.send(request, None)
        except Err as error:
            raise self.failure(error.value) from None
        _send_body(outgoing, body)
        with future:
            with future.subscribe() as ready:
                self.wait(ready)
            match future.get():
                case Ok(Ok(response)):
                    return Reply(self, response)
                case Ok(Err(code)):
                    raise self.failure(code)
        raise Failed(f"{self._server}: there is no response")

    def wait(self, ready: poll.Pollable) -> None:
        """Waits until something is ready. Fails after the timeout."""
        if self._deadline is None:
            ready.block()
            return
        with monotonic_clock.subscribe_instant(self._deadline) as timer:
            if 0 not in poll.poll([ready, timer]):
                raise Unavailable(f"{self._server}: it took too long to answer")

    def failure(self, code: Any) -> Failure:
        """Turns an error of `wasi:http` into a failure for the model."""
        if isinstance(code, _REFUSED):
            words = f"the request to {self._server} is refused: the policy does not cover it"
            return Denied(self._client.refusal() or words)
        if type(code) in _WORDS:
            return Unavailable(f"{self._server}: {_WORDS[type(code)]}")
        detail = getattr(code, "value", None)
        named = type(code).__name__.removeprefix("ErrorCode_")
        return Failed(f"{self._server}: {detail if isinstance(detail, str) else named}")

    def broken_off(self, error: Any) -> Failure:
        """Returns why a body ended early. If the host aborted it, there is no code, only a refusal text."""
        code = http.http_error_code(error)
        if code is not None:
            return self.failure(code)
        words = self._client.refusal()
        return Failed(f"{self._server}: {words or _WORDS[http.ErrorCode_HttpResponseIncomplete]}")

    def _request(self, method: str, scheme: str, path: str, fields: list[tuple[str, bytes]]) -> http.OutgoingRequest:
        try:
            headers = http.Fields.from_list(fields)
        except Err as error:
            if isinstance(error.value, http.HeaderError_Forbidden):
                raise Denied("a header of the request is set by the host: leave it out") from None
            raise InvalidArguments("a header of the request has characters that are not allowed in headers") from None
        request = http.OutgoingRequest(headers)
        known = method.upper() in _METHODS
        try:
            request.set_method(getattr(http, f"Method_{method.capitalize()}")() if known else http.Method_Other(method))
            request.set_scheme(http.Scheme_Https() if scheme == "https" else http.Scheme_Http())
            request.set_authority(self._server)
            request.set_path_with_query(path)
        except Err:
            raise InvalidArguments(f"`{method} {scheme}://{self._server}{path}` cannot be sent") from None
        return request


class Reply:
    """A response whose body is still arriving. The host requires its handles to be closed in order, children first."""

    def __init__(self, exchange: Exchange, response: http.IncomingResponse) -> None:
        self.status = response.status()
        with response.headers() as headers:
            self.headers = [(name, value.decode("latin-1")) for name, value in headers.entries()]
        self._exchange = exchange
        body = response.consume()
        self._handles: list[Any] = [body.stream(), body, response]

    def read(self) -> bytes:
        """Returns the next piece; empty at the end."""
        if not self._handles:
            return b""
        stream = self._handles[0]
        try:
            while not (piece := stream.read(_READ_BYTES)):
                with stream.subscribe() as ready:
                    self._exchange.wait(ready)
            return piece
        except Err as error:
            try:
                match error.value:
                    case streams.StreamError_LastOperationFailed(cause):
                        raise self._exchange.broken_off(cause) from None
                return b""
            finally:
                self.close()

    def close(self) -> None:
        """Closes the handles."""
        handles, self._handles = self._handles, []
        for handle in handles:
            handle.__exit__(None, None, None)

    def __del__(self) -> None:
        self.close()


def _send_body(outgoing: http.OutgoingBody, body: bytes) -> None:
    """Sends the body. Ignores errors: a server may answer before it has read all of it, and a host may refuse the
    request in the meantime. Either way the response reports the result.
    """
    try:
        if body:
            with outgoing.write() as stream:
                for start in range(0, len(body), _WRITE_BYTES):
                    stream.blocking_write_and_flush(body[start : start + _WRITE_BYTES])
        http.OutgoingBody.finish(outgoing, None)
    except Err:
        return
