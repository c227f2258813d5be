import site, sys

place, module, function, program = sys.argv[1:5]
sys.argv[:5] = [program]
# After the standard library, as in a virtual environment.
sys.path.append(place)
# `-S` leaves these out, and programs call `exit()`.
site.setquit()
site.setcopyright()
site.sethelper()

import functools, importlib

target = functools.reduce(getattr, function.split("."), importlib.import_module(module))
sys.exit(target())
