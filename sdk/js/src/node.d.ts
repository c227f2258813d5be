// The Node modules that a source can import.

declare module "node:fs" {
  export * from "portcullis-sdk/node/fs";
  export { default } from "portcullis-sdk/node/fs";
}

declare module "fs" {
  export * from "portcullis-sdk/node/fs";
  export { default } from "portcullis-sdk/node/fs";
}

declare module "node:fs/promises" {
  export * from "portcullis-sdk/node/fs-promises";
  export { default } from "portcullis-sdk/node/fs-promises";
}

declare module "fs/promises" {
  export * from "portcullis-sdk/node/fs-promises";
  export { default } from "portcullis-sdk/node/fs-promises";
}

declare module "node:path" {
  export * from "portcullis-sdk/node/path";
  export { default } from "portcullis-sdk/node/path";
}

declare module "path" {
  export * from "portcullis-sdk/node/path";
  export { default } from "portcullis-sdk/node/path";
}

declare module "node:buffer" {
  export { Buffer } from "buffer";
}
