"""Whether a provider takes tools: its own types say so first, and then what is known of it beyond them."""

import copy
import warnings

from anthropic.types import ToolParam
from anthropic.types.tool_param import InputSchemaTyped
from google.genai import types as gemini
from langchain_core.tools import StructuredTool
from langchain_core.utils.function_calling import convert_to_openai_function, convert_to_openai_tool
from mistral_common.protocol.instruct import tool_calls as mistral_common
from mistral_common.protocol.instruct.validator import MistralRequestValidatorV3
from mistralai.client import models as mistral
from ollama._client import _copy_tools
from ollama._types import ChatRequest
from openai.types.chat import ChatCompletionFunctionToolParam
from openai.types.responses import FunctionToolParam

import provider_rules as rules
from provider_shapes import json_schema, named, plain, require, same, typed, walk

# The longest description that Chat Completions was observed to accept, in characters.
CHAT_DESCRIPTION = 1_024

# The valid names, as far as the providers document them.
OPENAI_NAME = r"[a-zA-Z0-9_-]{1,64}"
ANTHROPIC_NAME = r"[a-zA-Z0-9_-]{1,128}"
GEMINI_NAME = r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}"
GEMINI_PARAMETER = r"[a-zA-Z_][a-zA-Z0-9_]{0,63}"


def openai_schema(schema, at, strict):
    json_schema(schema, at)
    rules.openai(schema, at)
    if strict:
        rules.openai_strict(schema, at)


def openai_chat(tool, strict):
    typed(ChatCompletionFunctionToolParam, tool)
    function = tool["function"]
    named(function["name"], OPENAI_NAME, "/function/name")
    require(len(function["description"]) <= CHAT_DESCRIPTION, "/function/description", "too long")
    require(function.get("strict", False) is strict or strict is None, "/function/strict", "not what the format says")
    require("strict" in function or strict is not None, "/function/strict", "not said")
    openai_schema(function["parameters"], "/function/parameters", function.get("strict", False))


def openai_responses(tool, strict):
    typed(FunctionToolParam, tool)
    named(tool["name"], OPENAI_NAME)
    # The type allows null, and then the provider decides.
    require(isinstance(tool["strict"], bool), "/strict", "not said")
    require(strict is None or tool["strict"] is strict, "/strict", "not what the format says")
    openai_schema(tool["parameters"], "/parameters", tool["strict"])


def anthropic(tool, strict):
    typed(ToolParam, tool)
    # The other type for a schema is any object.
    typed(InputSchemaTyped, tool["input_schema"], "/input_schema")
    named(tool["name"], ANTHROPIC_NAME)
    require(strict is None or tool.get("strict", False) is strict, "/strict", "not what the format says")
    json_schema(tool["input_schema"], "/input_schema")
    rules.anthropic(tool["input_schema"], "/input_schema")
    if tool.get("strict", False):
        rules.anthropic_strict(tool["input_schema"], "/input_schema")


def gemini_tool(tool):
    """An unknown word under `type` is only a warning to the SDK."""
    told = copy.deepcopy(tool)
    for function in told.get("functionDeclarations", ()):
        for _, schema in walk(function.get("parameters", {}), ""):
            if isinstance(schema.get("type"), str):
                schema["type"] = schema["type"].upper()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        same(told, plain(gemini.Tool.model_validate(tool)))


def gemini_json(tool):
    gemini_tool(tool)
    for place, function in enumerate(tool["functionDeclarations"]):
        at = f"/functionDeclarations/{place}"
        named(function["name"], GEMINI_NAME, f"{at}/name")
        require("parameters" not in function, f"{at}/parameters", "both forms of the parameters")
        schema = function["parametersJsonSchema"]
        json_schema(schema, f"{at}/parametersJsonSchema")
        rules.gemini(schema, f"{at}/parametersJsonSchema")


def gemini_openapi(tool):
    gemini_tool(tool)
    for place, function in enumerate(tool["functionDeclarations"]):
        at = f"/functionDeclarations/{place}"
        named(function["name"], GEMINI_NAME, f"{at}/name")
        require("parametersJsonSchema" not in function, f"{at}/parametersJsonSchema", "not the form that was asked for")
        if "parameters" not in function:
            continue
        rules.gemini_openapi(function["parameters"], f"{at}/parameters")
        for inner, schema in walk(function["parameters"], f"{at}/parameters"):
            for name in schema.get("properties", {}):
                named(name, GEMINI_PARAMETER, f"{inner}/properties")


def ollama(tool):
    """Through the request that the client would make of it, in which everything must still be there."""
    request = ChatRequest(model="model", tools=list(_copy_tools([tool])), messages=[])
    same(tool, request.model_dump(exclude_none=True)["tools"][0])
    named(tool["function"]["name"], OPENAI_NAME, "/function/name")
    json_schema(tool["function"]["parameters"], "/function/parameters")


def mistral_tool(tool):
    same(tool, plain(mistral.Tool.model_validate(tool)))
    common = mistral_common.Tool.model_validate(tool)
    MistralRequestValidatorV3()._validate_function(common.function)
    json_schema(tool["function"]["parameters"], "/function/parameters")


def unused(**_):
    raise NotImplementedError("no tool is called here")


def langchain(tool):
    """As it is bound to a model, and as the parts of a tool that can be called."""
    same(tool, convert_to_openai_function(tool))
    same({"type": "function", "function": tool}, convert_to_openai_tool(tool))
    json_schema(tool["parameters"], "/parameters")
    require("strict" not in tool, "/strict", "LangChain would make everything required")
    made = StructuredTool(
        name=tool["name"], description=tool["description"], args_schema=tool["parameters"], func=unused
    )
    function = convert_to_openai_function(made)
    properties = function["parameters"].get("properties", {}).keys()
    require(properties == tool["parameters"].get("properties", {}).keys(), "/parameters", "other parameters as a tool")


def each(check, *more):
    """Every tool by itself."""

    def checked(tools):
        for place, tool in enumerate(tools):
            yield f"/{place}", lambda tool=tool: check(tool, *more)

    return checked


def within_budget(tools):
    yield from each(anthropic, None)(tools)
    yield "", lambda: rules.anthropic_budget(tools)


# For each format, the checks of a request's tools: locations, each with its check.
TOOLS = {
    "openai-chat": each(openai_chat, False),
    "openai-chat-strict": each(openai_chat, None),
    "openai-responses": each(openai_responses, False),
    "openai-responses-strict": each(openai_responses, None),
    "anthropic": each(anthropic, False),
    "anthropic-strict": within_budget,
    "gemini": each(gemini_json),
    "gemini-openapi": each(gemini_openapi),
    "ollama": each(ollama),
    "mistral": each(mistral_tool),
    "langchain": each(langchain),
}


def is_strict(tool):
    """Whether the provider holds a tool's arguments to its schema."""
    return tool.get("function", tool).get("strict", False)
