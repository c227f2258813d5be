"""Connects the module `logging` to the audit log."""

import sys
from typing import Any

from ..call import Level
from .host import ComponentHost


def install(host: ComponentHost) -> None:
    """Sends log records to the host, if the author uses `logging` without other handlers."""
    logging: Any = sys.modules.get("logging")
    if logging is None or logging.root.handlers:
        return

    class RecordHandler(logging.Handler):  # type: ignore[misc]
        """Writes each log record to the audit log."""

        def emit(self, record: Any) -> None:
            level = max((level for level in Level if level <= record.levelno), default=Level.TRACE)
            host.log(level, self.format(record))

    handler = RecordHandler()
    handler.setFormatter(logging.Formatter("%(name)s: %(message)s"))
    logging.root.addHandler(handler)
    logging.root.setLevel(logging.INFO)
