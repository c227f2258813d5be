// A program that runs, with its streams as the host gives them.

import type { ExitReport, Running } from "portcullis:tool/programs";
import { subscribeDuration } from "wasi:clocks/monotonic-clock";
import type { Pollable } from "wasi:io/poll";
import type { InputStream, OutputStream } from "wasi:io/streams";
import { u64 } from "./engine/engine.ts";
import { forget, when } from "./engine/pollables.ts";
import { Failed, payload } from "./failure.ts";

/** Maximum bytes per read. */
const READ_BYTES = 65536;

/** Maximum time that a wait takes, in nanoseconds. Then the tool checks whether the call is cancelled. */
const WAIT_NANOSECONDS_MAX = 50e6;

/** One of the two streams that a program writes. */
export type StreamName = "stdout" | "stderr";

/**
 * The runs that are not closed. The references keep the engine from dropping their handles during garbage collection,
 * in any order. The host traps a call that drops a program before its streams.
 */
const open = new Set<OpenRun>();

/** A program that runs. Its methods wait only where they return a promise. */
export class OpenRun {
  #running: Running | null;
  #stdin: OutputStream | null;
  #outputs: Record<StreamName, InputStream | null>;
  #report: ExitReport | undefined;
  /** The input that nothing has begun to write. */
  #input: Uint8Array | null;
  /** The streams that the tool reads by themselves. */
  #taken = new Set<StreamName>();
  /** Wakes what waits for this run. */
  #wakers = new Set<() => void>();

  constructor(running: Running, input: Uint8Array) {
    this.#running = running;
    this.#stdin = running.stdin() ?? null;
    this.#outputs = { stdout: running.stdout() ?? null, stderr: running.stderr() ?? null };
    this.#input = input;
    open.add(this);
  }

  /** Returns the next chunk of the streams that the tool has not taken, if there is one now. */
  chunk(): { stream: StreamName; bytes: Uint8Array } | undefined {
    this.#beginInput();
    for (const stream of this.#untaken()) {
      const bytes = this.#read(stream);
      if (bytes !== null && bytes.length > 0) return { stream, bytes };
    }
    return undefined;
  }

  /** Returns whether the program has ended, and everything that it wrote to the streams not taken has been read. */
  isOver(): boolean {
    return this.#untaken().length === 0 && this.report() !== undefined;
  }

  /** Waits until `chunk` or `isOver` may return something else, or a short time has passed. */
  changed(): Promise<void> {
    const untaken = this.#untaken().map((stream) => this.#outputs[stream]);
    // The end of the program stays ready, so it counts only when there is nothing left to read.
    const sources = untaken.length > 0 ? untaken : [this.#running];
    return this.#until(...sources.map((source) => this.#opened(source).subscribe()));
  }

  /** Yields a stream, which `chunk` skips from now on. */
  take(stream: StreamName): AsyncGenerator<Uint8Array> {
    this.#taken.add(stream);
    this.#wake();
    return this.#chunksOf(stream);
  }

  async *#chunksOf(stream: StreamName): AsyncGenerator<Uint8Array> {
    for (;;) {
      this.#beginInput();
      const bytes = this.#read(stream);
      if (bytes === null) return;
      if (bytes.length > 0) yield bytes;
      else await this.#until(this.#opened(this.#outputs[stream]).subscribe());
    }
  }

  /** Leaves stdin to the tool. */
  takeInput(): void {
    this.#input = null;
  }

  /** Writes to stdin. Throws if the program has closed it. */
  async write(bytes: Uint8Array): Promise<void> {
    for (let start = 0; start < bytes.length; ) {
      const room = this.#room();
      if (room === 0) {
        await this.#until(this.#opened(this.#stdin).subscribe());
        continue;
      }
      this.#useInput(() => this.#opened(this.#stdin).write(bytes.subarray(start, start + room)));
      start += room;
    }
  }

  /** Ends stdin. Dropping the stream at once could lose bytes that the host has accepted and not passed on. */
  async endInput(): Promise<void> {
    if (this.#stdin === null) return;
    try {
      this.#useInput(() => this.#stdin?.flush());
      while (this.#stdin !== null && this.#room() === 0) await this.#until(this.#stdin.subscribe());
    } catch {
      // The program has closed its stdin, and does not want the rest.
    }
    this.#dropInput();
  }

  report(): ExitReport | undefined {
    this.#report ??= this.#running?.exit() ?? undefined;
    return this.#report;
  }

  kill(): void {
    this.#running?.kill();
  }

  /** Drops all handles, which ends the program. The host requires children to be dropped first. */
  close(): void {
    this.report();
    this.#input = null;
    this.#dropInput();
    for (const stream of ["stdout", "stderr"] as const) this.#dropOutput(stream);
    this.#running?.[Symbol.dispose]();
    this.#running = null;
    open.delete(this);
  }

  #untaken(): StreamName[] {
    return (["stdout", "stderr"] as const).filter((name) => this.#outputs[name] !== null && !this.#taken.has(name));
  }

  /** Writes the input in the background, unless that has begun or the tool has taken stdin. */
  #beginInput(): void {
    const input = this.#input;
    if (input === null) return;
    this.#input = null;
    const writeAll = async () => {
      try {
        await this.write(input);
      } catch {
        // The program has closed its stdin, and does not want the rest.
      }
      await this.endInput();
    };
    void writeAll();
  }

  /** Returns how many bytes stdin accepts now. */
  #room(): number {
    return this.#useInput(() => Number(this.#opened(this.#stdin).checkWrite()));
  }

  /** Uses stdin. If the program has closed it, drops it and throws. */
  #useInput<T>(use: () => T): T {
    try {
      return use();
    } catch (error) {
      if (payload(error) === undefined) throw error;
      this.#dropInput();
      throw new Failed("the program has closed its stdin", { cause: error });
    }
  }

  /** Returns what has arrived, or `null` at the end. */
  #read(stream: StreamName): Uint8Array | null {
    try {
      return this.#outputs[stream]?.read(u64(READ_BYTES)) ?? null;
    } catch (error) {
      const reason = payload(error) as { tag?: string } | undefined;
      if (reason === undefined) throw error;
      this.#dropOutput(stream);
      if (reason.tag === "closed") return null;
      throw new Failed(`the ${stream} of the program broke`, { cause: error });
    }
  }

  #dropInput(): void {
    const stdin = this.#stdin;
    this.#stdin = null;
    this.#wake();
    stdin?.[Symbol.dispose]();
  }

  #dropOutput(stream: StreamName): void {
    const output = this.#outputs[stream];
    this.#outputs[stream] = null;
    this.#wake();
    output?.[Symbol.dispose]();
  }

  #opened<T>(handle: T | null): T {
    if (handle === null) throw new Failed("the stream of the program is closed");
    return handle;
  }

  /** Waits until one of the pollables is ready, for a short time, or until `#wake`. */
  #until(...pollables: Pollable[]): Promise<void> {
    return new Promise((resolve) => {
      const waiting = new Set<ReturnType<typeof when>>();
      const wake = () => {
        this.#wakers.delete(wake);
        for (const one of waiting) forget(one);
        resolve();
      };
      this.#wakers.add(wake);
      for (const pollable of [...pollables, subscribeDuration(u64(WAIT_NANOSECONDS_MAX))]) {
        const one = when(pollable, () => {
          waiting.delete(one);
          wake();
        });
        waiting.add(one);
      }
    });
  }

  /** Ends all waits, which look again. A stream cannot be dropped while something waits for it. */
  #wake(): void {
    for (const wake of [...this.#wakers]) wake();
  }
}
