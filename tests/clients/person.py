"""A person in front of a client: reads what is asked, and answers as the test says."""

yes = "accept"
no = "decline"


class Person:
    """Answers every question alike, until told otherwise. `types` are those of the SDK that asks."""

    def __init__(self, types):
        self.types = types
        self.says = no
        self.messages = []

    async def answer(self, _context, params):
        self.messages.append(params.message)
        if self.says == no:
            return self.types.ElicitResult(action="decline")
        schema = getattr(params, "requested_schema", None) or params.requestedSchema
        return self.types.ElicitResult(action="accept", content=filled(schema))


def filled(schema):
    """The form as somebody fills it in who says yes and nothing more: the first of every choice."""
    choices = {name: field["enum"][0] for name, field in schema["properties"].items() if "enum" in field}
    missing = set(schema.get("required", [])) - set(choices)
    assert not missing, f"more than a choice is needed: {missing}"
    return choices
