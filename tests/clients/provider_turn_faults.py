"""What the checks of turns must find: for each format a call and its result that pass, and what somebody could break
in them."""

from provider_changes import drop, put

NAME = "weather__forecast"
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
IMAGE = f"data:image/png;base64,{PIXEL}"
CALL = {"id": "a1B2c3D4e", "type": "function", "function": {"name": NAME, "arguments": '{"city": "Ulm"}'}}


def chat(*results):
    """A call of Chat Completions, which Mistral has as well."""
    said = {"role": "assistant", "content": None, "tool_calls": [CALL]}
    return {"said": said, "results": [{"role": "tool", "tool_call_id": CALL["id"], "content": "rain"}, *results]}


def responses(output):
    call = {"type": "function_call", "call_id": "call_1", "name": NAME, "arguments": "{}"}
    return {"said": [call], "results": [{"type": "function_call_output", "call_id": "call_1", "output": output}]}


def anthropic():
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXEL}}
    content = [{"type": "text", "text": "rain"}, image]
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": content, "is_error": True}
    said = [{"type": "tool_use", "id": "toolu_1", "name": NAME, "input": {"city": "Ulm"}}]
    return {"said": {"role": "assistant", "content": said}, "results": [{"role": "user", "content": [result]}]}


def before_results(turn):
    turn["results"][0]["content"].insert(0, {"type": "text", "text": "rain"})
    return turn


def gemini():
    call = {"id": "one", "name": NAME, "args": {"city": "Ulm"}}
    image = {"inlineData": {"mimeType": "image/png", "data": PIXEL}}
    response = {"id": "one", "name": NAME, "response": {"output": "rain"}, "parts": [image]}
    said = {"role": "model", "parts": [{"functionCall": call}]}
    return {"said": said, "results": [{"role": "user", "parts": [{"functionResponse": response}]}]}


def ollama():
    call = {"function": {"name": NAME, "arguments": {"city": "Ulm"}}}
    said = {"role": "assistant", "content": "", "tool_calls": [call]}
    return {"said": said, "results": [{"role": "tool", "tool_name": NAME, "content": "rain", "images": [PIXEL]}]}


def langchain():
    said = {"type": "ai", "content": "", "tool_calls": [{"type": "tool_call", "id": "one", "name": NAME, "args": {}}]}
    content = [{"type": "text", "text": "rain"}, {"type": "image", "base64": PIXEL, "mime_type": "image/png"}]
    result = {"type": "tool", "tool_call_id": "one", "content": content, "status": "error", "artifact": {"sum": 1}}
    return {"said": said, "results": [result]}


PICTURE = {"type": "image_url", "image_url": {"url": IMAGE}}

OPENAI_CHAT = (
    chat({"role": "user", "content": [{"type": "text", "text": "The image of it:"}, PICTURE]}),
    [
        (put("results.0.content", [PICTURE]), "Input should be 'text'"),
        (put("results.0.is_error", True), "drops it"),
        (drop("results.0.content"), "Field required"),
        (put("results.0.content", None), "valid string"),
        (put("results.0.tool_call_id", "other"), "calls"),
        (drop("results.0.tool_call_id"), "Field required"),
        (drop("results.0"), "calls"),
        (lambda turn: turn | {"results": turn["results"][::-1]}, "among the results"),
        (drop("said.tool_calls.0.function.name"), "Field required"),
        (lambda turn: put("said.tool_calls", [])(put("results", [])(turn)), "no call at all"),
        (put("said.tool_calls.0.function.arguments", {"city": "Ulm"}), "valid string"),
    ],
)

OPENAI_RESPONSES = (
    responses([{"type": "input_text", "text": "rain"}, {"type": "input_image", "image_url": IMAGE}]),
    [
        (put("results.0.output", [{"type": "text", "text": "rain"}]), "Input should be"),
        (put("results.0.output", {"rain": True}), "valid"),
        (put("results.0.is_error", True), "drops it"),
        (put("results.0.call_id", "other"), "calls"),
        (drop("results.0.output"), "Field required"),
        (put("results.0.type", "tool"), "Input should be 'function_call_output'"),
        (drop("said.0.name"), "Field required"),
    ],
)

