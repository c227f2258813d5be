"""The plugin {{name}}."""

from portcullis import Plugin

plugin = Plugin("{{name}}", version="0.1.0", description="Greets people.")


@plugin.tool(read_only=True, idempotent=True)
def greet(name: str) -> str:
    """Greets a person by name.

    Args:
        name: A person's name.
    """
    return f"Hello, {name}!"
