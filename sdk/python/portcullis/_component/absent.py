"""Modules of the standard library that a component has not, and what does the same there."""

_TLS = (
    "the host does TLS, and a component has no sockets. Send requests with urllib.request, http.client or "
    "context.client of the tool's context; packages that open connections themselves, such as httpx, requests and "
    "aiohttp, cannot do so here"
)
_PACKED = "zlib, gzip and zipfile are there"
_ALONE = "a component runs one thread and starts no program"
_SCREEN = "a component has no terminal and no screen"
_MACHINE = "a component runs no machine code of a computer; take a package in pure Python"
_SYSTEM = "a component has no operating system of its own"

WORDS = {
    **dict.fromkeys(["ssl", "_ssl"], _TLS),
    **dict.fromkeys(["bz2", "lzma", "_bz2", "_lzma", "_zstd"], _PACKED),
    **dict.fromkeys(["_multiprocessing", "_posixsubprocess", "_posixshmem"], _ALONE),
    **dict.fromkeys(["curses", "readline", "termios", "tkinter", "tty", "pty", "turtle"], _SCREEN),
    **dict.fromkeys(["ctypes", "_ctypes"], _MACHINE),
    **dict.fromkeys(["fcntl", "grp", "mmap", "msvcrt", "pwd", "resource", "syslog", "winreg"], _SYSTEM),
}
"""What to say of each module, by its name."""


def refusal(name: str) -> ModuleNotFoundError:
    """Says that there is no such module, and what to use."""
    return ModuleNotFoundError(f"a component has no module `{name}`: {WORDS[name]}", name=name)
