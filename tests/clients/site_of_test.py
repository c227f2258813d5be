"""The site that a client meets, as the test that laid it out describes it."""

import json
import pathlib
import shutil
import sys

# The test's data: `command` starts the server over the standard streams, or `url` and `token` belong to a listening
# server; `plugins` is the plugin directory; `spare` is a plugin outside it; `notes` is the file that the tools with
# effects write.
SITE = json.loads(sys.argv[1])

# The tools of the installed plugin, as clients see them.
CLERK = {f"clerk__{tool}" for tool in ("add", "count", "echo", "fail", "note", "sign", "wait")}

# The tool of the plugin that is added.
HELLO = "hello__greet"


def drop_in():
    """Puts the spare plugin into the plugin directory in one step, as a person who installs it would."""
    spare = pathlib.Path(SITE["spare"])
    plugins = pathlib.Path(SITE["plugins"])
    arriving = plugins / f"{spare.name}.arriving"
    shutil.copy(spare, arriving)
    arriving.rename(plugins / spare.name)


def notes():
    """The lines that the tools with effects have written."""
    path = pathlib.Path(SITE["notes"])
    return path.read_text().splitlines() if path.exists() else []


def headers():
    """What a client of the listening server sends along."""
    return {"Authorization": f"Bearer {SITE['token']}"}


def rising(values):
    """Whether each value is greater than the one before."""
    return all(before < after for before, after in zip(values, values[1:]))
