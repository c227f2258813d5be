"""Outputs of tools, other than plain text and plain values."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Image:
    """An image for the model.

    Attributes:
        name: The file name for people, such as `plot.png`. Never a path.
    """

    data: bytes
    media_type: str = "image/png"
    name: str | None = None


@dataclass(frozen=True)
class File:
    """Bytes of any other kind.

    Attributes:
        name: The file name for people, such as `report.csv`. Never a path.
    """

    data: bytes
    media_type: str = "application/octet-stream"
    name: str | None = None


Part = str | Image | File
"""A piece of an answer. A list of these with an image or a file in it is an answer in parts."""


@dataclass(frozen=True)
class Success:
    """An answer with a title for people and metadata for programs. A model does not see the metadata."""

    output: Any
    title: str | None = None
    metadata: Mapping[str, Any] | None = None
