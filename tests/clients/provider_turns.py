"""Whether a provider says and takes what goes to and fro in a call: a model's answer, and the messages with results."""

from anthropic.types import Message, MessageParam
from google.genai import types as gemini
from langchain_core.messages import AIMessage, ToolMessage
from mistral_common.protocol.instruct import messages as mistral_common
from mistral_common.protocol.instruct.request import ChatCompletionRequest
from mistral_common.protocol.instruct.validator import (
    MistralRequestValidatorV3,
    MistralRequestValidatorV11,
    MistralRequestValidatorV15,
    ValidationMode,
)
from mistralai.client import models as mistral
from ollama import ChatResponse
from ollama import Message as OllamaMessage
from ollama._client import _copy_messages
from openai.types.chat import (
    ChatCompletion,
    ChatCompletionMessage,
    ChatCompletionToolMessageParam,
    ChatCompletionUserMessageParam,
)
from openai.types.responses import Response, ResponseFunctionToolCall
from openai.types.responses.response_input_item_param import FunctionCallOutput

from provider_shapes import plain, pointer, require, same, typed


def openai_chat(said, results):
    (ChatCompletion if "choices" in said else ChatCompletionMessage).model_validate(said)
    message = said["choices"][0]["message"] if "choices" in said else said
    for place, result in enumerate(results):
        kind = ChatCompletionToolMessageParam if result["role"] == "tool" else ChatCompletionUserMessageParam
        typed(kind, result, f"/{place}")
    answers = [result["tool_call_id"] for result in results if result["role"] == "tool"]
    answered([call["id"] for call in message["tool_calls"]], answers)
    # Content that a tool message cannot contain is in a user message after all of them.
    tools = [result["role"] == "tool" for result in results]
    require(tools == sorted(tools, reverse=True), "", "a message among the results")


def openai_responses(said, results):
    items = said["output"] if "output" in said else said if isinstance(said, list) else [said]
    if "output" in said:
        Response.model_validate(said)
    calls = [item for item in items if item["type"] == "function_call"]
    for call in calls:
        ResponseFunctionToolCall.model_validate(call)
    for place, result in enumerate(results):
        typed(FunctionCallOutput, result, f"/{place}")
    answered([call["call_id"] for call in calls], [result["call_id"] for result in results])


def anthropic(said, results):
    Message.model_validate(said) if "id" in said else typed(MessageParam, said)
    require(len(results) == 1 and results[0]["role"] == "user", "", "not one message of the user")
    typed(MessageParam, results[0], "/0")
    blocks = results[0]["content"]
    kinds = [block["type"] == "tool_result" for block in blocks]
    require(kinds == sorted(kinds, reverse=True), "/0/content", "something before a result")
    calls = [block["id"] for block in said["content"] if block["type"] == "tool_use"]
    answered(calls, [block["tool_use_id"] for block in blocks[: sum(kinds)]])


def gemini_content(said, results):
    content = said["candidates"][0]["content"] if "candidates" in said else said
    (gemini.GenerateContentResponse if "candidates" in said else gemini.Content).model_validate(said)
    require(len(results) == 1 and results[0]["role"] == "user", "", "not one message of the user")
    same(web_safe(results[0]), plain(gemini.Content.model_validate(results[0])), "/0")
    calls = [part["functionCall"] for part in content["parts"] if "functionCall" in part]
    responses = [part["functionResponse"] for part in results[0]["parts"]]
    for place, response in enumerate(responses):
        at = f"/0/parts/{place}/functionResponse/response"
        require(response["response"].keys() in ({"output"}, {"error"}), at, "neither output nor error")
    answered([called(call) for call in calls], [called(response) for response in responses])


def web_safe(value):
    """The same with bytes in the alphabet that the SDK writes. It reads both."""
    if isinstance(value, list):
        return [web_safe(inner) for inner in value]
    if not isinstance(value, dict):
        return value
    if value.keys() == {"mimeType", "data"}:
        return value | {"data": value["data"].translate(str.maketrans("+/", "-_"))}
    return {name: web_safe(inner) for name, inner in value.items()}


def called(message):
    """What a call and its response have in common."""
    return message["name"], message.get("id")


def ollama(said, results):
    (ChatResponse if "message" in said else OllamaMessage).model_validate(said)
    message = said["message"] if "message" in said else said
    for place, (result, copied) in enumerate(zip(results, _copy_messages(results))):
        # Empty values are not sent.
        told = {name: value for name, value in result.items() if value}
        same(told, copied.model_dump(exclude_none=True), f"/{place}")
        require(result["role"] == "tool", f"/{place}/role", "not a tool's message")
    calls = [call["function"]["name"] for call in message["tool_calls"]]
    answered(calls, [result["tool_name"] for result in results])


def mistral_messages(said, results):
    model = mistral.ChatCompletionResponse if "choices" in said else mistral.AssistantMessage
    model.model_validate(said)
    message = said["choices"][0]["message"] if "choices" in said else said
    for place, result in enumerate(results):
        same(result, plain(mistral.ToolMessage.model_validate(result)), f"/{place}")
    ids = [call["id"] for call in message["tool_calls"]]
    answered(ids, [result["tool_call_id"] for result in results])
    conversation = [
        mistral_common.UserMessage(content="do it"),
        mistral_common.AssistantMessage(tool_calls=message["tool_calls"]),
        *(mistral_common.ToolMessage.model_validate(result) for result in results),
    ]
    request = ChatCompletionRequest(model="model", messages=conversation)
    # Older models accept only text from a tool.
    words = all(isinstance(result["content"], str) for result in results)
    older = (MistralRequestValidatorV3, MistralRequestValidatorV11)
    for validator in older if words else (MistralRequestValidatorV15,):
        validator(ValidationMode.serving).validate_request(request)


def langchain(said, results):
    message = AIMessage.model_validate(said)
    for place, result in enumerate(results):
        kept = ToolMessage.model_validate(result).model_dump(exclude_unset=True)
        same(result, kept, f"/{place}")
        require(set(result) >= {"type", "content", "tool_call_id", "status"}, f"/{place}", "a field is missing")
        # Parsing the blocks validates them: a block of an unknown kind becomes "non_standard".
        kinds = [block["type"] for block in ToolMessage.model_validate(result).content_blocks]
        require("non_standard" not in kinds, pointer(f"/{place}", "content"), "a block of no standard kind")
    answered([call["id"] for call in message.tool_calls], [result["tool_call_id"] for result in results])


def answered(calls, results):
    """Every call has its result, in the order of the calls."""
    require(calls, "", "no call at all")
    require(calls == results, "", f"calls {calls} and results {results}")


# For each format, the check of a model's response and of the messages with the results of its calls.
TURNS = {
    "openai-chat": openai_chat,
    "openai-chat-strict": openai_chat,
    "openai-responses": openai_responses,
    "openai-responses-strict": openai_responses,
    "anthropic": anthropic,
    "anthropic-strict": anthropic,
    "gemini": gemini_content,
    "gemini-openapi": gemini_content,
    "ollama": ollama,
    "mistral": mistral_messages,
    "langchain": langchain,
}
