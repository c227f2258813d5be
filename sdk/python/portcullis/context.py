"""The call that is running, as its tool sees it."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from . import _sqlite
from .failures import Cancelled
from .handles import Client, Service, Store, Writer

if TYPE_CHECKING:
    from .host import Host
    from .plugin import Permission

Directory: TypeAlias = Path
"""Where Python's own file functions find a directory that was granted."""


class Level(enum.IntEnum):
    """How much a line of the log matters. The numbers are those of the module `logging`."""

    TRACE = 5
    DEBUG = 10
    INFO = 20
    WARN = 30
    ERROR = 40
    CRITICAL = 50


@dataclass(frozen=True)
class Call:
    """Who asked for the call.

    Attributes:
        id: Of this call alone.
        session: Shared by the calls of one conversation.
        message: The message that asked for the call, where the caller named it.
        agent: The agent that asked, where the caller named it.
    """

    id: str
    session: str
    message: str | None = None
    agent: str | None = None


class Context:
    """The running call. A tool that has a parameter of this type is given one."""

    def __init__(self, host: Host) -> None:
        self._host = host

    @property
    def call(self) -> Call:
        """Who asked."""
        return self._host.call()

    def progress(
        self,
        title: str | None = None,
        *,
        fraction: float | None = None,
        metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Reports progress. What is absent stays as it was; the host drops what exceeds the call's quota.

        Args:
            title: A few words for people.
            fraction: How much is done, from 0 to 1.
            metadata: One JSON object for programs.
        """
        self._host.report(title, metadata, fraction)

    @property
    def is_cancelled(self) -> bool:
        """Whether the caller no longer wants the answer. The call is stopped a short while after this turns true."""
        return self._host.is_cancelled()

    def check_cancelled(self) -> None:
        """Leaves the tool once the caller no longer wants the answer.

        Raises:
            Cancelled: The call was cancelled.
        """
        if self.is_cancelled:
            raise Cancelled

    def ask(self, permission: Permission, resource: str, reason: str) -> None:
        """Asks in the middle of a call whether something may be done. A yes gives no handle that the call lacks.

        Raises:
            Denied: The policy or a person said no; the text says why.
        """
        with _sqlite.asking():
            self._host.ask(permission, resource, reason)

    def directory(self, key: str) -> Directory:
        """The directory that the policy bound to a key of the plugin.

        Raises:
            Failure: The plugin does not ask for the key, or the policy binds nothing to it for this tool.
        """
        return Path(self._host.directory(key))

    def client(self, key: str) -> Client:
        """The HTTP client that the policy bound to a key. Raises as `directory`."""
        return Client(self._host.client(key))

    def store(self, key: str) -> Store:
        """The store that the policy bound to a key. Raises as `directory`."""
        return Store(self._host.store(key))

    def service(self, key: str) -> Service:
        """The service of the embedding application that the policy bound to a key. Raises as `directory`."""
        return Service(self._host.service(key))

    def writer(self) -> Writer:
        """A file for the beginning of the text answer, which the host takes while the tool is still at work.

        Raises:
            Failed: There is no answer to write.
        """
        return Writer(self._host.text())

    def setting(self, key: str) -> str | None:
        """What the policy sets under `config` for this plugin."""
        return self._host.setting(key)

    def log(self, level: Level, message: str) -> None:
        """Writes a line into the record of the call. The module `logging` does the same."""
        self._host.log(level, message)
