/// <reference path="./globals.d.ts" />
/// <reference path="./node.d.ts" />
/// <reference path="./wit/wasi.d.ts" />
/// <reference path="./wit/path-browserify.d.ts" />
/// <reference path="./wit/portcullis.d.ts" />

export type { Call, Context, Permission, Progress } from "./context.ts";
export { plugin, tool } from "./declare.ts";
export { Cancelled, Denied, Failed, Failure, type FailureKind, InvalidArguments, Unavailable } from "./failure.ts";
export { answerWriter, log, type Service, service, setting } from "./handles.ts";
export { type Client, client } from "./globals/fetch.ts";
export type { FilePart } from "./output.ts";
export { Answer, type Extras, file, image, type Json, json, type Part, parts, text } from "./output.ts";
export { type Chunk, type Exit, type ExitReport, type LaunchOptions, type Program, program } from "./programs.ts";
export type { Missing, ProgramInput, ProgramOutput, Running } from "./programs.ts";
export type { FromJsonSchema, Infer, JsonSchema, Schema, StandardSchema } from "./schema.ts";
export type { Review, Reviewed, Verdict } from "./review.ts";
export { type Store, store } from "./store.ts";
export type { Dependency, Hint, Plugin, PluginOptions, Returned, Tool, ToolOptions } from "./tool.ts";
export { type CallableTool, ToolAnswer, type ToolCall, tools, type Toolset, type ToolSummary } from "./toolset.ts";
export type { Outlook } from "./toolset.ts";
