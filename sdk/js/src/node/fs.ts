// `node:fs`: its common functions, and `promises`.

import * as promises from "./fs-promises.ts";
import {
  accessSync,
  appendFileSync,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  rmdirSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from "./fs-sync.ts";

export * from "./fs-sync.ts";
export { promises };

export default /* @__PURE__ */ Object.freeze({
  promises,
  accessSync,
  appendFileSync,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  rmdirSync,
  statSync,
  unlinkSync,
  writeFileSync,
});
