"""A plugin's review of its calls. It can only tighten what the policy decided."""

from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True)
class Clear:
    """The plugin has no objection to the call."""


@dataclass(frozen=True)
class Ask:
    """The call needs approval; the text tells the approver why."""

    text: str


@dataclass(frozen=True)
class Refuse:
    """The call must not run; the text says why."""

    text: str


Verdict = Clear | Ask | Refuse


class Names(Protocol):
    """Knows what the policy names."""

    def names_host(self, key: str, url: str) -> bool: ...


@dataclass(frozen=True)
class Review:
    """A call to review. A review has no handles, and low limits for time and memory."""

    tool: str
    arguments: dict[str, Any]
    host: Names

    def names_host(self, key: str, url: str) -> bool:
        """Returns whether the policy's binding of an HTTP key names the host of a URL.

        Raises:
            Failure: The manifest does not ask for the key, or the policy does not bind it.
        """
        return self.host.names_host(key, url)
