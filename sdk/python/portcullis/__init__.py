"""Portcullis plugins in Python: a tool is a function with type hints and a docstring.

::

    from portcullis import Plugin

    plugin = Plugin("hello", version="0.1.0", description="Greets people.")

    @plugin.tool(read_only=True, idempotent=True)
    def greet(name: str) -> str:
        '''Greets a person by name.

        Args:
            name: A person's name.
        '''
        return f"Hello, {name}!"
"""

from .call import Call, Level
from .context import Context, Directory
from .failures import Cancelled, DefinitionError, Denied, Failed, Failure, InvalidArguments, Unavailable
from .generate import GeneratedCall, GeneratedTool
from .handles import Client, Response, Service, Store, Writer
from .hints import Field
from .outputs import File, Image, Part, Success
from .permissions import Permission
from .plugin import Plugin, Tool
from .prepare import Availability, Caller, Hidden, Narrowed, Preparation, Preparing
from .programs import (
    Chunk,
    Destination,
    Exit,
    Exited,
    ExitReport,
    Launch,
    Missing,
    Program,
    ProgramOutput,
    ReadableDirectory,
    Running,
    Signaled,
    Stopped,
    WritableDirectory,
)
from .review import Ask, Clear, Refuse, Review, Verdict
from .toolset import CallableTool, Outlook, ToolAnswer, ToolCall, Toolset, ToolSummary

__all__ = [
    "Ask",
    "Availability",
    "Call",
    "CallableTool",
    "Caller",
    "Cancelled",
    "Chunk",
    "Clear",
    "Client",
    "Context",
    "DefinitionError",
    "Denied",
    "Destination",
    "Directory",
    "Exit",
    "ExitReport",
    "Exited",
    "Failed",
    "Failure",
    "Field",
    "File",
    "GeneratedCall",
    "GeneratedTool",
    "Hidden",
    "Image",
    "InvalidArguments",
    "Launch",
    "Level",
    "Missing",
    "Narrowed",
    "Outlook",
    "Part",
    "Permission",
    "Plugin",
    "Preparation",
    "Preparing",
    "Program",
    "ProgramOutput",
    "ReadableDirectory",
    "Refuse",
    "Response",
    "Review",
    "Running",
    "Service",
    "Signaled",
    "Stopped",
    "Store",
    "Success",
    "Tool",
    "ToolAnswer",
    "ToolCall",
    "ToolSummary",
    "Toolset",
    "Unavailable",
    "Verdict",
    "WritableDirectory",
    "Writer",
]
__version__ = "0.1.0"
