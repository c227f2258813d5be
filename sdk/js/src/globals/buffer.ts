// `Buffer`, from the package that replaces Node's module.

import { Buffer as Package } from "buffer";

// A declaration instead of a re-export: the bundler does not inject a re-export for `globalThis.Buffer`.
export const Buffer = Package;
export type Buffer = Package;
