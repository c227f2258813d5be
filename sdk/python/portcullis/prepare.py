"""Tools that a plugin hides or narrows for some callers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from .context import Context


@dataclass(frozen=True)
class Caller:
    """The caller that tools are offered to.

    Attributes:
        session: The session.
        principal: The name of the caller in the policy, such as `local`. A tool that calls has the name of its own
            caller before its own, such as `local/script`.
        client: The program that calls, as it names itself. Nothing proves it.
        model: The model that calls, if the host knows it.
        automated: Whether a schedule or a program started the session, and not a person.
    """

    session: str
    principal: str
    client: str | None = None
    model: str | None = None
    automated: bool = False


@dataclass(frozen=True)
class Hidden:
    """The tool does not exist for the caller. The reason is for the operator."""

    reason: str


@dataclass(frozen=True)
class Narrowed:
    """The caller is offered another definition of the tool.

    Attributes:
        schema: A JSON Schema 2020-12 that arguments must match besides the tool's own schema. Its root must have
            `"type": "object"`. None keeps the tool's own schema.
        description: The new description for a model. None keeps the tool's own description.
    """

    schema: Mapping[str, Any] | None = None
    description: str | None = None


Availability: TypeAlias = Hidden | Narrowed
"""What a caller is offered of a tool."""


@dataclass(frozen=True)
class Preparation:
    """A tool that a caller is not offered, or of which it is offered less.

    Attributes:
        tool: The name of the tool, without the name of the plugin.
        availability: What the caller is offered of it.
    """

    tool: str
    availability: Availability

    @classmethod
    def hide(cls, tool: str, reason: str) -> Preparation:
        """Hides a tool. The reason is for the operator."""
        return cls(tool, Hidden(reason))

    @classmethod
    def narrow(cls, tool: str, schema: Mapping[str, Any], description: str | None = None) -> Preparation:
        """Narrows the arguments of a tool, and may replace its description.

        Args:
            tool: The name of the tool.
            schema: A JSON Schema 2020-12 that arguments must match besides the tool's own schema. The caller sees it
                instead of that schema. Its root must have `"type": "object"`.
            description: The new description for a model.
        """
        return cls(tool, Narrowed(schema, description))


@dataclass(frozen=True)
class Preparing:
    """The caller of tools that are about to be offered, and the plugin's settings.

    Attributes:
        caller: The caller.
        context: It has the plugin's settings but no handle.
    """

    caller: Caller
    context: Context


Prepare: TypeAlias = Callable[[Preparing], Sequence[Preparation]]
"""Returns the tools that the caller is not offered whole."""
