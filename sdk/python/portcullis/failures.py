"""Why a tool could not answer. The text is for the model, and says what would help."""


class DefinitionError(TypeError):
    """A plugin or a tool is declared in a way that no host would load. Raised when the module is imported."""


class Failure(Exception):
    """Ends the call with a failure of a kind that the host knows. Raise one of the subclasses."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


class InvalidArguments(Failure):
    """The arguments match the schema and are wrong all the same."""


class Denied(Failure):
    """A right was missing."""


class Unavailable(Failure):
    """Something outside the tool did not work; trying again later may help."""


class Cancelled(Failure):
    """The tool stopped because the call was cancelled."""

    def __init__(self, text: str = "the call was cancelled") -> None:
        super().__init__(text)


class Failed(Failure):
    """Anything else. An exception that a tool does not catch becomes one of these."""
