"""The module `logging`, into the record of the call."""

import sys
from typing import Any

from ..context import Level
from .host import ComponentHost


def install(host: ComponentHost) -> None:
    """Sends what the author logs to the host, where the author uses `logging` and set up nothing else."""
    logging: Any = sys.modules.get("logging")
    if logging is None or logging.root.handlers:
        return

    class RecordHandler(logging.Handler):  # type: ignore[misc]
        """A line of the log becomes a line of the record."""

        def emit(self, record: Any) -> None:
            level = max((level for level in Level if level <= record.levelno), default=Level.TRACE)
            host.log(level, self.format(record))

    handler = RecordHandler()
    handler.setFormatter(logging.Formatter("%(name)s: %(message)s"))
    logging.root.addHandler(handler)
    logging.root.setLevel(logging.INFO)
