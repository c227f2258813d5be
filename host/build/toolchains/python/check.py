"""Finds errors in the source of a plugin that would fail its build some seconds later, without running the source.

python3 -I check.py FOLDER MODULE PREFIX VERSION: the folder of the modules, the file of the plugin's module in it, the
prefix of files in messages, and the Python version that will run them, such as 3.14. Prints the first error or
nothing. It reports only what is certainly an error, and leaves the rest to the build.
"""

import ast
import os
import re
import sys
import warnings

# As in the SDK's `plugin.py`.
NAME = re.compile(r"[a-z][a-z0-9_-]{0,63}")
PERMISSIONS = {"read", "write", "execute", "network"}
TOOL_OPTIONS = {
    *("name", "title", "requires", "optional"),
    *("read_only", "destructive", "idempotent", "open_world", "sequential"),
}
# Valid syntax that an older Python refuses: type parameters, `type`, `except` with several types and no parentheses,
# and template strings.
NEWER = re.compile(r"""(def|class)\s+\w+\s*\[|^\s*type\s+\w+|except\*?\s[^:(]*,|\b[rR]?[tT][rR]?['"]""")
# The beginning of a string with replacement fields. An older Python ends it at the next quote, even in a field.
FORMATTED = re.compile(r"""\b[rR]?[fFtT][rR]?('{3}|"{3}|'|")""")
# As in the SDK's `imports.py`.
MODULES_MAX = 500


class Found(Exception):
    """An error in the source."""


def main(folder, module, prefix, version):
    knows = sys.version_info[:2] >= tuple(int(part) for part in version.split("."))
    source = os.path.join(folder, module)
    modules, waiting = {}, [source]
    while waiting and len(modules) < MODULES_MAX:
        file = waiting.pop(0)
        if file in modules:
            continue
        tree = parsed(file, os.path.join(prefix, os.path.relpath(file, folder)), knows)
        if tree is None:
            return
        modules[file] = tree
        waiting += imported(tree, file, folder)
    shown = {file: os.path.join(prefix, os.path.relpath(file, folder)) for file in modules}
    plugins = {file: set(plugins_of(tree, shown[file])) for file, tree in modules.items()}
    tools = {}
    for file, tree in modules.items():
        known = plugins[file] | set(plugins_from(tree, file, folder, plugins))
        for node in tree.body:
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and len(node.decorator_list) == 1:
                check_tool(node, known, shown[file], tools)
    check_module(modules, source, shown[source], plugins[source])


def parsed(file, shown, knows):
    """Parses a module. Returns None if an error may be the syntax of a newer Python."""
    with open(file, "rb") as opened:
        text = opened.read()
    try:
        tree = ast.parse(text, shown)
        # Some errors are found only by the compiler.
        compile(text, shown, "exec", dont_inherit=True)
        return tree
    except SyntaxError as error:
        if not knows and may_be_newer(text.decode(errors="replace"), error):
            return None
        raise Found(words(error, shown)) from None


def may_be_newer(text, error):
    """Returns whether an error may be valid syntax of a newer Python."""
    lines, line = text.splitlines(), error.lineno or 1
    end = max(line, error.end_lineno or line)
    near = lines[max(0, line - 2) : end]
    before = "\n".join(lines[:end])
    return error.msg.startswith("f-string") or any(NEWER.search(each) for each in near) or has_quotes_in_fields(before)


def has_quotes_in_fields(text):
    """Returns whether a string, as an older Python parses it, ends inside one of its fields."""
    for match in FORMATTED.finditer(text):
        inside = text[match.end() :].split(match.group(1), 1)[0].replace("{{", "").replace("}}", "")
        if inside.count("{") > inside.count("}"):
            return True
    return False


