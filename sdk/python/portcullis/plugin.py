"""A plugin and its tools, declared by decorators."""

import inspect
import re
import types
import typing
from collections.abc import Callable, Collection, Generator
from dataclasses import dataclass, field
from typing import Any, Literal, ParamSpec, TypeAlias, TypeVar

from . import docstrings, schemas, values
from .context import Context
from .failures import DefinitionError, InvalidArguments
from .generate import Generate, RunGenerated
from .outputs import File, Image, Success
from .permissions import Permission as Permission
from .prepare import Prepare
from .review import Review, Verdict
from .toolset import ToolAnswer

Kind: TypeAlias = Literal["directory", "http", "store", "service", "process", "tools"]
"""The kind of handle behind a key."""
Reviewer: TypeAlias = Callable[[Review], Verdict]

P = ParamSpec("P")
R = TypeVar("R")

# As in the contract.
_NAME = re.compile(r"[a-z][a-z0-9_-]{0,63}")
_PERMISSIONS: frozenset[str] = frozenset(typing.get_args(Permission))
# Return types that give no output schema.
_WITHOUT_SCHEMA = (Any, object, str, None, type(None), Success, ToolAnswer, Image, File)

# Schemas that only say that the answer is JSON.
_OPEN: tuple[schemas.Schema, ...] = ({}, {"type": "object", "additionalProperties": True}, {"type": "array"})


@dataclass(frozen=True)
class Tool:
    """One tool: its definition for the host, and its function."""

    name: str
    description: str
    title: str | None
    schema: schemas.Schema
    output_schema: schemas.Schema | None
    required: frozenset[Permission]
    optional: frozenset[Permission]
    hints: frozenset[str]
    _function: Callable[..., Any] = field(repr=False)
    _parse: schemas.Parse = field(repr=False)
    _context: str | None = field(repr=False)

    def run(self, arguments: Any, context: Context) -> Any:
        """Calls the function with arguments from JSON.

        Raises:
            InvalidArguments: They do not match the function's parameters.
            BaseException: Whatever the function raises.
        """
        try:
            named = self._parse(arguments, "")
        except schemas.Mismatch as mismatch:
            raise InvalidArguments(str(mismatch)) from mismatch
        if self._context:
            named[self._context] = context
        return self._function(**named)


@dataclass(frozen=True)
class Dependency:
    """A handle that the plugin asks for."""

    key: str
    kind: Kind
    reason: str
    optional: bool


