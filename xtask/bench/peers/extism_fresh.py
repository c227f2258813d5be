"""Calls a plugin of Extism: for each line with a number, so many times, each in a fresh plugin of compiled code.
Prints the nanoseconds of each call in one line."""

import sys
import time
from pathlib import Path

import extism
from extism.extism import CompiledPlugin

CODE = CompiledPlugin({"wasm": [{"data": Path(__file__).with_name("echo.wat").read_bytes()}]})
DATA = sys.argv[1].encode()


def call():
    answer = extism.Plugin(CODE).call("echo", DATA)
    assert answer == DATA


for line in sys.stdin:
    times = []
    for _ in range(int(line)):
        began = time.perf_counter_ns()
        call()
        times.append(time.perf_counter_ns() - began)
    print(*times, flush=True)