def words(error, shown):
    """Formats a syntax error as Python does."""
    lines = [f'  File "{shown}", line {error.lineno}']
    if error.text and error.text.strip():
        text = error.text.rstrip("\n")
        begin = len(text) - len(text.lstrip())
        lines.append(f"    {text[begin:]}")
        if error.offset and error.offset > begin:
            end = error.end_offset if error.end_lineno == error.lineno and error.end_offset else 0
            lines.append("    " + " " * (error.offset - 1 - begin) + "^" * max(1, end - error.offset))
    return "\n".join([*lines, f"{type(error).__name__}: {error.msg}"])


def imported(tree, file, folder):
    """Yields the files of the project that a module imports at its top level."""
    for node in tree.body:
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield from files_of(folder, alias.name.split("."))
        elif isinstance(node, ast.ImportFrom):
            base = folder
            if node.level:
                base = os.path.dirname(file)
                for _ in range(node.level - 1):
                    base = os.path.dirname(base)
            parts = node.module.split(".") if node.module else []
            yield from files_of(base, parts)
            for alias in node.names:
                yield from files_of(base, [*parts, alias.name])


def plugins_from(tree, file, folder, plugins):
    """Yields the names of plugins that a module imports from other modules of the project."""
    for node in tree.body:
        if isinstance(node, ast.ImportFrom):
            sources = [source for source in imported(ast.Module([node], []), file, folder) if source in plugins]
            declared = set().union(*(plugins[source] for source in sources))
            yield from (alias.asname or alias.name for alias in node.names if alias.name in declared)


def files_of(base, parts):
    """Yields the existing files of a dotted name, from its first package on."""
    for part in parts:
        base = os.path.join(base, part)
        for file in (f"{base}.py", os.path.join(base, "__init__.py")):
            if os.path.isfile(file):
                yield file


def at(shown, node, text):
    return Found(f"{shown}:{node.lineno}: {text}")


def is_plugin_class(tree, node):
    if isinstance(node, ast.Attribute):
        return node.attr == "Plugin" and isinstance(node.value, ast.Name) and node.value.id == "portcullis"
    imports = [each for each in tree.body if isinstance(each, ast.ImportFrom) and each.module == "portcullis"]
    names = {alias.asname or alias.name for each in imports for alias in each.names if alias.name == "Plugin"}
    return isinstance(node, ast.Name) and node.id in names


def plugins_of(tree, shown):
    """Yields the names of the variables that a module assigns plugins to."""
    for node in tree.body:
        if not (isinstance(node, ast.Assign) and isinstance(node.value, ast.Call)):
            continue
        call = node.value
        if not is_plugin_class(tree, call.func):
            continue
        check_name(shown, call, "plugin", call.args[0] if call.args else None)
        given = {keyword.arg for keyword in call.keywords}
        missing = [f"{name}=" for name in ("version", "description") if name not in given and None not in given]
        if missing:
            raise at(shown, call, f"the plugin needs {' and '.join(missing)}")
        yield from (target.id for target in node.targets if isinstance(target, ast.Name))


def check_name(shown, node, what, name):
    if isinstance(name, ast.Constant) and isinstance(name.value, str) and not NAME.fullmatch(name.value):
        text = f"`{name.value}` is not a valid name for a {what}: start with a-z, and use at most 64 of a-z0-9_-"
        raise at(shown, node, text)


