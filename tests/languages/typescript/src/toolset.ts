import { Failure, tool, tools } from "portcullis-sdk";
import * as z from "zod";

const key = z.string().describe("The key of the tools.");

export const delegate = tool({
  name: "delegate",
  description: "Calls another tool, and answers as that tool does.",
  arguments: z.object({
    key,
    tool: z.string().describe("The full name of the tool."),
    arguments: z.record(z.string(), z.unknown()).describe("Its arguments."),
  }),
  execute: ({ key, tool, arguments: input }) => tools(key).call(tool, input),
});

export const delegateAll = tool({
  name: "delegate-all",
  description: "Calls several tools with a text each at the same time, and answers with the text or the failure of each.",
  arguments: z.object({
    key,
    tools: z.array(z.string()).describe("The full names of the tools."),
    texts: z.array(z.string()).describe("The argument of each."),
  }),
  execute({ key, tools: names, texts }) {
    const answers = tools(key).callAll(texts.map((text, index) => ({ tool: names[index] ?? "", arguments: { text } })));
    return {
      answers: answers.map((answer) => {
        return answer instanceof Failure ? { failure: answer.message } : { text: answer.text };
      }),
    };
  },
});

export const plan = tool({
  name: "plan",
  description: "Says what would happen to calls of other tools with a text each, and asks for them together.",
  arguments: z.object({
    key,
    tools: z.array(z.string()).describe("The full names of the tools."),
    texts: z.array(z.string()).describe("The argument of each."),
  }),
  hints: ["read-only"],
  execute({ key, tools: names, texts }) {
    const others = tools(key);
    const calls = texts.map((text, index) => ({ tool: names[index] ?? "", arguments: { text } }));
    const outlooks = others.foresee(calls).map((outlook) => {
      return outlook instanceof Failure ? `fails: ${outlook.message}` : outlook;
    });
    return { outlooks, approved: others.approve(calls) };
  },
});

export const lookup = tool({
  name: "lookup",
  description: "Lists and searches other tools, and says how one of them is defined.",
  arguments: z.object({
    key,
    query: z.string().describe("What the search is for."),
    limit: z.int().min(0).max(100).describe("How many tools the search may find."),
    tool: z.string().describe("The full name of the tool to define."),
  }),
  hints: ["read-only", "idempotent"],
  execute({ key, query, limit, tool }) {
    const others = tools(key);
    const found = others.definition(tool);
    let definition = null;
    if (found !== null) {
      const { outputSchema, ...rest } = found;
      definition = { ...rest, output_schema: outputSchema };
    }
    return { list: others.list(), found: others.search(query, limit), definition };
  },
});
