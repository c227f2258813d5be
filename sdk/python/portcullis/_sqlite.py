"""SQLite in granted directories, without the locks of an operating system.

A component cannot lock a file, and cannot see the locks of other programs. So a writing connection holds a lock file
`NAME.lock` next to its database until it is closed, which SQLite's own `unix-dotfile` uses as well, and disables
SQLite's locks. A read-only connection needs no lock. Operations that are not safe are refused.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import time
import weakref
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol
from urllib.parse import parse_qs, quote, unquote, urlsplit

from .call import Call

# Maximum age of a lock in seconds: the longest call that a host allows, with a margin. An older lock was left behind.
_CALL_SECONDS_MAX = 3600 + 600
# Interval in seconds at which to check a lock that another call holds.
_LOOK_SECONDS = 0.05
# Maximum number of bytes to read of a lock. It holds two names and a word.
_LOCK_BYTES_MAX = 4096
# Default time in seconds to wait for a lock, as in SQLite.
_TIMEOUT_SECONDS = 5.0
# Size of the head of a journal in bytes. It is all zeros if the transaction has ended.
_JOURNAL_HEAD_BYTES = 28
_ATTACH = re.compile(r"(?:^|;)\s*attach\b", re.IGNORECASE)
_COMMIT = re.compile(r"\s*(?:commit|end)\b", re.IGNORECASE)
# URI parameters that turn this module off: an author who sets one handles locking.
_OWN_WAY = {"vfs", "nolock", "immutable"}


class GrantedFiles(Protocol):
    """Knows the running call and the files that it may use."""

    def call(self) -> Call: ...
    def is_granted(self, path: str) -> bool: ...
    def may_write(self, path: str) -> bool: ...


@dataclass
class _Lock:
    """A lock that this call holds."""

    file: str
    words: bytes
    connections: list[weakref.ref[Any]] = field(default_factory=list)


_host: GrantedFiles | None = None
_locks: dict[str, _Lock] = {}


@contextlib.contextmanager
def during(host: GrantedFiles) -> Iterator[None]:
    """Guards the databases of one call. At its end, closes the connections that the tool left open."""
    global _host
    before, _host = _host, host
    try:
        yield
    finally:
        for connection in [weak() for lock in _locks.values() for weak in lock.connections]:
            with contextlib.suppress(Exception):
                connection.close()
        _host = before


@contextlib.contextmanager
def asking() -> Iterator[None]:
    """Marks the locks of a call that waits for an approver. Other calls of the session run in the meantime, and must
    not treat these locks as left behind."""
    _mark(b"asking\n")
    try:
        yield
    finally:
        _mark(b"")


def _mark(word: bytes) -> None:
    for lock in _locks.values():
        if _read(lock.file, _LOCK_BYTES_MAX).startswith(lock.words):
            with contextlib.suppress(OSError), open(lock.file, "wb") as file:
                file.write(lock.words + word)


def adapt(sqlite3: Any) -> None:
    """Wraps SQLite's `connect`. Outside of a call, and for files outside of granted directories, nothing changes."""
    if hasattr(sqlite3.connect, "guarded"):
        return
    plain = sqlite3.connect
    connection, cursor = _classes(sqlite3)

    def connect(database: Any, *arguments: Any, **options: Any) -> Any:
        named = dict(zip(_POSITIONS, arguments)) | options
        path, query = _file(database, bool(named.get("uri")))
        host = _host
        if host is None or path is None or _OWN_WAY & query.keys() or not host.is_granted(path):
            return plain(database, *arguments, **options)
        mode = query.get("mode", ["rwc"])[-1]
        timeout = float(named.get("timeout", _TIMEOUT_SECONDS))
        lock, was_left = _take(sqlite3, path, timeout, mode != "ro" and host.may_write(path))
        try:
            _check(sqlite3, path, was_left and lock is not None)
            factory = named.get("factory", sqlite3.Connection)
            named["factory"] = type("Connection", (connection, factory), {"_cursor": cursor})
            uri = f"file:{quote(path)}?mode={mode if lock else 'ro'}&vfs=unix-none"
            return plain(uri, **(named | {"uri": True})).guard(path, lock)
        except BaseException:
            _give_back(path, lock)
            raise

    connect.guarded = True  # type: ignore[attr-defined]
    sqlite3.connect = sqlite3.dbapi2.connect = connect


