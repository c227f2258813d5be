import { Failure, image, log, parts, tool } from "portcullis-sdk";

const fail = () => {
  throw new Error("inner");
};

const THROWN = {
  circular() {
    const object = Object.create(null);
    object.self = object;
    return object;
  },
  symbol: () => Object.assign(new Error("with a symbol"), { name: Symbol("name") }),
  throwing: () => ({ toJSON: fail, toString: fail }),
  proxy: () => new Proxy({}, { get: fail, getPrototypeOf: fail, has: fail, ownKeys: fail }),
  nothing: () => undefined,
  message: () => Object.assign(new Failure("denied", ""), { message: { toString: fail, toJSON: fail } }),
  kind: () => new Failure("broken", "text"),
};

export const thrown = tool({
  name: "thrown",
  description: "Throws what is hard to show.",
  arguments: { type: "object", properties: { what: { enum: Object.keys(THROWN) } }, required: ["what"] },
  execute({ what }) {
    throw THROWN[what]();
  },
});

const WRONG = {
  title: (context) => context.progress({ title: {} }),
  fraction: (context) => context.progress({ fraction: "half" }),
  metadata: (context) => context.progress({ metadata: () => 1 }),
  level: () => log("warning", "text"),
  message: () => log("info", 5),
  ask: (context) => context.ask({ permission: "read", reason: "none" }),
  answer: () => parts(["text"], { title: 5 }),
  part: () => parts([{ type: "movie" }]),
  bytes: () => parts([image("image/png", [1, 2])]),
};

export const wrong = tool({
  name: "wrong",
  description: "Gives the host what is of another type.",
  arguments: { type: "object", properties: { what: { enum: Object.keys(WRONG) } }, required: ["what"] },
  execute: ({ what }, context) => WRONG[what](context) ?? "taken",
});
