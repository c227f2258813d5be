// What the SDK itself does where a mistake would end the instance or be silent. The cases are in `tests`.

import { plugin } from "portcullis-sdk";
import { collections, consoles, decoded, draw, files, own, schema, settings } from "./globals.js";
import { surrogates, surrogateAnswer, surrogateFailure, surrogateStore } from "./surrogates.js";
import { exchange } from "./exchange.js";
import { thrown, wrong } from "./thrown.js";

export default plugin({
  name: "surface",
  version: "1.0.0",
  description: "What the SDK does at its edges.",
  tools: [
    surrogates, surrogateAnswer, surrogateFailure, surrogateStore,
    own, draw, decoded, files, consoles, collections, schema, settings,
    exchange, thrown, wrong,
  ],
  dependencies: {
    workspace: { kind: "directory", reason: "Files that are read and written.", optional: true },
    web: { kind: "http", reason: "What is fetched.", optional: true },
    notes: { kind: "store", reason: "What is kept.", optional: true },
  },
});
