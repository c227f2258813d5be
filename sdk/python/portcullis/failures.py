"""Failures of tools. The text is for the model, and should say what would help."""


class DefinitionError(TypeError):
    """A declaration of a plugin or a tool is invalid, so that no host would load it. Raised on import of the module."""


class Failure(Exception):
    """Ends the call with a failure of a kind that the host knows. Raise one of the subclasses."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


class InvalidArguments(Failure):
    """The arguments match the schema, but are still wrong."""


class Denied(Failure):
    """A permission was missing."""


class Unavailable(Failure):
    """Something outside the tool did not work. Trying again later may help."""


class Cancelled(Failure):
    """The tool stopped because the call was cancelled."""

    def __init__(self, text: str = "the call was cancelled") -> None:
        super().__init__(text)


class Failed(Failure):
    """Any other failure. An uncaught exception of a tool becomes one."""
