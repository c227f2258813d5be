"""The component's side of the contract. Only a build imports this: it needs the bindings that componentize-py makes."""

from .entry import load

__all__ = ["load"]
