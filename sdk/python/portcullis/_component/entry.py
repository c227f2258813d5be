"""Loads the author's module while the component is built, and creates the classes that the world exports."""

import gc
import importlib
import os
from types import ModuleType
from typing import Any

from wit_world import exports
from wit_world.imports import portcullis_tool_types as contract

from .. import answers, values
from ..failures import Cancelled, DefinitionError, Denied, Failure, InvalidArguments, Unavailable
from ..generate import GeneratedTool
from ..outputs import File, Image, Part
from ..plugin import Dependency, Plugin, Tool
from ..prepare import Caller, Hidden, Preparation
from ..review import Ask, Clear, Refuse
from . import imports, network, record
from .host import ComponentHost, Err, names_host


def load(name: str) -> tuple[type, type, type, type]:
    """Imports the author's module. Returns the classes `Handler`, `Reviewer`, `Generator` and `Preparer`."""
    network.watch()
    plugin = _plugin_of(_import(name))
    host = ComponentHost()
    network.install(plugin)
    record.install(host)
    handler, reviewer = _handler(plugin, host), _reviewer(plugin)
    generator, preparer = _generator(plugin, host), _preparer(plugin, host)
    imports.close()
    # Everything up to now is permanent. Freezing it keeps the garbage collector from touching its pages, so they stay
    # shared.
    gc.collect()
    gc.freeze()
    return handler, reviewer, generator, preparer


def _import(name: str) -> ModuleType:
    module = importlib.import_module(name)
    if not getattr(module, "__file__", "").startswith("/1/"):
        raise DefinitionError(f"`{name}` is a module of Python's standard library: rename {name}.py")
    return module


def _plugin_of(module: ModuleType) -> Plugin:
    found = [value for value in vars(module).values() if isinstance(value, Plugin)]
    if len(found) != 1:
        raise DefinitionError(
            f'{module.__name__}.py declares {len(found)} plugins: write plugin = Plugin("name", ...) once'
        )
    if not found[0].tools and found[0].generate is None:
        raise DefinitionError(f"{module.__name__}.py declares no tool: put @plugin.tool() above a function")
    return found[0]


def _handler(plugin: Plugin, host: ComponentHost) -> type:
    manifest = contract.Manifest(
        plugin.name,
        plugin.version,
        plugin.description,
        [_definition(tool) for tool in plugin.tools.values()],
        [_dependency(dependency) for dependency in plugin.dependencies.values()],
    )

    class Handler:
        def describe(self) -> contract.Manifest:
            return manifest

        def execute_raw(self, tool: str, arguments: str) -> contract.Success:
            try:
                return _success(answers.run(plugin, tool, arguments, host))
            except Failure as failure:
                raise Err(_failure(failure)) from None
            except BaseException as error:
                # There may be no memory to convert the answer. An exception that leaves this method ends the instance.
                raise Err(contract.Failure_Failed(type(error).__name__)) from None
            finally:
                answers.flush()

    return Handler


def _check_exported(interface: str, function: object | None) -> None:
    """Checks that the world of the component exports the interface of a function."""
    if function is not None and not hasattr(exports, interface.capitalize()):
        # The build searches the source for this line before it imports the plugin.
        raise DefinitionError(
            f"put @plugin.{interface} at the beginning of a line, in the module that declares the plugin"
        )


def _reviewer(plugin: Plugin) -> type:
    _check_exported("reviewer", plugin.review)

    class Reviewer:
        def review(self, tool: str, arguments: str) -> contract.Verdict:
            match answers.review(plugin, tool, arguments, _Names()):
                case Clear():
                    return contract.Verdict_Clear()
                case Ask(text):
                    return contract.Verdict_Ask(text)
                case Refuse(text):
                    return contract.Verdict_Refuse(text)

    return Reviewer


