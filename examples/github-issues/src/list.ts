import { text, tool } from "portcullis-sdk";
import * as z from "zod";
import { get, issue, repository } from "./api.ts";
import { counted, facts } from "./words.ts";

/** Maximum issues per page, as in the API. */
const ISSUES_MAX = 100;

export const list = tool({
  name: "list",
  title: "List issues",
  description:
    "Lists the issues of a repository on GitHub, the newest first: number, title and details of each. " +
    "Pull requests are left out. Read one with the tool `read`.",
  arguments: z.object({
    repository,
    state: z.enum(["open", "closed", "all"]).default("open").describe("Which issues."),
    labels: z.array(z.string().min(1)).default([]).describe("Only issues that have all of these labels."),
    author: z.string().optional().describe("Only issues that this account wrote."),
    assignee: z.string().optional().describe("Only issues assigned to this account; `none` for unassigned issues."),
    since: z.iso.datetime().optional().describe("Only issues that changed at or after this time, in RFC 3339."),
    sort: z.enum(["created", "updated", "comments"]).default("created").describe("The sort order."),
    limit: z.int().min(1).max(ISSUES_MAX).default(20).describe("Maximum number of issues."),
    page: z.int().min(1).max(1000).default(1).describe("The page of results."),
  }),
  requires: ["network"],
  hints: ["read-only", "idempotent", "open-world"],
  async execute({ repository, labels, author, limit, ...query }) {
    const asked = { ...query, labels: labels.join(",") || undefined, creator: author, per_page: limit };
    const { value, more } = await get(repository, "issues", asked, z.array(issue));
    const issues = value.filter(({ pull_request }) => pull_request === undefined);
    const lines = issues.map((issue) => `#${issue.number} ${issue.title}\n   ${facts(issue)}`);
    if (lines.length === 0) lines.push("No issues on this page.");
    if (more) lines.push(`There is more: ask for page ${query.page + 1}.`);
    return text(lines.join("\n"), {
      title: `${counted(issues.length, "issue")} of ${repository}`,
      metadata: { numbers: issues.map(({ number }) => number), more },
    });
  },
});