class Plugin:
    """A plugin: a name, tools, and the handles that they ask for. A module declares one."""

    def __init__(self, name: str, *, version: str, description: str) -> None:
        """Declares the plugin.

        Args:
            name: Its name, which is also that of the component's file.
            version: The author's version.
            description: What it is for, in a sentence.
        """
        self.name = _checked_name("plugin", name)
        self.version = version
        self.description = description
        self.tools: dict[str, Tool] = {}
        self.dependencies: dict[str, Dependency] = {}
        self.review: Reviewer | None = None
        self.generate: Generate | None = None
        self.run_generated: RunGenerated | None = None
        self.prepare: Prepare | None = None

    def tool(
        self,
        *,
        name: str | None = None,
        title: str | None = None,
        requires: Collection[Permission] = (),
        optional: Collection[Permission] = (),
        read_only: bool = False,
        destructive: bool = False,
        idempotent: bool = False,
        open_world: bool = False,
        sequential: bool = False,
    ) -> Callable[[Callable[P, R]], Callable[P, R]]:
        """Turns a function into a tool. The function itself stays unchanged.

        Args:
            name: The tool's name; by default the function's.
            title: A few words for people.
            requires: The permissions that it needs.
            optional: The permissions that it can use but does not need.
            read_only: It changes nothing outside the sandbox.
            destructive: It may destroy or overwrite something.
            idempotent: The same call twice has the effect of one.
            open_world: It reaches things outside the host's control, such as the network.
            sequential: It must not run at the same time as another call of the same session.
        """
        hints = {
            "read_only": read_only,
            "destructive": destructive,
            "idempotent": idempotent,
            "open_world": open_world,
            "sequential": sequential,
        }

        def declare(function: Callable[P, R]) -> Callable[P, R]:
            chosen = _checked_name("tool", name or function.__name__)
            if chosen in self.tools:
                raise DefinitionError(f"there are two tools called `{chosen}`")
            if read_only and "write" in {*requires, *optional}:
                raise DefinitionError(f"the tool `{chosen}` claims to be read-only and asks for `write`")
            description, words = docstrings.parse(function.__doc__)
            if not description:
                raise DefinitionError(f"the tool `{chosen}` needs a docstring: a model chooses tools by it")
            schema, parse, context = _parameters(chosen, function, words)
            output_schema = _output_schema(chosen, function)
            _check_is_json(chosen, [schema, output_schema])
            self.tools[chosen] = Tool(
                name=chosen,
                description=description,
                title=title,
                schema=schema,
                output_schema=output_schema,
                required=_checked_permissions(chosen, requires),
                optional=_checked_permissions(chosen, optional),
                hints=frozenset(hint for hint, is_claimed in hints.items() if is_claimed),
                _function=function,
                _parse=parse,
                _context=context,
            )
            return function

        return declare

    def directory(self, key: str, reason: str, *, optional: bool = False) -> None:
        """Asks for a directory. A call finds it at `/<key>` and with `context.directory(key)`."""
        self._depend("directory", key, reason, optional)

    def http(self, key: str, reason: str, *, optional: bool = False) -> None:
        """Asks for an HTTP client, for `urllib.request` and `context.client(key)`."""
        self._depend("http", key, reason, optional)

    def store(self, key: str, reason: str, *, optional: bool = False) -> None:
        """Asks for a key-value store, for `context.store(key)`."""
        self._depend("store", key, reason, optional)

    def service(self, key: str, reason: str, *, optional: bool = False) -> None:
        """Asks for a service of the application that embeds the host, for `context.service(key)`."""
        self._depend("service", key, reason, optional)

    def process(self, key: str, reason: str, *, optional: bool = False) -> None:
        """Asks for a program of the system, for `context.program(key)` in tools that declare `execute`."""
        self._depend("process", key, reason, optional)

    def toolset(self, key: str, reason: str, *, optional: bool = False) -> None:
        """Asks for tools of other plugins, for `context.tools(key)`."""
        self._depend("tools", key, reason, optional)

    def reviewer(self, function: Reviewer) -> Reviewer:
        """Sets the function that reviews each call before it runs. It can only tighten what the policy decided."""
        if self.review is not None:
            raise DefinitionError("a plugin has one reviewer")
        self.review = function
        return function

    def generator(self, function: Generate) -> Generate:
        """Sets the function that makes more tools when the plugin loads.

        It takes a `Context` with the plugin's settings and the directories that the policy binds, read-only. It must
        return the same tools each time. `generated` runs them.
        """
        if self.generate is not None:
            raise DefinitionError("a plugin has one generator")
        self.generate = function
        return function

    def generated(self, function: RunGenerated) -> RunGenerated:
        """Sets the function that runs the tools of the generator.

        It takes a `GeneratedCall`, and returns as a tool does.
        """
        if self.run_generated is not None:
            raise DefinitionError("one function runs the tools of the generator")
        self.run_generated = function
        return function

    def preparer(self, function: Prepare) -> Prepare:
        """Sets the function that hides or narrows tools for some callers.

        It takes a `Preparing`, and returns the tools that the caller is not offered whole. The same caller must always
        get the same answer. It can only take away, and hiding a tool is no protection.
        """
        if self.prepare is not None:
            raise DefinitionError("a plugin has one preparer")
        self.prepare = function
        return function

    def _depend(self, kind: Kind, key: str, reason: str, optional: bool) -> None:
        if _checked_name("key", key) in self.dependencies:
            raise DefinitionError(f"the key `{key}` is asked for twice")
        self.dependencies[key] = Dependency(key, kind, reason, optional)


