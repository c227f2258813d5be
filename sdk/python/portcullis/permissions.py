"""The permissions that a tool may use."""

from typing import Literal, TypeAlias

Permission: TypeAlias = Literal["read", "write", "execute", "network"]
"""A permission that a tool may use."""
