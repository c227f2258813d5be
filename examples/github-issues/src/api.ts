// The client of the API, and failures for its error responses.

import { client, Denied, Failed, InvalidArguments, setting, Unavailable } from "portcullis-sdk";
import * as z from "zod";

/** The default address of the API; the policy's `config.base` overrides it. */
const BASE = "https://api.github.com";

/** Maximum time of one request, in milliseconds. */
const TIME_MAX_MS = 20_000;

/** An argument that both tools have. Its characters cannot lead to another path. */
export const repository = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9-]*\/[A-Za-z0-9._-]*[A-Za-z0-9_-][A-Za-z0-9._-]*$/)
  .describe("The repository, as `owner/name`.");

export const issue = z.object({
  number: z.number(),
  title: z.string(),
  state: z.string(),
  html_url: z.string(),
  user: z.object({ login: z.string() }).nullable(),
  labels: z.array(z.union([z.string(), z.object({ name: z.string() })])),
  assignees: z.array(z.object({ login: z.string() })).default([]),
  comments: z.number(),
  created_at: z.string(),
  updated_at: z.string(),
  body: z.string().nullish(),
  pull_request: z.unknown().optional(),
});

export const comment = z.object({
  user: z.object({ login: z.string() }).nullable(),
  created_at: z.string(),
  body: z.string().nullish(),
});

export type Issue = z.infer<typeof issue>;

/** A page of results, and whether there are more. */
interface Page<T> {
  value: T;
  more: boolean;
}

/** Requests a resource of a repository. */
export async function get<S extends z.ZodType>(
  repository: string,
  path: string,
  query: Record<string, string | number | undefined>,
  shape: S,
): Promise<Page<z.infer<S>>> {
  const base = (setting("base") ?? BASE).replace(/\/+$/, "");
  const url = new URL(`${base}/repos/${repository}/${path}`);
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) url.searchParams.set(name, String(value));
  }
  const response = await client("api").fetch(url, {
    headers: {
      accept: "application/vnd.github+json",
      "user-agent": "portcullis-example-issues",
      "x-github-api-version": "2022-11-28",
    },
    redirect: "manual",
    signal: AbortSignal.timeout(TIME_MAX_MS),
  });
  if (!response.ok) throw await refusal(repository, response);
  const value = shape.safeParse(await response.json());
  if (!value.success) throw new Failed(`the API returned an unexpected answer: ${z.prettifyError(value.error)}`);
  return { value: value.data, more: response.headers.get("link")?.includes('rel="next"') ?? false };
}

/** Returns the failure for an error response. */
async function refusal(repository: string, response: Response): Promise<Error> {
  const { status, headers } = response;
  if (status >= 300 && status < 400) return new Failed(`${repository} has moved; use its new name`);
  const words = await message(response);
  const exhausted = headers.get("x-ratelimit-remaining") === "0" || headers.has("retry-after");
  if (status === 429 || (status === 403 && exhausted)) {
    return new Unavailable("the API's rate limit is reached; try again later");
  }
  if (status === 401) return new Denied("the API does not accept the token; ask the user to renew it in the policy");
  if (status === 403) return new Denied(`the API does not allow this for ${repository}: ${words}`);
  if (status === 404) return new Failed(`not found in ${repository}, or the token has no access to it`);
  if (status === 410) return new Failed(`${repository} has no issues, or this one was deleted`);
  if (status === 422) return new InvalidArguments(`the API rejected the arguments: ${words}`);
  if (status >= 500) return new Unavailable(`the API failed (status ${status}); try again later`);
  return new Failed(`the API answered with status ${status}: ${words}`);
}

async function message(response: Response): Promise<string> {
  try {
    const { message } = z.object({ message: z.string() }).parse(await response.json());
    return message;
  } catch {
    return "no reason given";
  }
}
