"""Restricts imports in the built component to modules that it already contains.

A component has no files of its own. While it is built, this module finds the imports inside functions of the author's
code and packages, and runs them early. It does the same for late imports of the standard library.
"""

import ast
import importlib
import importlib.abc
import importlib.util
import linecache
import os
import sys
from collections.abc import Iterator, Sequence
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType

from . import absent

# Where a build mounts the author's folder and packages. Other modules are this SDK's and Python's own.
_AUTHOR = "/1/"
_PACKAGES = "/3/"
# Modules that much of the standard library imports on use.
_ALWAYS = ["_pylong", "copy", "heapq", "warnings"]
# Modules of the standard library that import others on use, as far as a component can use them (CPython 3.14).
_LATE = {
    "argparse": ["gettext", "shutil", "textwrap"],
    "csv": ["re"],
    "datetime": ["_strptime"],
    "decimal": ["numbers"],
    "difflib": ["re"],
    "email": ["email.parser"],
    "email._parseaddr": ["calendar"],
    "email.feedparser": ["email.message"],
    "email.message": ["email.generator", "email.policy", "quopri"],
    "email.utils": ["email.charset", "random"],
    "fractions": ["decimal"],
    "gettext": ["locale"],
    "hmac": ["hashlib"],
    "importlib.metadata": ["csv", "importlib.metadata._adapters"],
    "importlib.resources._common": ["importlib.resources._adapters"],
    "logging": ["pickle", "traceback"],
    "mimetypes": ["urllib.parse"],
    "pathlib": ["shutil"],
    "pprint": ["dataclasses"],
    "sqlite3": ["sqlite3.dump"],
    "statistics": ["fractions", "numbers"],
    "tarfile": ["gzip"],
    "time": ["_strptime"],
    "traceback": ["linecache", "tokenize"],
    "typing": ["contextlib"],
    "urllib.parse": ["ipaddress", "unicodedata"],
    "urllib.request": ["email.utils", "fnmatch", "http.cookiejar", "ipaddress", "mimetypes"],
    "uuid": ["hashlib"],
    "wave": ["uuid"],
    "xml.dom.minidom": ["xml.dom.expatbuilder", "xml.dom.pulldom"],
    "xml.etree.ElementTree": ["xml.parsers.expat"],
    "xml.sax": ["xml.sax.expatreader"],
    "zoneinfo": ["importlib.resources"],
}
# Common encodings of files and servers. UTF-8 needs no module, the others do.
_ENCODINGS = (
    "ascii latin_1 utf_7 utf_8_sig utf_16 utf_16_le utf_16_be utf_32 utf_32_le utf_32_be idna punycode unicode_escape "
    "cp437 cp850 cp852 cp866 cp874 cp1250 cp1251 cp1252 cp1253 cp1254 cp1255 cp1256 cp1257 cp1258 "
    "iso8859_2 iso8859_3 iso8859_4 iso8859_5 iso8859_6 iso8859_7 iso8859_8 iso8859_9 iso8859_10 iso8859_11 iso8859_13 "
    "iso8859_14 iso8859_15 iso8859_16 koi8_r koi8_u mac_roman "
    "shift_jis cp932 euc_jp iso2022_jp gbk gb2312 gb18030 big5 cp950 euc_kr cp949"
).split()
# Modules that the runtime of componentize-py imports after the author's module, in addition to the bindings.
_RUNTIME = ["componentize_py_types", "random", "weakref"]
_BINDINGS = ["wit_world.imports", "wit_world.exports"]
# Maximum number of modules to search for late imports, including those that late imports load.
_MODULES_MAX = 500
# Maximum length of the stored reason for a failed import, in characters.
_REASON_CHARS_MAX = 500
# Why late imports failed, by the names of the modules.
_failed: dict[str, str] = {}


def close() -> None:
    """Runs the late imports now, and prevents later imports from searching for files."""
    for encoding in _ENCODINGS:
        _try(f"encodings.{encoding}")
    for module in _RUNTIME + _ALWAYS:
        importlib.import_module(module)
    for package in _BINDINGS:
        for file in os.listdir(importlib.import_module(package).__path__[0]):
            if file.endswith(".py") and file != "__init__.py":
                importlib.import_module(f"{package}.{file.removesuffix('.py')}")
    seen: set[str] = set()
    while len(seen) < _MODULES_MAX:
        fresh = [module for module in sys.modules if module not in seen]
        if not fresh:
            break
        for module in fresh:
            seen.add(module)
            for late in _late(module):
                _try(late)
    # A directory that is granted with the key `python` or `1` must not become an import path.
    sys.path.clear()
    sys.path_importer_cache.clear()
    sys.meta_path.remove(PathFinder)
    sys.meta_path.append(_Closed())


class _Closed(importlib.abc.MetaPathFinder):
    """The last finder: raises an error that explains why a module is missing."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname in absent.WORDS:
            raise absent.refusal(fullname)
        if fullname in _failed:
            raise ModuleNotFoundError(
                f"`{fullname}` could not be imported while the component was built: {_failed[fullname]}", name=fullname
            )
        raise ModuleNotFoundError(
            f"no module `{fullname}` is in this component: import it at the top of a module, "
            "so that the build includes it. Modules that CPython does not build for WebAssembly are never available",
            name=fullname,
        )


def _late(name: str) -> Iterator[str]:
    yield from _LATE.get(name, ())
    module = sys.modules.get(name)
    file = getattr(module, "__file__", None) or ""
    if not file.endswith(".py") or not file.startswith((_AUTHOR, _PACKAGES)):
        return
    with open(file, encoding="utf-8") as source:
        text = source.read()
    if file.startswith(_AUTHOR):
        # Lets a traceback in the log show the author's lines.
        linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    package = getattr(module, "__package__", None) or ""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = importlib.util.resolve_name("." * node.level + (node.module or ""), package)
            yield base
            yield from (f"{base}.{alias.name}" for alias in node.names)


def _try(name: str) -> None:
    """Tries to import a module. The import may be conditional, or name a class instead of a module."""
    parent, _, child = name.rpartition(".")
    try:
        if name not in sys.modules and not (parent and hasattr(sys.modules.get(parent), child)):
            importlib.import_module(name)
    except Exception as error:
        # If the author's code reaches this import, it gets the same error.
        if getattr(error, "name", None) != name:
            _failed[name] = str(error)[:_REASON_CHARS_MAX]
