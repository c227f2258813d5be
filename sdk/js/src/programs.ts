// Programs that the policy grants. The operating system confines them.

import { isCancelled } from "portcullis:tool/context";
import { openProgram, type Program as Handle } from "portcullis:tool/programs";
import type { Exit as HostExit, ExitReport as HostReport, Missing as HostMissing } from "portcullis:tool/programs";
import { Cancelled, Failed, payload } from "./failure.ts";
import { decode, encode, TextDecoder } from "./globals/encoding.ts";
import { noHandle } from "./handles.ts";
import { OpenRun, type StreamName } from "./run.ts";
import { kindOf, sendable, sendableBytes } from "./sendable.ts";

/** Default maximum of what `run` keeps of each stream, in bytes: small compared with the memory of a call. */
const OUTPUT_BYTES_MAX = 4 * 1024 * 1024;

/** What to start a program with, besides its arguments. */
export interface LaunchOptions {
  /** More environment variables. A variable of the policy wins over one of the same name. */
  environment?: Readonly<Record<string, string>> | undefined;
  /**
   * The directory to start in, such as `/workspace/src`: the key of a directory of the program's binding, and a path
   * below it. The default is the first directory of the binding.
   */
  directory?: string | undefined;
  /** What is written to stdin. By default stdin is empty. */
  stdin?: string | Uint8Array | undefined;
  /** Whether stderr goes to the stream of stdout, in the order of the writes. */
  merge?: boolean | undefined;
  /**
   * What the program lacks for this run. The start then asks an approver, who reads the program and its arguments, and
   * waits for the answer. Only a person can allow it.
   */
  needs?: Missing | undefined;
}

/**
 * What a program lacks for one run: a host and a port, such as `files.example.org:443`, or a directory to read, or a
 * directory to read and write. A directory is named by its absolute path on the machine.
 */
export type Missing = { host: string } | { read: string } | { write: string };

/** How a program ended: by itself with a code, by a signal, or by the host with the limit that it reached. */
export type Exit = { code: number } | { signal: number } | { stopped: string };

/** The report of a program that has ended. */
export interface ExitReport {
  readonly exit: Exit;
  /** Whether the program ended by itself with the code 0. */
  readonly ok: boolean;
  /** The time from start to end. */
  readonly milliseconds: number;
  /** The number of background processes that the host ended with the program. */
  readonly leftProcesses: number;
  /** What the confinement refused and the host knows of, such as `GET http://a.example/`: for the model. */
  readonly refused: readonly string[];
}

/** Bytes that a program wrote. */
export interface Chunk {
  readonly stream: StreamName;
  readonly bytes: Uint8Array;
}

/** What a program wrote, and how it ended. */
export interface ProgramOutput {
  readonly stdout: Uint8Array;
  /** Empty if stderr went to the stream of stdout. */
  readonly stderr: Uint8Array;
  /** Stdout as text. Invalid UTF-8 becomes U+FFFD. */
  readonly text: string;
  /** Stderr as text. Invalid UTF-8 becomes U+FFFD. */
  readonly errors: string;
  /** Whether the program wrote more than was kept. */
  readonly cut: boolean;
  readonly report: ExitReport;
}

/** A program that the policy binds to a key. */
export interface Program {
  /**
   * Runs the program to its end, and returns what it wrote. An exit code other than 0 throws nothing. Throws `Failed` if
   * the host cannot start it, and `Cancelled` if the call is cancelled; then the program was ended. With `needs`,
   * `Failed` also means that the policy does not let the program ask, or that the approver said no.
   *
   * @param args The arguments after the program's own name. No shell reads them.
   */
  run(args?: readonly string[], options?: LaunchOptions & { maxBytes?: number | undefined }): Promise<ProgramOutput>;
  /** Starts the program. Throws `Failed` as `run` does. */
  start(args?: readonly string[], options?: LaunchOptions): Running;
}

/** Opens the program of a dependency key. Nothing runs yet. */
export function program(key: string): Program {
  let handle: Handle;
  try {
    handle = openProgram(sendable(key, "the key of a program"));
  } catch (error) {
    throw noHandle("program", key, error);
  }
  return {
    async run(args = [], { maxBytes = OUTPUT_BYTES_MAX, ...options } = {}) {
      using running = start(handle, args, options);
      return await collect(running, maxBytes);
    },
    start: (args = [], options = {}) => start(handle, args, options),
  };
}

function start(handle: Handle, args: readonly string[], options: LaunchOptions): Running {
  const { environment = {}, directory, stdin = "", merge = false, needs } = options;
  if (!Array.isArray(args)) throw new TypeError(`the arguments of a program are a list, and not ${kindOf(args)}`);
  const launch = {
    arguments: args.map((argument) => sendable(argument, "an argument of a program")),
    environment: Object.entries(environment).map(([name, value]): [string, string] => {
      return [sendable(name, "a variable"), sendable(value, `the variable ${name}`)];
    }),
    directory: directory === undefined ? null : sendable(directory, "the directory of a program"),
    merge: Boolean(merge),
  };
  const input = bytesOf(stdin);
  const missing = needs === undefined ? undefined : missingOf(needs);
  try {
    const running = missing === undefined ? handle.start(launch) : handle.startWith(launch, missing);
    return new Running(new OpenRun(running, input));
  } catch (error) {
    const words = payload(error);
    throw words === undefined ? error : new Failed(String(words), { cause: error });
  }
}

