declare module "path-browserify" {
  interface Parsed {
    root: string;
    dir: string;
    base: string;
    ext: string;
    name: string;
  }
  interface Path {
    sep: string;
    delimiter: string;
    basename(path: string, suffix?: string): string;
    dirname(path: string): string;
    extname(path: string): string;
    format(parsed: Partial<Parsed>): string;
    isAbsolute(path: string): boolean;
    join(...paths: string[]): string;
    normalize(path: string): string;
    parse(path: string): Parsed;
    relative(from: string, to: string): string;
    resolve(...paths: string[]): string;
  }
  const path: Path;
  export default path;
}
