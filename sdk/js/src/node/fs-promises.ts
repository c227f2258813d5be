// `node:fs/promises`, over the synchronous functions of `node:fs`: the host has no others, so waiting gains nothing.

import * as fs from "./fs-sync.ts";

/* @__NO_SIDE_EFFECTS__ */
function promised<A extends unknown[], T>(act: (...input: A) => T): (...input: A) => Promise<T> {
  return async (...input) => act(...input);
}

export const access = promised((path: fs.Path) => fs.accessSync(path));
export const appendFile = promised((path: fs.Path, content: fs.Content, options?: fs.WriteOptions) =>
  fs.appendFileSync(path, content, options),
);
export const copyFile = promised((path: fs.Path, to: fs.Path) => fs.copyFileSync(path, to));
export const lstat = promised((path: fs.Path) => fs.lstatSync(path));
export const mkdir = promised((path: fs.Path, options?: { recursive?: boolean }) => fs.mkdirSync(path, options));

export function readFile(path: fs.Path, options: fs.Encoding | { encoding: fs.Encoding }): Promise<string>;
export function readFile(path: fs.Path, options?: { encoding?: null } | null): Promise<Uint8Array>;
export async function readFile(path: fs.Path, options?: any): Promise<string | Uint8Array> {
  return fs.readFileSync(path, options);
}

export function readdir(path: fs.Path, options: fs.ReaddirOptions & { withFileTypes: true }): Promise<fs.Dirent[]>;
export function readdir(path: fs.Path, options?: { withFileTypes?: false; recursive?: boolean }): Promise<string[]>;
export async function readdir(path: fs.Path, options?: any): Promise<fs.Dirent[] | string[]> {
  return fs.readdirSync(path, options);
}

export const readlink = promised((path: fs.Path) => fs.readlinkSync(path));
export const rename = promised((path: fs.Path, to: fs.Path) => fs.renameSync(path, to));
export const rm = promised((path: fs.Path, options?: fs.RmOptions) => fs.rmSync(path, options));
export const rmdir = promised((path: fs.Path) => fs.rmdirSync(path));
export const stat = promised((path: fs.Path) => fs.statSync(path));
export const unlink = promised((path: fs.Path) => fs.unlinkSync(path));
export const writeFile = promised((path: fs.Path, content: fs.Content, options?: fs.WriteOptions) =>
  fs.writeFileSync(path, content, options),
);

export default /* @__PURE__ */ Object.freeze({
  access,
  appendFile,
  copyFile,
  lstat,
  mkdir,
  readFile,
  readdir,
  readlink,
  rename,
  rm,
  rmdir,
  stat,
  unlink,
  writeFile,
});
