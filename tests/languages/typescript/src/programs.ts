import { answerWriter, type Exit, type Missing, program, tool } from "portcullis-sdk";
import * as z from "zod";

/** How much is kept of each stream, in bytes. */
const KEPT_BYTES = 100_000;
/** How much of what was written before is searched too, in characters. */
const TAIL_CHARACTERS = 100;

const key = z.string().describe("The key of the program.");
const words = z.array(z.string()).describe("Its arguments.");
const input = z.string().optional().describe("What it reads from stdin.");

function told(exit: Exit): string {
  if ("code" in exit) return `exit code ${exit.code}`;
  return "signal" in exit ? `signal ${exit.signal}` : exit.stopped;
}

function missing(host?: string, read?: string, write?: string): Missing | undefined {
  if (host !== undefined) return { host };
  if (read !== undefined) return { read };
  return write === undefined ? undefined : { write };
}

export const run = tool({
  name: "run",
  description: "Runs a program to its end, and answers with what it wrote.",
  arguments: z.object({
    key,
    arguments: words,
    input,
    directory: z.string().optional().describe("The directory to start in."),
    merge: z.boolean().default(false).describe("Whether stderr goes to the stream of stdout."),
    needs_host: z.string().optional().describe("A host and a port that the program lacks."),
    needs_read: z.string().optional().describe("A directory of the machine that the program has to read."),
    needs_write: z.string().optional().describe("A directory of the machine that the program has to write."),
  }),
  requires: ["read", "write", "execute"],
  async execute({ key, arguments: words, input, directory, merge, needs_host, needs_read, needs_write }) {
    const output = await program(key).run(words, {
      environment: { CALLER: "conformance" },
      directory,
      stdin: input,
      merge,
      needs: missing(needs_host, needs_read, needs_write),
      maxBytes: KEPT_BYTES,
    });
    return { exit: told(output.report.exit), stdout: output.text, stderr: output.errors, cut: output.cut };
  },
});

export const stream = tool({
  name: "stream",
  description: "Passes on what a program writes, and ends the program once it has written a text.",
  arguments: z.object({
    key,
    arguments: words,
    input,
    until: z.string().optional().describe("The text that ends the program."),
  }),
  requires: ["read", "write", "execute"],
  async execute({ key, arguments: words, input, until }) {
    const answer = answerWriter();
    using running = program(key).start(words, { stdin: input, merge: true });
    if (until === undefined) {
      for await (const { bytes } of running) answer.write(bytes);
    } else {
      let tail = "";
      for await (const piece of running.text()) {
        answer.write(piece);
        tail = tail.slice(-TAIL_CHARACTERS) + piece;
        if (tail.includes(until)) running.kill();
      }
    }
    return `[${told((await running.wait()).exit)}]`;
  },
});

/** Returns a function that reads up to the end of a line, or what is left. */
function lineReader(chunks: AsyncIterable<Uint8Array>): (until?: string) => Promise<string> {
  const [pieces, decoder] = [chunks[Symbol.asyncIterator](), new TextDecoder()];
  let rest = "";
  return async (until) => {
    for (;;) {
      const end = until === undefined ? -1 : rest.indexOf(until) + 1;
      const piece = end > 0 ? undefined : await pieces.next();
      if (piece === undefined || piece.done) {
        const line = end > 0 ? rest.slice(0, end) : rest;
        rest = rest.slice(line.length);
        return line;
      }
      rest += decoder.decode(piece.value, { stream: true });
    }
  };
}

export const converse = tool({
  name: "converse",
  description: "Writes lines to a program, and reads its answer to each.",
  arguments: z.object({ key, arguments: words, lines: z.array(z.string()).describe("What to write.") }),
  requires: ["read", "write", "execute"],
  async execute({ key, arguments: words, lines }) {
    using running = program(key).start(words, { merge: true });
    const { stdin } = running;
    const read = lineReader(running.stdout);
    const replies: string[] = [];
    for (const line of lines) {
      await stdin.write(`${line}\n`);
      replies.push(await read("\n"));
    }
    await stdin.end();
    return { replies, rest: await read(), exit: told((await running.wait()).exit) };
  },
});