function missingOf(needs: Missing): HostMissing {
  if (kindOf(needs) === "an object" && Object.keys(needs).length === 1) {
    if ("host" in needs) return { tag: "destination", val: sendable(needs.host, "`needs.host`") };
    if ("read" in needs) return { tag: "readable-directory", val: sendable(needs.read, "`needs.read`") };
    if ("write" in needs) return { tag: "writable-directory", val: sendable(needs.write, "`needs.write`") };
  }
  throw new TypeError("`needs` has to be an object with one of `host`, `read` and `write`");
}

function bytesOf(data: string | Uint8Array): Uint8Array {
  return typeof data === "string" ? encode(sendable(data, "stdin")) : sendableBytes(data, "stdin");
}

async function collect(running: Running, maxBytes: number): Promise<ProgramOutput> {
  const kept = { stdout: [] as Uint8Array[], stderr: [] as Uint8Array[] };
  const room = { stdout: maxBytes, stderr: maxBytes };
  let cut = false;
  for await (const { stream, bytes } of running) {
    const piece = bytes.subarray(0, room[stream]);
    if (piece.length > 0) kept[stream].push(piece);
    room[stream] -= piece.length;
    cut ||= piece.length < bytes.length;
  }
  const [stdout, stderr, report] = [joined(kept.stdout), joined(kept.stderr), await running.wait()];
  return {
    stdout,
    stderr,
    cut,
    report,
    get text() {
      return decode(stdout);
    },
    get errors() {
      return decode(stderr);
    },
  };
}

function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(pieces.reduce((length, piece) => length + piece.length, 0));
  let start = 0;
  for (const piece of pieces) {
    bytes.set(piece, start);
    start += piece.length;
  }
  return bytes;
}

/** The stdin of a program. */
export interface ProgramInput {
  /** Waits until the program takes the bytes. Throws `Failed` if it has closed its stdin. */
  write(data: string | Uint8Array): Promise<void>;
  /** Waits until the program has all bytes, and ends the input. */
  end(): Promise<void>;
}

/**
 * A program that runs. `for await (const { stream, bytes } of running)` gets what it writes, until it has ended and
 * everything is read. The input is written in the meantime. `using` ends the program at the end of the block.
 */
export class Running {
  readonly #run: OpenRun;

  /** @internal */
  constructor(run: OpenRun) {
    this.#run = run;
  }

  /**
   * Yields what the program writes to both streams, in the order of arrival. Throws `Cancelled` if the call is
   * cancelled; then the program was ended.
   */
  async *[Symbol.asyncIterator](): AsyncGenerator<Chunk> {
    for (;;) {
      const chunk = this.#run.chunk();
      if (chunk !== undefined) yield chunk;
      else if (this.#run.isOver()) return;
      else await this.#run.changed();
      if (!isCancelled()) continue;
      this.kill();
      throw new Cancelled();
    }
  }

  /** Yields what the program writes to both streams as text. Invalid UTF-8 becomes U+FFFD. */
  async *text(): AsyncGenerator<string> {
    const decoder = () => new TextDecoder("utf-8", { ignoreBOM: true });
    const decoders = { stdout: decoder(), stderr: decoder() };
    for await (const { stream, bytes } of this) {
      const text = decoders[stream].decode(bytes, { stream: true });
      if (text !== "") yield text;
    }
    for (const rest of [decoders.stdout.decode(), decoders.stderr.decode()]) if (rest !== "") yield rest;
  }

  /** Yields what the program writes to stdout. Iterating over the program itself then skips the stream. */
  get stdout(): AsyncIterable<Uint8Array> {
    return this.#run.take("stdout");
  }

  /** Yields what the program writes to stderr. Nothing if stderr goes to the stream of stdout. */
  get stderr(): AsyncIterable<Uint8Array> {
    return this.#run.take("stderr");
  }

  /** Writes to stdin. It replaces the option `stdin`. */
  get stdin(): ProgramInput {
    const run = this.#run;
    run.takeInput();
    return { write: (data) => run.write(bytesOf(data)), end: () => run.endInput() };
  }

  /** Waits until the program has ended. Drops what it writes to a stream that the tool does not read. */
  async wait(): Promise<ExitReport> {
    for (;;) {
      if (this.#run.chunk() !== undefined) continue;
      const report = this.report;
      if (report !== null && this.#run.isOver()) return report;
      await this.#run.changed();
    }
  }

  /** How the program ended, or `null` while it runs. */
  get report(): ExitReport | null {
    const report = this.#run.report();
    return report === undefined ? null : reportOf(report);
  }

  /** Ends the program and everything that it started. What it wrote before can still be read. */
  kill(): void {
    this.#run.kill();
  }

  /** Ends the program if it still runs, and closes its streams. */
  [Symbol.dispose](): void {
    this.#run.close();
  }
}

function reportOf({ exit, milliseconds, leftProcesses, refused }: HostReport): ExitReport {
  const ok = exit.tag === "code" && exit.val === 0;
  return { exit: exitOf(exit), ok, milliseconds: Number(milliseconds), leftProcesses, refused };
}

function exitOf({ tag, val }: HostExit): Exit {
  switch (tag) {
    case "code":
      return { code: val };
    case "signal":
      return { signal: val };
    case "stopped":
      return { stopped: val };
  }
}
