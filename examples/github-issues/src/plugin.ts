import { plugin } from "portcullis-sdk";
import { list } from "./list.ts";
import { read } from "./read.ts";

export default plugin({
  name: "issues",
  version: "0.1.0",
  description: "Reads the issues of repositories on GitHub.",
  tools: [list, read],
  dependencies: {
    api: { kind: "http", reason: "GitHub's API, which the issues come from." },
  },
});
