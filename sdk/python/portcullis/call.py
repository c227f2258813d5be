"""Who asked for the running call, and the levels of its log."""

import enum
from dataclasses import dataclass


class Level(enum.IntEnum):
    """The level of a log line. The numbers are those of the module `logging`."""

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
        id: Unique to this call.
        session: Shared by the calls of one conversation.
        message: The message that asked for the call, if the caller named it.
        agent: The agent that asked, if the caller named it.
    """

    id: str
    session: str
    message: str | None = None
    agent: str | None = None