ANTHROPIC = (
    anthropic(),
    [
        (put("results.0.role", "tool"), "not one message"),
        (lambda turn: turn | {"results": turn["results"] * 2}, "not one message"),
        (put("results.0.content.0.tool_use_id", "other"), "calls"),
        (drop("results.0.content.0.tool_use_id"), "Field required"),
        (put("results.0.content.0.is_error", "no"), "became"),
        (put("results.0.content.0.content.1.source.media_type", "image/bmp"), "Input should be"),
        (put("results.0.content.0.content.1", {"type": "audio", "data": PIXEL}), "Input should be"),
        (put("results.0.content.0.content.0", {"type": "text"}), "Field required"),
        (put("results.0.content.0", {"type": "text", "text": "rain"}), "calls"),
        (before_results, "before a result"),
        (drop("said.content.0.input"), "Field required"),
    ],
)

GEMINI = (
    gemini(),
    [
        (put("results.0.role", "function"), "not one message"),
        (put("results.0.parts.0.functionResponse.response", "rain"), "valid dictionary"),
        (put("results.0.parts.0.functionResponse.response", {"output": 1, "error": 2}), "neither output nor error"),
        (put("results.0.parts.0.functionResponse.is_error", True), "Extra inputs"),
        (put("results.0.parts.0.functionResponse.id", "other"), "calls"),
        (put("results.0.parts.0.functionResponse.name", "other"), "calls"),
        (put("results.0.parts.0.functionResponse.parts.0", {"text": "rain"}), "Extra inputs"),
        (put("results.0.parts.0.functionResponse.parts.0.inlineData.data", "&"), "base64"),
        (put("said.parts.0.functionCall.arguments", {}), "Extra inputs"),
    ],
)

OLLAMA = (
    ollama(),
    [
        (put("results.0.tool_call_id", "one"), "drops it"),
        (put("results.0.role", "user"), "not a tool's"),
        (put("results.0.content", [{"type": "text", "text": "rain"}]), "valid string"),
        (put("results.0.images", [IMAGE]), "Invalid image data"),
        (put("results.0.tool_name", "other"), "calls"),
        (put("said.tool_calls.0.function.arguments", "{}"), "valid"),
    ],
)

MISTRAL = (
    chat(),
    [
        (put("results.0.tool_call_id", "other"), "calls"),
        (put("results.0.is_error", True), "drops it"),
        (drop("results.0.content"), "Field required"),
        (put("results.0.content", [{"type": "picture", "text": "rain"}]), "adds it"),
        (put("results.0.name", "weather.forecast"), "Function name was"),
        (
            lambda turn: put("said.tool_calls.0.id", "call_1")(put("results.0.tool_call_id", "call_1")(turn)),
            "Tool call id was call_1",
        ),
        (drop("said.tool_calls.0.function.name"), "Field required"),
    ],
)

LANGCHAIN = (
    langchain(),
    [
        (put("results.0.status", "failed"), "Input should be 'success' or 'error'"),
        (drop("results.0.status"), "field is missing"),
        (drop("results.0.tool_call_id"), "tool_call_id"),
        (put("results.0.tool_call_id", "other"), "calls"),
        (put("results.0.content", {"rain": True}), "became"),
        (put("results.0.content.1", {"type": "picture", "base64": PIXEL}), "no standard kind"),
        (put("results.0.type", "ai"), "Input should be 'tool'"),
        (drop("said.tool_calls.0.name"), "name"),
    ],
)

# For each format a valid turn, and the faults to insert.
TURNS = {
    "openai-chat": OPENAI_CHAT,
    "openai-chat-strict": OPENAI_CHAT,
    "openai-responses": OPENAI_RESPONSES,
    "openai-responses-strict": OPENAI_RESPONSES,
    "anthropic": ANTHROPIC,
    "anthropic-strict": ANTHROPIC,
    "gemini": GEMINI,
    "gemini-openapi": GEMINI,
    "ollama": OLLAMA,
    "mistral": MISTRAL,
    "langchain": LANGCHAIN,
}
