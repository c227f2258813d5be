"""Changes that break something sound. A fault is a change and a word of the finding that it must lead to, so that
nothing is refused by chance."""

import copy


def place(thing, path):
    """What holds the end of a dotted path, and that end."""
    *above, last = [int(token) if token.isdigit() else token for token in path.split(".")]
    for token in above:
        thing = thing[token]
    return thing, last


def put(path, value):
    """Puts a value at a place."""

    def change(thing):
        inside, last = place(thing, path)
        inside[last] = value
        return thing

    return change


def drop(path):
    """Takes away what is at a place."""

    def change(thing):
        inside, last = place(thing, path)
        del inside[last]
        return thing

    return change


def broken(sound, change):
    return change(copy.deepcopy(sound))
