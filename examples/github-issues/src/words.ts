// Formats issues as text.

import type { Issue } from "./api.ts";

/** Maximum characters of a text to show. */
const TEXT_CHARACTERS_MAX = 20_000;

/** Formats the details of an issue in one line. */
export function facts({ state, user, labels, assignees, comments, created_at, updated_at }: Issue): string {
  const names = labels.map((label) => (typeof label === "string" ? label : label.name));
  return [
    state,
    `by ${login(user)}`,
    `created ${day(created_at)}`,
    `updated ${day(updated_at)}`,
    ...(names.length > 0 ? [`labels: ${names.join(", ")}`] : []),
    ...(assignees.length > 0 ? [`assigned to ${assignees.map(login).join(", ")}`] : []),
    counted(comments, "comment"),
  ].join("; ");
}

export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

export function login(user: { login: string } | null): string {
  return user?.login ?? "a deleted account";
}

export function day(time: string): string {
  return time.slice(0, 10);
}

/** Formats a text of the issue, cut to the maximum. */
export function written(body: string | null | undefined): string {
  const text = (body ?? "").replaceAll("\r\n", "\n").trim();
  if (text === "") return "(no text)";
  const characters = [...text];
  if (characters.length <= TEXT_CHARACTERS_MAX) return text;
  const left = characters.length - TEXT_CHARACTERS_MAX;
  return `${characters.slice(0, TEXT_CHARACTERS_MAX).join("")}\n(${counted(left, "more character")})`;
}
