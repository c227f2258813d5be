"""The running call."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TypeAlias

from . import _sqlite
from .call import Call as Call
from .call import Level as Level
from .failures import Cancelled
from .handles import Client, Service, Store, Writer
from .host import Host
from .outputs import File, Image
from .permissions import Permission
from .programs import Program
from .toolset import Toolset

Directory: TypeAlias = Path
"""The path of a granted directory for Python's own file functions."""


class Context:
    """The running call. A tool gets it through a parameter of this type."""

    def __init__(self, host: Host) -> None:
        self._host = host

    @property
    def call(self) -> Call:
        """Who asked for the call."""
        return self._host.call()

    def progress(
        self,
        title: str | None = None,
        *,
        fraction: float | None = None,
        metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Reports progress. An absent value keeps its last state. The host drops reports over the call's quota.

        Args:
            title: A few words for people.
            fraction: The completed fraction, from 0 to 1.
            metadata: One JSON object for programs.
        """
        self._host.report(title, metadata, fraction)

    @property
    def is_cancelled(self) -> bool:
        """Whether the caller has cancelled the call. The host stops the call shortly after this becomes true."""
        return self._host.is_cancelled()

    def check_cancelled(self) -> None:
        """Raises once the caller has cancelled the call.

        Raises:
            Cancelled: The call was cancelled.
        """
        if self.is_cancelled:
            raise Cancelled

    def ask(self, permission: Permission, resource: str, reason: str) -> None:
        """Asks during a call whether an action is allowed. Approval gives the call no handle that it does not have.

        Raises:
            Denied: The policy or an approver denied it; the text says why.
        """
        with _sqlite.asking():
            self._host.ask(permission, resource, reason)

    def keep(self, file: Image | File) -> None:
        """Keeps a file for people beside the answer, such as a transcript.

        The caller gets its name, media type and size, and a reference to read it with. Only a call that succeeds keeps
        its files. A tool cannot keep files beside a text that it writes with `writer`, or beside JSON with an output
        schema.

        Raises:
            Failed: There are already 8 files, or the answer cannot have any.
        """
        self._host.keep(file)

    def directory(self, key: str) -> Directory:
        """Returns the directory that the policy binds to a key of the plugin.

        Raises:
            Failure: The plugin does not ask for the key, or the policy does not bind it for this tool.
        """
        return Path(self._host.directory(key))

    def client(self, key: str) -> Client:
        """Returns the HTTP client that the policy binds to a key. Raises like `directory`."""
        return Client(self._host.client(key))

    def store(self, key: str) -> Store:
        """Returns the store that the policy binds to a key. Raises like `directory`."""
        return Store(self._host.store(key))

    def service(self, key: str) -> Service:
        """Returns the service of the embedding application that the policy binds to a key. Raises like `directory`."""
        return Service(self._host.service(key))

    def program(self, key: str) -> Program:
        """Returns the program that the policy binds to a key. Nothing runs yet. Raises like `directory`."""
        return Program(self._host.program(key), self._host)

    def tools(self, key: str) -> Toolset:
        """Returns the tools of other plugins that the policy binds to a key. Nothing is called yet. Raises like
        `directory`."""
        return Toolset(self._host.toolset(key))

    def writer(self) -> Writer:
        """Returns a file for the beginning of the text answer, which the host stores while the tool runs.

        Raises:
            Failed: There is no answer to write.
        """
        return Writer(self._host.text())

    def setting(self, key: str) -> str | None:
        """Returns a setting of the policy's `config` for this plugin."""
        return self._host.setting(key)

    def log(self, level: Level, message: str) -> None:
        """Writes a line to the audit log of the call. The module `logging` does the same."""
        self._host.log(level, message)
