"""The OpenAI Agents SDK with the program that README.md shows, as it stands there. The model is a script: it wants to
note something down, reads what came of it, and says so."""

import json
import sys

from agents import Usage, set_tracing_disabled
from agents.items import ModelResponse
from agents.models.interface import Model
from agents.models.multi_provider import MultiProvider
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

import site_of_test as site

TOOL = "clerk__note"
NOTE = "the seal is in the drawer"


class Script(Model):
    """Plays a model: one call, then words about its answer."""

    async def get_response(self, system_instructions, input, model_settings, tools, *_, **__):
        offered = {tool.name for tool in tools}
        assert site.CLERK <= offered, sorted(offered)
        outputs = [item for item in input if isinstance(item, dict) and item.get("type") == "function_call_output"]
        output = said(words(outputs[-1])) if outputs else called()
        return ModelResponse(output=[output], usage=Usage(), response_id=None)

    def stream_response(self, *_, **__):
        raise NotImplementedError("the program does not stream")


def words(item):
    """The text of an answer, as a model would get it."""
    output = item["output"]
    return output if isinstance(output, str) else "".join(part["text"] for part in output)


def called():
    arguments = json.dumps({"text": NOTE})
    return ResponseFunctionToolCall(type="function_call", call_id="call-1", name=TOOL, arguments=arguments)


def said(answer):
    text = ResponseOutputText(type="output_text", text=f"The tool said: {answer}", annotations=[])
    return ResponseOutputMessage(id="message-1", type="message", role="assistant", status="completed", content=[text])


MultiProvider.get_model = lambda _self, _name: Script()
set_tracing_disabled(True)
program = compile(site.SITE["program"], "README.md", "exec")
exec(program, {"__name__": "__main__"})
sys.stdout.flush()
assert site.notes() == [NOTE], site.notes()
