// A plugin's own opinion of a call, before it runs.

import { namesHost } from "portcullis:tool/dependencies";
import { beginCall } from "./engine/hooks.ts";
import { complete } from "./engine/jobs.ts";
import { describe } from "./failure.ts";
import { noHandle } from "./handles.ts";
import { sendable } from "./sendable.ts";

/** What a plugin thinks of a call. It can only tighten what the policy decided. */
export type Verdict = "clear" | { ask: string } | { refuse: string };

/** A call that is about to run. */
export interface Reviewed {
  readonly tool: string;
  readonly arguments: any;
  /** Whether the policy names the host of a URL in what it binds to an HTTP key. */
  namesHost(key: string, url: string): boolean;
}

/** Reviews a call. A source exports it as `review`. It has no handle, little time and little memory. */
export type Review = (call: Reviewed) => Verdict | PromiseLike<Verdict>;

/** Makes the component's export of a review. One that throws refuses the call. */
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