def _parameters(
    tool: str, function: Callable[..., Any], words: dict[str, str]
) -> tuple[schemas.Schema, schemas.Parse, str | None]:
    """Returns the schema of a function's parameters, their parser, and the name of the parameter for the context."""
    if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
        raise DefinitionError(f"the tool `{tool}` is async: a call has nothing to run concurrently; remove `async`")
    hints = typing.get_type_hints(function, include_extras=True)
    members: dict[str, tuple[schemas.Shape, bool]] = {}
    context = None
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise DefinitionError(f"the tool `{tool}` takes `{parameter}`: arguments have names")
        if parameter.name not in hints:
            raise DefinitionError(f"the argument `{parameter.name}` of the tool `{tool}` needs a type hint")
        if hints[parameter.name] is Context:
            context = parameter.name
            continue
        try:
            shape = schemas.shape_of(hints[parameter.name])
        except DefinitionError as error:
            raise DefinitionError(f"the argument `{parameter.name}` of the tool `{tool}`: {error}") from error
        is_required = parameter.default is parameter.empty
        shape = schemas.describe(shape, words.pop(parameter.name, None))
        members[parameter.name] = (
            shape if is_required else schemas.with_default(shape, parameter.default),
            is_required,
        )
    unknown = sorted(words.keys() - members.keys() - {context})
    if unknown:
        raise DefinitionError(f"the docstring of the tool `{tool}` describes `{unknown[0]}`, which it does not take")
    schema, parse = schemas.record(f"arguments of {tool}", members)
    return _lift_definitions(schema), parse, context


def _lift_definitions(schema: schemas.Schema) -> schemas.Schema:
    """Moves the definitions of the arguments to the root, where references expect them."""
    definitions: schemas.Schema = {}
    for member in schema["properties"].values():
        definitions |= member.pop("$defs", {})
    return schema | {"$defs": definitions} if definitions else schema


def _output_schema(tool: str, function: Callable[..., Any]) -> schemas.Schema | None:
    """Returns the schema of a JSON answer, if the function has a return type that gives one."""
    hint = typing.get_type_hints(function, include_extras=True).get("return")
    if _is_shapeless(hint):
        return None
    try:
        schema = schemas.shape_of(hint).schema
    except DefinitionError as error:
        raise DefinitionError(f"the answer of the tool `{tool}`: {error}") from error
    return None if schema in _OPEN else schema


def _check_is_json(tool: str, schemas_of_tool: list[schemas.Schema | None]) -> None:
    """Checks bounds and examples. They come from the author, and JSON may not be able to represent them."""
    try:
        values.dumps(schemas_of_tool)
    except (TypeError, ValueError) as error:
        raise DefinitionError(f"a `Field` or a choice of the tool `{tool}`: {error}") from error


def _is_shapeless(hint: Any) -> bool:
    """Returns whether an answer of this type is text, parts, or JSON of any shape."""
    if hint in _WITHOUT_SCHEMA:
        return True
    origin, members = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        return any(_is_shapeless(member) for member in members if member is not type(None))
    if origin is list:
        return any(each in (Image, File) for each in (*members, *typing.get_args(members[0])))
    return isinstance(origin, type) and issubclass(Generator, origin)


def _checked_name(what: str, name: str) -> str:
    if not _NAME.fullmatch(name):
        raise DefinitionError(
            f"`{name}` is not a valid name for a {what}: start with a-z, and use at most 64 of a-z0-9_-"
        )
    return name


def _checked_permissions(tool: str, permissions: Collection[Permission]) -> frozenset[Permission]:
    unknown = frozenset(permissions) - _PERMISSIONS
    if isinstance(permissions, str) or unknown:
        raise DefinitionError(
            f"the tool `{tool}` asks for {permissions!r}: use a list of read, write, execute, network"
        )
    return frozenset(permissions)