_POSITIONS = (
    *("timeout", "detect_types", "isolation_level", "check_same_thread", "factory"),
    *("cached_statements", "uri"),
)


def _file(database: Any, uri: bool) -> tuple[str | None, dict[str, list[str]]]:
    """Returns the path of a database and the query of its URI. An in-memory database has no path."""
    name = os.fsdecode(database)
    query: dict[str, list[str]] = {}
    if uri and name.startswith("file:"):
        parts = urlsplit(name)
        name, query = unquote(parts.path), parse_qs(parts.query)
    if name in ("", ":memory:") or query.get("mode") == ["memory"]:
        return None, query
    return os.path.realpath(name), query


def _take(sqlite3: Any, path: str, timeout: float, may_write: bool) -> tuple[_Lock | None, bool]:
    """Takes the lock of a database. Returns no lock if the database can only be read, and whether a stopped call had
    left its lock behind."""
    if path in _locks:
        return (_locks[path] if may_write else None), False
    lock, deadline, was_left = f"{path}.lock", time.monotonic() + timeout, False
    while True:
        if os.path.lexists(lock):
            if _is_left(lock):
                was_left = True
                if not (may_write and _remove(lock)):
                    return None, was_left
            elif time.monotonic() >= deadline:
                raise _locked(sqlite3, lock)
            else:
                time.sleep(_LOOK_SECONDS)
        elif not may_write:
            return None, was_left
        elif (taken := _create(lock)) is not None:
            if taken.words:
                _locks[path] = taken
                return taken, was_left
            return None, was_left


def _create(file: str) -> _Lock | None:
    """Creates a lock file. Returns a lock without words if that fails, and None if another call was faster."""
    call = _host.call() if _host is not None else None
    words = f"{call.session!r}\n{call.id!r}\n".encode() if call is not None else b"?\n?\n"
    try:
        descriptor = os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666)
    except FileExistsError:
        return None
    except OSError as error:
        if isinstance(error, PermissionError) or error.errno in (errno.EROFS, errno.ENOENT):
            return _Lock(file, b"")
        raise
    with open(descriptor, "wb") as opened:
        opened.write(words)
    return _Lock(file, words)


def _is_left(lock: str) -> bool:
    """Returns whether the call that took a lock has ended. Writing calls of one session run one at a time."""
    try:
        age = time.time() - os.lstat(lock).st_mtime
    except FileNotFoundError:
        return True
    words = _read(lock, _LOCK_BYTES_MAX)
    session = f"{_host.call().session!r}".encode() if _host is not None else b""
    return age > _CALL_SECONDS_MAX or (words.split(b"\n")[0] == session and not words.endswith(b"asking\n"))


def _remove(lock: str) -> bool:
    """Removes a lock that was left behind, unless another call has done so."""
    aside = f"{lock}.{time.time_ns()}"
    try:
        os.rename(lock, aside)
        if not _is_left(aside):
            os.rename(aside, lock)
        elif os.path.isdir(aside):
            os.rmdir(aside)
        else:
            os.unlink(aside)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


def _check(sqlite3: Any, path: str, rolls_back: bool) -> None:
    """Refuses a database that cannot be read or written safely. The call that takes the lock of a stopped call rolls
    its transaction back."""
    if 2 in _read(path, 20)[18:20]:
        raise sqlite3.OperationalError(
            f"{path} is in WAL mode, which needs memory that programs share, and a component shares none: "
            "run `PRAGMA journal_mode=DELETE` on it in the program that it belongs to"
        )
    own = path in _locks and _locks[path].connections
    if not rolls_back and not own and any(_read(f"{path}-journal", _JOURNAL_HEAD_BYTES)):
        raise sqlite3.OperationalError(
            f"a transaction on {path} is not finished: a program is at work in it, or one was stopped, which a "
            "component cannot tell. Wait for that program, or open the database once with one that may write, such as "
            "`sqlite3 FILE .tables`: this rolls the transaction back"
        )


def _locked(sqlite3: Any, lock: str) -> Exception:
    error: Exception = sqlite3.OperationalError(
        f"database is locked: another call has {lock}. If no call runs that uses it, one was stopped: call again in "
        "its session, or remove that file"
    )
    return error


