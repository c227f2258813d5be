import { text, tool } from "portcullis-sdk";
import * as z from "zod";
import { comment, get, issue, repository } from "./api.ts";
import { counted, day, facts, login, written } from "./words.ts";

/** Maximum comments to read, as in the API. */
const COMMENTS_MAX = 100;

export const read = tool({
  name: "read",
  title: "Read an issue",
  description: "Reads one issue of a repository on GitHub with its comments, the oldest first.",
  arguments: z.object({
    repository,
    number: z.int().min(1).describe("The number of the issue."),
    comments: z.int().min(0).max(COMMENTS_MAX).default(30).describe("Maximum number of comments."),
  }),
  requires: ["network"],
  hints: ["read-only", "idempotent", "open-world"],
  async execute({ repository, number, comments: limit }, context) {
    const { value: found } = await get(repository, `issues/${number}`, {}, issue);
    const pieces = [`# ${found.title} (#${number})`, facts(found), found.html_url, written(found.body)];
    if (found.comments > 0 && limit > 0) {
      context.progress({ title: `${counted(found.comments, "comment")} of #${number}`, fraction: 0.5 });
      const path = `issues/${number}/comments`;
      const { value: comments } = await get(repository, path, { per_page: limit }, z.array(comment));
      for (const { user, created_at, body } of comments) {
        pieces.push(`## ${login(user)}, ${day(created_at)}`, written(body));
      }
      const left = found.comments - comments.length;
      if (left > 0) pieces.push(`(${counted(left, "more comment")})`);
    }
    return text(pieces.join("\n\n"), {
      title: `Read #${number} of ${repository}`,
      metadata: { number, state: found.state, url: found.html_url },
    });
  },
});
