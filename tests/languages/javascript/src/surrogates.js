// Texts that no UTF-8 can say: half of a pair of surrogates.

import { Failed, json, log, parts, setting, store, text, tool } from "portcullis-sdk";

const LONE = "a\ud83d";
const none = { type: "object" };

export const surrogates = tool({
  name: "surrogates",
  description: "Gives the host half a character wherever it takes a text.",
  arguments: none,
  requires: ["write"],
  execute(_, context) {
    log("info", `log ${LONE}`);
    console.log(`print ${LONE}`);
    context.progress({ title: LONE, metadata: { [LONE]: LONE }, fraction: 0.5 });
    setting(LONE);
    try {
      context.ask({ permission: "write", resource: LONE, reason: LONE });
    } catch {
      // No approver is connected, so the request is denied.
    }
    return parts([LONE], { title: LONE, metadata: { [LONE]: [LONE] } });
  },
});

export const surrogateAnswer = tool({
  name: "surrogate-answer",
  description: "Answers with half a character, in JSON or as text.",
  arguments: { type: "object", properties: { as: { enum: ["json", "text"] } }, required: ["as"] },
  execute: ({ as }) => (as === "text" ? text(LONE) : json({ [LONE]: [LONE, "\\ud83d", "\u{1f600}", "é\n"] })),
});

export const surrogateFailure = tool({
  name: "surrogate-failure",
  description: "Fails with half a character.",
  arguments: { type: "object", properties: { as: { enum: ["failure", "error", "text"] } }, required: ["as"] },
  execute({ as }) {
    if (as === "failure") throw new Failed(LONE);
    if (as === "error") throw new Error(LONE);
    throw LONE;
  },
});

export const surrogateStore = tool({
  name: "surrogate-store",
  description: "Keeps half a character under half a character.",
  arguments: none,
  requires: ["read", "write"],
  execute() {
    const notes = store("notes");
    notes.set(LONE, LONE);
    notes.setJson("json", { [LONE]: LONE });
    return [notes.keys().sort(), notes.get(LONE), notes.has(LONE), notes.getJson("json")];
  },
});
