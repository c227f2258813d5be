import { answerWriter, file, image, log, parts, tool } from "portcullis-sdk";
import * as z from "zod";

const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** How long the clock is watched, in milliseconds. */
const SLEEP_MS = 5;

export const print = tool({
  name: "print",
  description: "Prints a text in every way that there is.",
  arguments: z.object({ text: z.string().describe("The text to print.") }),
  hints: ["read-only", "idempotent"],
  execute({ text }) {
    console.log(`${text} on stdout`);
    console.error(`${text} on stderr`);
    log("warn", text);
    return "printed";
  },
});

export const surroundings = tool({
  name: "surroundings",
  description: "Answers with the clocks, the randomness and the environment that the tool sees.",
  arguments: z.object({}),
  hints: ["read-only"],
  async execute() {
    const before = performance.now();
    await new Promise((resolve) => setTimeout(resolve, SLEEP_MS));
    const bytes = crypto.getRandomValues(new Uint8Array(16));
    return {
      now: Date.now(),
      monotonic: performance.now() - before >= SLEEP_MS,
      random: Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join(""),
      insecure: Math.random(),
      environment: Object.keys(process.env),
      arguments: Math.max(0, process.argv.length - 1),
    };
  },
});

export const picture = tool({
  name: "picture",
  description: "Answers with a text, an image and a file.",
  arguments: z.object({}),
  hints: ["read-only", "idempotent"],
  execute() {
    const pixel = Uint8Array.from(atob(PIXEL), (character) => character.charCodeAt(0));
    const bytes = Uint8Array.of(0, 1, 2, 255);
    const pieces = ["a pixel", image("image/png", pixel), file("application/octet-stream", bytes)];
    return parts(pieces, { title: "Picture" });
  },
});

export const writeOut = tool({
  name: "write-out",
  description: "Writes its answer piece by piece while it runs.",
  arguments: z.object({ pieces: z.int().min(1).max(1000).describe("How many pieces are written.") }),
  hints: ["read-only", "idempotent"],
  execute({ pieces }) {
    const answer = answerWriter();
    for (let piece = 1; piece <= pieces; piece++) answer.write(`piece ${piece}\n`);
    return "end";
  },
});

export const keep = tool({
  name: "keep",
  description: "Keeps a text as a file beside its answer.",
  arguments: z.object({
    name: z.string().describe("The name of the file."),
    text: z.string().describe("Its content."),
  }),
  hints: ["read-only", "idempotent"],
  execute({ name, text }, context) {
    context.keep(file("text/plain", new TextEncoder().encode(text), name));
    return "kept";
  },
});
