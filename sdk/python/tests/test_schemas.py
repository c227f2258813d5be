"""Type hints as schemas, and values as the types."""

import datetime
import enum
import unittest
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, NamedTuple, NotRequired, Optional, TypedDict

from portcullis import DefinitionError, Field
from portcullis.schemas import Mismatch, shape_of


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


@dataclass
class Point:
    """A point.

    Attributes:
        x: East of the origin.
        color: Its colour.
    """

    x: int
    color: Color = Color.RED


@dataclass
class Tree:
    name: str
    children: list["Tree"] = field(default_factory=list)


@dataclass(frozen=True)
class Place:
    row: int


class Pair(NamedTuple):
    left: int
    right: Place


class Options(TypedDict):
    """Options."""

    depth: int
    note: NotRequired[str]


class Schemas(unittest.TestCase):
    def test_plain_types(self) -> None:
        cases: list[tuple[Any, dict[str, Any]]] = [
            (str, {"type": "string"}),
            (int, {"type": "integer"}),
            (float, {"type": "number"}),
            (bool, {"type": "boolean"}),
            (None, {"type": "null"}),
            (Any, {}),
            (list, {"type": "array"}),
            (list[int], {"type": "array", "items": {"type": "integer"}}),
            (set[str], {"type": "array", "items": {"type": "string"}, "uniqueItems": True}),
            (dict[str, int], {"type": "object", "additionalProperties": {"type": "integer"}}),
            (dict, {"type": "object", "additionalProperties": True}),
            (Optional[int], {"type": ["integer", "null"]}),  # noqa: UP045
            (int | float, {"type": "number"}),
            (Literal["a", "b"], {"type": "string", "enum": ["a", "b"]}),
            (Color, {"type": "string", "enum": ["red", "blue"]}),
            (datetime.date, {"type": "string", "format": "date"}),
            (Annotated[int, "How many."], {"description": "How many.", "type": "integer"}),
            (Annotated[str, Field(min_length=1)], {"type": "string", "minLength": 1}),
        ]
        for hint, schema in cases:
            with self.subTest(hint=hint):
                self.assertEqual(shape_of(hint).schema, schema)

    def test_a_dataclass_is_a_closed_object(self) -> None:
        shape = shape_of(Point)
        self.assertEqual(
            shape.schema,
            {
                "description": "A point.",
                "type": "object",
                "properties": {
                    "x": {"description": "East of the origin.", "type": "integer"},
                    "color": {
                        "description": "Its colour.",
                        "type": "string",
                        "enum": ["red", "blue"],
                        "default": "red",
                    },
                },
                "additionalProperties": False,
                "required": ["x"],
            },
        )
        self.assertEqual(shape.parse({"x": 2.0, "color": "blue"}, ""), Point(2, Color.BLUE))

    def test_a_typed_dict_knows_what_may_be_missing(self) -> None:
        shape = shape_of(Options)
        self.assertEqual(shape.schema["required"], ["depth"])
        self.assertEqual(shape.parse({"depth": 1}, ""), {"depth": 1})

    def test_arrays_arrive_as_the_type_of_the_hint(self) -> None:
        cases: list[tuple[Any, Any, Any]] = [
            (Pair, [1, {"row": 2}], Pair(1, Place(2))),
            (tuple, [1, "a"], (1, "a")),
            (set[Place], [{"row": 1}, {"row": 1}], {Place(1)}),
            (frozenset[tuple[int, str] | None], [[1, "a"], None], frozenset({(1, "a"), None})),
        ]
        for hint, value, expected in cases:
            with self.subTest(hint=hint):
                parsed = shape_of(hint).parse(value, "")
                self.assertEqual((type(parsed), parsed), (type(expected), expected))
        with self.assertRaisesRegex(Mismatch, "x must be an array of strings"):
            shape_of(set[Any]).parse([[]], "x")
        with self.assertRaisesRegex(Mismatch, r"\[1\].row must be an integer"):
            shape_of(Pair).parse([1, {"row": "2"}], "")

    def test_what_contains_itself_is_defined_once(self) -> None:
        shape = shape_of(Tree)
        self.assertEqual(shape.schema["$ref"], "#/$defs/Tree")
        tree = shape.parse({"name": "a", "children": [{"name": "b"}]}, "")
        self.assertEqual(tree, Tree("a", [Tree("b")]))

    def test_a_mismatch_says_where(self) -> None:
        cases = [
            (Point, {"x": True}, "x must be an integer"),
            (Point, {"x": 1, "y": 2}, "y must be left out"),
            (Point, {}, "x must be given"),
            (list[Point], [{"x": 1}, {"x": 1, "color": "green"}], "[1].color must be one of 'red', 'blue'"),
            (tuple[int, str], [1], "the value must be an array of 2"),
            (datetime.date, "soon", "the value must be a date"),
        ]
        for hint, value, words in cases:
            with self.subTest(hint=hint), self.assertRaises(Mismatch) as caught:
                shape_of(hint).parse(value, "")
            self.assertIn(words, str(caught.exception))

    def test_what_json_lacks_is_refused_at_once(self) -> None:
        for hint in (complex, dict[int, str], bytes, set[Point], set[list[int]], set[tuple[dict[str, int], ...]]):
            with self.subTest(hint=hint), self.assertRaises(DefinitionError):
                shape_of(hint)