def _generator(plugin: Plugin, host: ComponentHost) -> type:
    _check_exported("generator", plugin.generate)
    if (plugin.generate is None) != (plugin.run_generated is None):
        raise DefinitionError("@plugin.generator makes tools, and @plugin.generated runs them: write both")

    class Generator:
        def generate(self) -> list[contract.Definition]:
            try:
                return [_generated(tool) for tool in answers.generate(plugin, host)]
            except Failure as failure:
                raise Err(values.sendable(failure.text)) from None
            except BaseException as error:
                # Such as a schema that JSON cannot represent. An exception that leaves this method ends the instance.
                raise Err(values.sendable(f"{type(error).__name__}: {error}")) from None
            finally:
                answers.flush()

    return Generator


def _generated(tool: GeneratedTool) -> contract.Definition:
    return contract.Definition(
        values.sendable(tool.name),
        None if tool.title is None else values.sendable(tool.title),
        values.sendable(tool.description),
        values.dumps(tool.schema),
        None if tool.output_schema is None else values.dumps(tool.output_schema),
        _flags(contract.Permissions, frozenset(tool.requires)),
        _flags(contract.Permissions, frozenset(tool.optional)),
        _flags(contract.Hints, frozenset(tool.hints)),
    )


def _preparer(plugin: Plugin, host: ComponentHost) -> type:
    _check_exported("preparer", plugin.prepare)

    class Preparer:
        def prepare(self, caller: Any) -> list[Any]:
            offered = Caller(caller.session, caller.principal, caller.client, caller.model, caller.automated)
            try:
                return [_preparation(preparation) for preparation in answers.prepare(plugin, offered, host)]
            except Failure:
                # The contract has no error for it. The host shows the operator what `answers` has logged.
                answers.flush()
                os._exit(1)
            finally:
                answers.flush()

    return Preparer


def _preparation(preparation: Preparation) -> Any:
    # Only a world with a preparer has these types.
    types: Any = exports.preparer
    match preparation.availability:
        case Hidden(reason):
            availability = types.Availability_Hidden(values.sendable(reason))
        case narrowed:
            description = None if narrowed.description is None else values.sendable(narrowed.description)
            schema = None if narrowed.schema is None else values.dumps(narrowed.schema)
            availability = types.Availability_Narrowed(types.Narrowing(description, schema))
    return types.Preparation(preparation.tool, availability)


class _Names:
    def names_host(self, key: str, url: str) -> bool:
        return names_host(key, url)


def _definition(tool: Tool) -> contract.Definition:
    return contract.Definition(
        tool.name,
        tool.title,
        tool.description,
        values.dumps(tool.schema),
        None if tool.output_schema is None else values.dumps(tool.output_schema),
        _flags(contract.Permissions, tool.required),
        _flags(contract.Permissions, tool.optional),
        _flags(contract.Hints, tool.hints),
    )


def _flags(kind: Any, names: frozenset[str]) -> Any:
    flags = kind(0)
    for name in names:
        flags |= kind[name.upper()]
    return flags


def _dependency(dependency: Dependency) -> contract.Dependency:
    kind = contract.DependencyKind[dependency.kind.upper()]
    return contract.Dependency(dependency.key, kind, dependency.optional, dependency.reason)


def _success(answer: answers.Answer) -> contract.Success:
    return contract.Success(answer.title, _output(answer.output), answer.metadata)


def _output(output: str | answers.Json | list[Part]) -> contract.Output:
    match output:
        case answers.Json(text):
            return contract.Output_Json(text)
        case str(text):
            return contract.Output_Text(text)
        case parts:
            return contract.Output_Parts([_part(part) for part in parts])


def _part(part: Part) -> contract.Part:
    match part:
        case str(text):
            return contract.Part_Text(text)
        case Image(data, media_type, name):
            return contract.Part_Image(contract.Blob(name, media_type, data))
        case File(data, media_type, name):
            return contract.Part_File(contract.Blob(name, media_type, data))


def _failure(failure: Failure) -> contract.Failure:
    text = values.sendable(failure.text)
    match failure:
        case InvalidArguments():
            return contract.Failure_InvalidArguments(text)
        case Denied():
            return contract.Failure_Denied(text)
        case Unavailable():
            return contract.Failure_Unavailable(contract.Outage(text, None))
        case Cancelled():
            return contract.Failure_Cancelled()
        case _:
            return contract.Failure_Failed(text)
