"""Runs pip in a process that cannot start programs. pip needs one only to build a source package or to fetch a
repository, and both would run code that came with a package."""

import sys

# The work folder has files of packages.
sys.path = [place for place in sys.path[1:] if place]

import importlib.util
import os
import runpy
import threading
import time

# Tells the host that pip is missing or too old.
EXIT_TOOL_MISSING = 77

# The first release with a report of version 1.
PIP_MAJOR_MIN = 23

FORBIDDEN = {
    "os.exec",
    "os.fork",
    "os.forkpty",
    "os.posix_spawn",
    "os.spawn",
    "os.system",
    "pty.spawn",
    "subprocess.Popen",
}


def refuse(event, _arguments):
    if event in FORBIDDEN:
        raise PermissionError("Portcullis does not let pip start programs. Is a dependency not a wheel?")


def exit_with(parent):
    """Exits if the host is killed, so that nothing continues to write into the work folder."""
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)


if importlib.util.find_spec("pip") is None:
    sys.exit(EXIT_TOOL_MISSING)

import pip

if int(pip.__version__.split(".")[0]) < PIP_MAJOR_MIN:
    sys.exit(EXIT_TOOL_MISSING)

threading.Thread(target=exit_with, args=[os.getppid()], daemon=True).start()
sys.addaudithook(refuse)
runpy.run_module("pip", run_name="__main__", alter_sys=True)
