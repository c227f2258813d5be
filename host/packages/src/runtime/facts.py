# Prints where Python is, and what it can run. Packages are resolved and compiled for one minor version. `tool` may be the
# Python of a virtual environment, which has pip. `program` is the one that it was made from.
import json, os, sys, sysconfig

facts = {
    "major": sys.version_info[0],
    "minor": sys.version_info[1],
    "program": os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable),
    "tool": sys.executable,
    "platform": sys.implementation.cache_tag + "-" + sysconfig.get_platform(),
    "prefix": sys.base_prefix,
}
print(json.dumps(facts))
