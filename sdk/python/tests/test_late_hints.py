"""Hints that are texts until somebody asks for them."""

from __future__ import annotations

import unittest
from typing import Annotated, NotRequired, Required, TypedDict

from portcullis.schemas import shape_of


class Options(TypedDict):
    depth: int
    note: NotRequired[str]
    more: Annotated[NotRequired[str], "More."]


class Partial(TypedDict, total=False):
    depth: Required[int]
    note: str


class LateHints(unittest.TestCase):
    def test_a_typed_dict_knows_what_may_be_missing(self) -> None:
        for hint in (Options, Partial):
            shape = shape_of(hint)
            self.assertEqual(shape.schema["required"], ["depth"])
            self.assertEqual(shape.parse({"depth": 1}, ""), {"depth": 1})


if __name__ == "__main__":
    unittest.main()
