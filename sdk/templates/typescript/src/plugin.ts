import { plugin, tool } from "portcullis-sdk";
import * as z from "zod";

const greet = tool({
  name: "greet",
  description: "Greets a person by name.",
  arguments: z.object({ name: z.string().describe("A person's name.") }),
  hints: ["read-only", "idempotent"],
  execute: ({ name }) => `Hello, ${name}!`,
});

export default plugin({
  name: "{{name}}",
  version: "0.1.0",
  description: "Greets people.",
  tools: [greet],
});
