"""The providers' own types and validators, on what is exported for them and on what goes to and fro in calls.

`exported` names a JSON file. `exports` has the tools of each format, how many were offered and what is lost of them, by
the name of what they were made from; `turns` has what a model said and the messages with the results. Before any of it
is judged, the judges are: each must let something sound pass, and find everything that somebody broke in it."""

import json
import pathlib
import sys

from pydantic import ValidationError

from provider_changes import broken
from provider_shapes import Refused, pointer
from provider_tool_faults import TOOLS as TOOL_FAULTS
from provider_tools import TOOLS, is_strict
from provider_turn_faults import TURNS as TURN_FAULTS
from provider_turns import TURNS

TOLD = json.loads(sys.argv[1])

# The share of tools that a format may leave out, and the share of a strict format's tools that may be not strict.
LEFT_OUT = 0.1
NOT_STRICT = 0.5

# Maximum length of a library's error in the output.
CHARACTERS = 300


def found(check, at=""):
    """What a check finds wrong, with the place of it: a library's own errors are as good as ours."""
    try:
        check()
    except Refused as error:
        return at + error.at, str(error)
    except ValidationError as error:
        # A union of types gives an error for each of them.
        errors = error.errors()
        return pointer(at, *errors[0]["loc"]), "; ".join(dict.fromkeys(error["msg"] for error in errors))
    except Exception as error:
        return at, " ".join(f"{type(error).__name__}: {error}".split())
    return None


def findings(format, tools):
    """What is wrong with the tools of a request."""
    checks = ((at, found(check, at)) for at, check in TOOLS[format](tools))
    return [finding for _, finding in checks if finding]


def line(where, at, why):
    """A finding as it is printed."""
    return f"{where}: {at or '/'}: {why[:CHARACTERS]}"


def judged(format, kind, sound, changes, check):
    """Whether a check lets pass what is sound, and finds each fault for the reason that it is one."""
    wrong = [line(f"{format}: sound {kind}", at, why) for at, why in check(sound)]
    for number, (change, word) in enumerate(changes):
        reasons = [why for _, why in check(broken(sound, change))]
        if not any(word in why for why in reasons):
            wrong.append(f"{format}: {kind}: fault {number} ({word!r}) was not found: {reasons}")
    return wrong


def turn(format, said, results):
    finding = found(lambda: TURNS[format](said, results))
    return [finding] if finding else []


def as_list(tool):
    return tool if isinstance(tool, list) else [tool]


def judges(format):
    """What is wrong with the checks of a format."""
    sound, changes = TOOL_FAULTS[format]
    wrong = judged(format, "tool", sound, changes, lambda tool: findings(format, as_list(tool)))
    sound, changes = TURN_FAULTS[format]
    return wrong + judged(format, "turn", sound, changes, lambda turns: turn(format, turns["said"], turns["results"]))


def few(format, exports):
    """What there is too little of. A request has room for some strict tools only, so each tool counts by itself."""
    offered = sum(export["offered"] for export in exports)
    tools = sum(len(functions(export["tools"])) for export in exports)
    if tools < offered * (1 - LEFT_OUT):
        yield f"{format}: only {tools} of {offered} tools"
    alone = [tool for export in exports if export["offered"] == 1 for tool in functions(export["tools"])]
    strict = sum(is_strict(tool) for tool in alone)
    if format.endswith("-strict") and strict < len(alone) * (1 - NOT_STRICT):
        yield f"{format}: only {strict} of {len(alone)} tools are strict"


def functions(tools):
    """The tools one by one, for a format that has them in one."""
    return [function for tool in tools for function in tool.get("functionDeclarations", [tool])]


def report(format, exports, turns):
    """One line for a format, and what is wrong."""
    wrong = judges(format)
    if not exports:
        wrong.append(f"{format}: no exports")
    if not turns:
        wrong.append(f"{format}: no turns")
    for export in exports:
        where = f"{format}: {export['corpus']}"
        if not export["tools"] and not export["losses"]:
            wrong.append(f"{where}: no tools, and nothing is said to be lost")
        wrong += [line(where, at, why) for at, why in findings(format, export["tools"])]
    for number, said in enumerate(turns):
        where = f"{format}: turn {number}"
        wrong += [line(where, at, why) for at, why in turn(format, said["said"], said["results"])]
    tools = [tool for export in exports for tool in functions(export["tools"])]
    strict = f", {sum(map(is_strict, tools))} of them strict" if format.endswith("-strict") else ""
    refused = sum(len(changes) for _, changes in (TOOL_FAULTS[format], TURN_FAULTS[format]))
    print(f"{format}: {len(exports)} exports, {len(tools)} tools{strict}, {len(turns)} turns; {refused} faults to find")
    return wrong + list(few(format, exports))


def of(format, entries):
    return [entry for entry in entries if entry["format"] == format]


def main():
    exported = json.loads(pathlib.Path(TOLD["exported"]).read_text(encoding="utf-8"))
    exports, turns = exported["exports"], exported["turns"]
    strange = {entry["format"] for entry in exports + turns} - TOOLS.keys()
    wrong = [f"{format}: nothing is known of this format" for format in sorted(strange)]
    for format in TOOLS:
        wrong += report(format, of(format, exports), of(format, turns))
    sys.exit("\n".join(wrong) if wrong else 0)


main()
