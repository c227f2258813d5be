// `Buffer`, by the package that stands in for Node's module.

import { Buffer as Package } from "buffer";

// A name of its own: what is only passed on from a package gets into the bundle by no name of `globalThis`.
export const Buffer = Package;
export type Buffer = Package;
