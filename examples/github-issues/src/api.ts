// The API: where it is, how it is asked, and what its refusals mean for a model.

import { client, Denied, Failed, InvalidArguments, setting, Unavailable } from "portcullis-sdk";
import * as z from "zod";

/** Where the API is unless the policy's `config.base` says otherwise. */
const BASE = "https://api.github.com";

/** How long one request may take, in milliseconds. */
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

/** What came back, and whether there is a page after it. */
interface Page<T> {
  value: T;
  more: boolean;
}

/** Asks for something of a repository. */
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
  if (!value.success) throw new Failed(`the API answered with something else: ${z.prettifyError(value.error)}`);
  return { value: value.data, more: response.headers.get("link")?.includes('rel="next"') ?? false };
}

/** What an answer that is no success means. */
async function refusal(repository: string, response: Response): Promise<Error> {
  const { status, headers } = response;
  if (status >= 300 && status < 400) return new Failed(`${repository} has moved; use its new name`);
  const words = await message(response);
  const exhausted = headers.get("x-ratelimit-remaining") === "0" || headers.has("retry-after");
  if (status === 429 || (status === 403 && exhausted)) {
    return new Unavailable("the API takes no more requests for now; try again later");
  }
  if (status === 401) return new Denied("the API does not accept the token; who wrote the policy has to renew it");
  if (status === 403) return new Denied(`the API does not allow this for ${repository}: ${words}`);
  if (status === 404) return new Failed(`there is no such thing in ${repository}, or the token does not reach it`);
  if (status === 410) return new Failed(`${repository} has no issues, or this one was deleted`);
  if (status === 422) return new InvalidArguments(`the API does not take this: ${words}`);
  if (status >= 500) return new Unavailable(`the API has trouble (status ${status}); try again later`);
  return new Failed(`the API answered with status ${status}: ${words}`);
}

async function message(response: Response): Promise<string> {
  try {
    const { message } = z.object({ message: z.string() }).parse(await response.json());
    return message;
  } catch {
    return "it does not say why";
  }
}
