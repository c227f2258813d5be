// Reviewers: a plugin's own check of its calls, before they run.

import { namesHost } from "portcullis:tool/dependencies";
import { beginCall } from "./engine/hooks.ts";
import { complete } from "./engine/jobs.ts";
import { describe } from "./failure.ts";
import { noHandle } from "./handles.ts";
import { sendable } from "./sendable.ts";

/** A reviewer's verdict. It can only make the policy's decision stricter. */
export type Verdict = "clear" | { ask: string } | { refuse: string };

/** A call that is about to run. */
export interface Reviewed {
  readonly tool: string;
  readonly arguments: any;
  /** Returns whether the policy's binding for an HTTP key names the host of a URL. */
  namesHost(key: string, url: string): boolean;
}

/** A function that reviews a call. Export it as `review`. It has no handles, little time and little memory. */
export type Review = (call: Reviewed) => Verdict | PromiseLike<Verdict>;

/** Creates the component's export from a review function. If the function throws, the call is refused. */
export function reviewer(review: Review) {
  return {
    review(tool: string, input: string) {
      beginCall();
      try {
        return variant(complete(() => review({ tool, arguments: JSON.parse(input), namesHost: names })));
      } catch (error) {
        return variant({ refuse: `the review failed: ${describe(error)}` });
      }
    },
  };
}

function variant(verdict: Verdict): { tag: string; val?: string } {
  if (verdict === "clear") return { tag: "clear" };
  const [tag, reason] = "ask" in verdict ? ["ask", verdict.ask] : ["refuse", verdict.refuse];
  return { tag, val: sendable(reason, "the reason") };
}

function names(key: string, url: string): boolean {
  const [client, where] = [sendable(key, "the key"), sendable(url, "the URL")];
  try {
    return namesHost(client, where);
  } catch (error) {
    throw noHandle("HTTP client", key, error);
  }
}
