"""What a tool answers with, beyond a plain text or a plain value."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Image:
    """A picture for the model to see."""

    data: bytes
    media_type: str = "image/png"


@dataclass(frozen=True)
class File:
    """Bytes of any other kind."""

    data: bytes
    media_type: str = "application/octet-stream"


Part = str | Image | File
"""A piece of an answer. A tool that returns a list of these, with a picture or a file in it, answers in parts."""


@dataclass(frozen=True)
class Success:
    """An answer with words for people and an object for programs, which a model does not see."""

    output: Any
    title: str | None = None
    metadata: Mapping[str, Any] | None = None
