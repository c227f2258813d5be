"""A plugin's own opinion of a call. It can only tighten what the policy decided."""

from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True)
class Clear:
    """The plugin has nothing to say against the call."""


@dataclass(frozen=True)
class Ask:
    """A person should look; the text says at what."""

    text: str


@dataclass(frozen=True)
class Refuse:
    """The call is not to run; the text says why."""

    text: str


Verdict = Clear | Ask | Refuse


class Names(Protocol):
    """Knows what the policy names."""

    def names_host(self, key: str, url: str) -> bool: ...


@dataclass(frozen=True)
class Review:
    """A call that is to be reviewed. There are no handles, little time and little memory."""

    tool: str
    arguments: dict[str, Any]
    host: Names

    def names_host(self, key: str, url: str) -> bool:
        """Whether the policy names the host of a URL in what it binds to an HTTP key.

        Raises:
            Failure: The manifest does not ask for the key, or the policy binds nothing to it.
        """
        return self.host.names_host(key, url)
