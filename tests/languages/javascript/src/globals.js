import { readFileSync, writeFileSync, appendFileSync } from "node:fs";
import { setting, store, tool } from "portcullis-sdk";

const none = { type: "object" };

// What a package keeps in variables when it is loaded, while the component is built.
const { random } = Math;
const engine = Math;
const now = Date.now;
const Clock = globalThis.Date;
const epoch = new Date(0);
const isProduction = process.env.NODE_ENV === "production";
const { env, argv } = process;

/** When this was written, in milliseconds: no clock of the host is before it. */
const WRITTEN_MS = 1_700_000_000_000;

export const own = tool({
  name: "own",
  description: "Answers whether clocks and randomness are the host's by whatever name they go.",
  arguments: none,
  execute() {
    const drawn = [random(), engine.random(), Math.random(), globalThis.Math.random()];
    const times = [now(), Clock.now(), globalThis.Date.now(), Date.now(), new Clock().getTime(), new Date().getTime()];
    times.push(new epoch.constructor().getTime(), Date.parse(Date()), +new (class extends Date {})());
    return {
      random: new Set(drawn).size === drawn.length && drawn.every((one) => one >= 0 && one < 1),
      times: times.map((time) => time > WRITTEN_MS).every(Boolean),
      isDate: new Clock() instanceof Date && epoch.constructor === Date,
      crypto: globalThis.crypto.randomUUID().length,
      performance: globalThis.performance.now() >= 0,
      process: [isProduction, Object.keys(env).length, argv.length],
    };
  },
});

export const draw = tool({
  name: "draw",
  description: "Says whether each way to a random number leads to another one than in the call before.",
  arguments: none,
  requires: ["read", "write"],
  execute() {
    const notes = store("notes");
    const drawn = [random(), engine.random(), Math.random(), globalThis.crypto.randomUUID()];
    const before = notes.getJson("drawn");
    notes.setJson("drawn", drawn);
    if (before === null) return "first";
    return `${drawn.filter((one) => !before.includes(one)).length} of ${drawn.length} differ`;
  },
});

export const decoded = tool({
  name: "decoded",
  description: "Decodes a text that arrives byte by byte.",
  arguments: none,
  execute() {
    const text = "\ufeffé€\u{1f600}z";
    const whole = new TextEncoder().encode(text);
    const byByte = (bytes, options) => {
      const decoder = new TextDecoder("utf-8", options);
      let read = "";
      for (const byte of bytes) read += decoder.decode(Uint8Array.of(byte), { stream: true });
      return read + decoder.decode();
    };
    const broken = Uint8Array.of(0xe2, 0x82, 0x41, 0xf0, 0x9f);
    let fatal = "no error";
    try {
      byByte(broken, { fatal: true });
    } catch (error) {
      fatal = error.name;
    }
    return { text: byByte(whole), kept: byByte(whole, { ignoreBOM: true }).length, broken: byByte(broken), fatal };
  },
});

export const files = tool({
  name: "files",
  description: "Writes files by the flags of Node.",
  arguments: none,
  requires: ["read", "write"],
  execute() {
    const path = "/workspace/a.txt";
    const outcome = (act) => {
      try {
        act();
        return readFileSync(path, "utf8");
      } catch (error) {
        return error.code ?? error.message;
      }
    };
    return [
      outcome(() => writeFileSync(path, "long text")),
      outcome(() => writeFileSync(path, "new", { flag: "w+" })),
      outcome(() => writeFileSync(path, "!", { flag: "ax" })),
      outcome(() => writeFileSync(path, "!", { flag: "wx" })),
      outcome(() => writeFileSync(path, "!", { flag: "a" })),
      outcome(() => appendFileSync(path, "?", "utf-8")),
      outcome(() => writeFileSync(path, "N", { flag: "r+" })),
      outcome(() => writeFileSync(path, "YQ==", "base64")),
      outcome(() => writeFileSync(path, "YQ==", { flag: "x" })),
      outcome(() => writeFileSync(path, 5)),
      outcome(() => readFileSync(5)),
    ];
  },
});

export const consoles = tool({
  name: "consoles",
  description: "Prints in all ways of a console.",
  arguments: none,
  execute() {
    console.group("outer");
    console.dir({ a: 1 });
    console.groupEnd();
    console.table([{ b: 2 }]);
    console.count();
    console.count();
    console.time("timer");
    console.timeLog("timer", "so far");
    console.timeEnd("timer");
    return "printed";
  },
});

export const collections = tool({
  name: "collections",
  description: "Answers with what JSON would lose.",
  arguments: { type: "object", properties: { what: { enum: ["map", "set"] } }, required: ["what"] },
  execute: ({ what }) => ({ inner: what === "map" ? new Map([[1, 2]]) : new Set([1]) }),
});

export const schema = tool({
  name: "schema",
  description: "Takes arguments by a schema that is made of several.",
  arguments: {
    type: "object",
    properties: {
      a: { type: "number" },
      inner: { allOf: [{ $ref: "#/$defs/b" }, { type: "object", properties: { c: {} } }] },
    },
    allOf: [{ type: "object", properties: { d: { type: "number" } }, required: ["d"] }],
    $defs: { b: { type: "object", properties: { b: {} } } },
  },
  execute: (input) => input,
});

export const settings = tool({
  name: "settings",
  description: "Asks for a setting by what is no text.",
  arguments: none,
  execute: () => setting({}),
});
