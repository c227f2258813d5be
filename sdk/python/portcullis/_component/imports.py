"""What can be imported once the component is built: nothing that is not in it already.

A component has no files of its own. Before it is closed, the imports that the author and the author's packages make
within functions are found in their source and done, and so are those that the standard library makes late.
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

# Where a build puts the author's folder and the author's packages; the rest is this SDK's and Python's own.
_AUTHOR = "/1/"
_PACKAGES = "/3/"
# What much of the standard library imports when it is used, whatever else is there.
_ALWAYS = ["_pylong", "copy", "heapq", "warnings"]
# Modules of the standard library that import others when they are used, and which: those of CPython 3.14 that a
# component can use.
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
# Encodings that files and servers have. UTF-8 needs no module, the others do.
_ENCODINGS = (
    "ascii latin_1 utf_7 utf_8_sig utf_16 utf_16_le utf_16_be utf_32 utf_32_le utf_32_be idna punycode unicode_escape "
    "cp437 cp850 cp852 cp866 cp874 cp1250 cp1251 cp1252 cp1253 cp1254 cp1255 cp1256 cp1257 cp1258 "
    "iso8859_2 iso8859_3 iso8859_4 iso8859_5 iso8859_6 iso8859_7 iso8859_8 iso8859_9 iso8859_10 iso8859_11 iso8859_13 "
    "iso8859_14 iso8859_15 iso8859_16 koi8_r koi8_u mac_roman "
    "shift_jis cp932 euc_jp iso2022_jp gbk gb2312 gb18030 big5 cp950 euc_kr cp949"
).split()
# What the runtime of componentize-py asks for once the author's module is there, beside all of the bindings.
_RUNTIME = ["componentize_py_types", "random", "weakref"]
_BINDINGS = ["wit_world.imports", "wit_world.exports"]
# Late imports are looked for in what late imports bring, and so on, up to here: a package may know all others.
_MODULES_MAX = 500
# What is kept of the reason why an import failed, in characters: a sentence or two.
_REASON_CHARS_MAX = 500
# Why late imports failed, by the names of the modules.
_failed: dict[str, str] = {}


def close() -> None:
    """Does the imports that would come later, and lets no further one look for files."""
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
    # A directory that is granted as `python` or `1` must not become a place to import from.
    sys.path.clear()
    sys.path_importer_cache.clear()
    sys.meta_path.remove(PathFinder)
    sys.meta_path.append(_Closed())


class _Closed(importlib.abc.MetaPathFinder):
    """The last to be asked: says why there is no such module."""

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
            "so that the build puts it in; what CPython has no build for WebAssembly of is not there at all",
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
        # So that a traceback in the log shows the author's lines.
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
    """Imports a module, if it can be: the import may stand behind a condition, or name a class."""
    parent, _, child = name.rpartition(".")
    try:
        if name not in sys.modules and not (parent and hasattr(sys.modules.get(parent), child)):
            importlib.import_module(name)
    except Exception as error:
        # The author's own code meets the same error, if it ever comes to this import.
        if getattr(error, "name", None) != name:
            _failed[name] = str(error)[:_REASON_CHARS_MAX]