def _give_back(path: str, lock: _Lock | None) -> None:
    if lock is None or lock.connections or _locks.get(path) is not lock:
        return
    del _locks[path]
    if _read(lock.file, _LOCK_BYTES_MAX).startswith(lock.words):
        with contextlib.suppress(OSError):
            os.unlink(lock.file)


def _read(path: str, size: int) -> bytes:
    """Returns the beginning of a file; empty if it cannot be read."""
    try:
        with open(path, "rb") as file:
            return file.read(size)
    except OSError:
        return b""


def _counter(path: str) -> bytes:
    """Returns the change counter of a database, which SQLite increments with each transaction."""
    return _read(path, 28)[24:]


def _classes(sqlite3: Any) -> tuple[type, type]:
    """Returns mixins for connections and cursors."""

    class Connection:
        _path, _lock, _before = "", None, b""

        def guard(self: Any, path: str, lock: _Lock | None) -> Any:
            self._path, self._lock, self._before = path, lock, _counter(path)
            if lock is not None:
                lock.connections.append(weakref.ref(self))
                # Without spills, an unfinished transaction has written nothing, so that a rollback cannot undo changes
                # that another program made in the meantime.
                sqlite3.Connection.execute(self, "PRAGMA cache_spill = OFF").close()
            return self

        def begin(self: Any, sql: str) -> None:
            """Runs the checks before a statement."""
            if _ATTACH.search(sql):
                raise sqlite3.OperationalError("ATTACH is not safe in a component: open each database by connect")
            if self._lock is None or not self._path:
                return
            if not self.in_transaction:
                self.check_owned()
                self._before = _counter(self._path)
            elif _COMMIT.match(sql):
                self.check_unchanged()

        def check_owned(self: Any) -> None:
            others = [weak() for weak in self._lock.connections]
            if any(other is not None and other is not self and other.in_transaction for other in others):
                raise sqlite3.OperationalError("database is locked: another connection of this call is writing")
            if not _read(self._lock.file, _LOCK_BYTES_MAX).startswith(self._lock.words):
                raise sqlite3.OperationalError(f"database is locked: {self._lock.file} was taken by another call")

        def check_unchanged(self: Any) -> None:
            if self._lock is None or not self.in_transaction:
                return
            if _counter(self._path) != self._before:
                self.rollback()
                raise sqlite3.OperationalError(
                    f"another program changed {self._path} during this transaction: nothing of it was written. A "
                    "component cannot lock other programs out; run the transaction again"
                )
            self.check_owned()

        def cursor(self: Any, factory: Any = None) -> Any:
            return super().cursor(factory or self._cursor)

        def execute(self: Any, sql: str, *parameters: Any) -> Any:
            return self.cursor().execute(sql, *parameters)

        def executemany(self: Any, sql: str, parameters: Any) -> Any:
            return self.cursor().executemany(sql, parameters)

        def executescript(self: Any, sql: str) -> Any:
            return self.cursor().executescript(sql)

        def commit(self: Any) -> None:
            self.check_unchanged()
            super().commit()
            self._before = _counter(self._path)

        def rollback(self: Any) -> None:
            super().rollback()
            self._before = _counter(self._path)

        def __exit__(self: Any, kind: Any, value: Any, frames: Any) -> Any:
            if kind is None:
                self.check_unchanged()
            return super().__exit__(kind, value, frames)

        def close(self: Any) -> None:
            super().close()
            lock, self._lock = self._lock, None
            if lock is not None:
                lock.connections[:] = [weak for weak in lock.connections if weak() not in (None, self)]
                _give_back(self._path, lock)

        def __del__(self: Any) -> None:
            with contextlib.suppress(Exception):
                self.close()

    class Cursor(sqlite3.Cursor):  # type: ignore[misc]
        def execute(self, sql: str, *parameters: Any) -> Any:
            self.connection.begin(sql)
            return super().execute(sql, *parameters)

        def executemany(self, sql: str, parameters: Any) -> Any:
            self.connection.begin(sql)
            return super().executemany(sql, parameters)

        def executescript(self, sql: str) -> Any:
            self.connection.check_unchanged()
            self.connection.begin(sql)
            return super().executescript(sql)

    return Connection, Cursor
