"""Modules of the standard library that a component lacks, and what to use instead."""

_TLS = (
    "the host does TLS, and a component has no sockets. Send requests with urllib.request, http.client or "
    "context.client of the tool's context; packages that open connections themselves, such as httpx, requests and "
    "aiohttp, cannot do so here"
)
_PACKED = "use zlib, gzip or zipfile"
_ALONE = (
    "a component has one thread, and starts only programs that the policy binds: use context.program of the tool's "
    "context"
)
_SCREEN = "a component has no terminal and no screen"
_MACHINE = "a component cannot run native machine code; use a package in pure Python"
_SYSTEM = "a component has no operating system of its own"

WORDS = {
    **dict.fromkeys(["ssl", "_ssl"], _TLS),
    **dict.fromkeys(["bz2", "lzma", "_bz2", "_lzma", "_zstd"], _PACKED),
    **dict.fromkeys(["_multiprocessing", "_posixsubprocess", "_posixshmem"], _ALONE),
    **dict.fromkeys(["curses", "readline", "termios", "tkinter", "tty", "pty", "turtle"], _SCREEN),
    **dict.fromkeys(["ctypes", "_ctypes"], _MACHINE),
    **dict.fromkeys(["fcntl", "grp", "mmap", "msvcrt", "pwd", "resource", "syslog", "winreg"], _SYSTEM),
}
"""The explanation for each module, by its name."""


def refusal(name: str) -> ModuleNotFoundError:
    """Returns the error for a missing module, with what to use instead."""
    return ModuleNotFoundError(f"a component has no module `{name}`: {WORDS[name]}", name=name)