def check_tool(node, plugins, shown, tools):
    """Checks a function at the top level of a module whose one decorator may make it a tool."""
    decorator = node.decorator_list[0]
    call = decorator.func if isinstance(decorator, ast.Call) else decorator
    if not (isinstance(call, ast.Attribute) and call.attr == "tool" and isinstance(call.value, ast.Name)):
        return
    if call.value.id not in plugins:
        return
    if call is decorator:
        raise at(shown, decorator, f"`@{call.value.id}.tool` needs parentheses: `@{call.value.id}.tool()`")
    options = {keyword.arg: keyword.value for keyword in decorator.keywords}
    if decorator.args:
        raise at(shown, decorator, f"`{call.value.id}.tool` takes only keyword arguments")
    unknown = sorted(options.keys() - TOOL_OPTIONS - {None})
    if unknown:
        raise at(shown, decorator, f"`{call.value.id}.tool` has no option `{unknown[0]}`")
    if None in options:
        return
    given = options.get("name", ast.Constant(node.name))
    check_name(shown, decorator, "tool", given)
    name = given.value if isinstance(given, ast.Constant) and isinstance(given.value, str) else node.name
    if "name" not in options or isinstance(given, ast.Constant):
        if name in tools:
            raise at(shown, node, f"there are two tools called `{name}`: the other one is in {tools[name]}")
        tools[name] = f"{shown}:{node.lineno}"
    asked = set()
    for option in ("requires", "optional"):
        asked |= permissions(options.get(option), name, shown)
    read_only = options.get("read_only")
    if isinstance(read_only, ast.Constant) and read_only.value is True and "write" in asked:
        raise at(shown, decorator, f"the tool `{name}` claims to be read-only and asks for `write`")
    if not (ast.get_docstring(node) or "").strip():
        raise at(shown, node, f"the tool `{name}` needs a docstring: a model chooses tools by it")
    check_parameters(node, name, shown)


def permissions(node, name, shown):
    """Returns the permissions that are literals."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        raise at(shown, node, f"the tool `{name}` asks for {node.value!r}: use a list of read, write, execute, network")
    if not isinstance(node, (ast.List, ast.Tuple, ast.Set)):
        return set()
    words = {each.value for each in node.elts if isinstance(each, ast.Constant)}
    unknown = [word for word in words if word not in PERMISSIONS]
    if unknown:
        text = f"the tool `{name}` asks for {unknown[0]!r}: use a list of read, write, execute, network"
        raise at(shown, node, text)
    return words


def check_parameters(node, name, shown):
    if isinstance(node, ast.AsyncFunctionDef):
        raise at(shown, node, f"the tool `{name}` is async: a call has nothing to run concurrently; remove `async`")
    others = [*node.args.posonlyargs, *filter(None, [node.args.vararg, node.args.kwarg])]
    if others:
        raise at(shown, others[0], f"the tool `{name}` takes `{others[0].arg}`: arguments have names")
    for argument in [*node.args.args, *node.args.kwonlyargs]:
        if argument.annotation is None:
            raise at(shown, argument, f"the argument `{argument.arg}` of the tool `{name}` needs a type hint")


def check_module(modules, source, shown, plugins):
    """Checks that the modules can declare a plugin and a tool at all."""
    tree = modules[source]
    nodes = [node for each in modules.values() for node in ast.walk(each)]
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    attributes = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    stars = any(alias.name == "*" for node in nodes if isinstance(node, ast.ImportFrom) for alias in node.names)
    calls = {alias.asname for node in nodes if isinstance(node, ast.ImportFrom) for alias in node.names} - {None}
    if stars or calls or "exec" in names or "getattr" in names:
        return
    if len(plugins) == 0 and "Plugin" not in names | attributes and not any_other_imports(tree):
        raise Found(f'{shown} declares 0 plugins: write plugin = Plugin("name", ...) once')
    if len(plugins) == 1 and not {"tool", "tools", "generator"} & attributes and len(modules) == 1 and not any_other_imports(tree):
        raise Found(f"{shown} declares no tool: put @plugin.tool() above a function")


def any_other_imports(tree):
    """Returns whether the module imports something other than Python's library and the SDK, with unknown content."""
    known = sys.stdlib_module_names | {"portcullis", "__future__"}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import) and any(alias.name.split(".")[0] not in known for alias in node.names):
            return True
        if isinstance(node, ast.ImportFrom) and (node.level or (node.module or "").split(".")[0] not in known):
            return True
    return False


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")
    try:
        main(*sys.argv[1:])
    except Found as found:
        print(found)
