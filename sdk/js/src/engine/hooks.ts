// The engine's clock and random numbers are frozen when the component is built. Where a source names `Date` or
// `Math.random`, the build substitutes functions that ask the host. Packages also reach the engine's own in other ways,
// and keep them in variables, so this module replaces them on the engine's objects too. During a call the replacements
// ask the host. During the build they ask the engine, because what packages read then does not matter to a call.

type Source = () => number;

/** The sources of the time in milliseconds since 1970, and of random numbers from 0 to 1, if the build saw a use. */
interface Sources {
  time?: Source;
  random?: Source;
}

const sources: Sources = {};

let isCalled = false;

/** Marks the beginning of a call. */
export function beginCall(): void {
  isCalled = true;
}

/** Sets the host's clock or its source of random numbers. */
export function provide(provided: Sources): void {
  Object.assign(sources, provided);
}

/** Returns a source that asks the host during a call, and the engine before. */
function inCall(name: keyof Sources, own: Source): Source {
  return () => {
    if (!isCalled) return own();
    const source = sources[name];
    if (source === undefined) throw new Error(`the build did not see what asks for the ${name} here: name it in full`);
    return source();
  };
}

/** The engine's `Date`, for known times. Read with `Reflect.get`, so that the build does not count it as a use. */
export const EngineDate: DateConstructor = Reflect.get(globalThis, "Date");

/** Returns a `Date` that reads the given clock. It keeps the engine's prototype, so that `instanceof` works. */
export function dateWith(milliseconds: Source): DateConstructor {
  return new Proxy(EngineDate, {
    construct: (target, input, newTarget) =>
      Reflect.construct(target, input.length === 0 ? [milliseconds()] : input, newTarget),
    apply: (target) => new target(milliseconds()).toString(),
    get: (target, key, receiver) => (key === "now" ? milliseconds : Reflect.get(target, key, receiver)),
  });
}

/** Sets a property that is not enumerable, as the engine's own are. */
export function put(target: object, name: string, value: unknown): void {
  Object.defineProperty(target, name, { value, configurable: true, writable: true });
}

const date = dateWith(inCall("time", EngineDate.now));
put(globalThis, "Date", date);
put(EngineDate.prototype, "constructor", date);
put(Math, "random", inCall("random", Reflect.get(Math, "random")));
// The build inserts the SDK's versions where a source names them.
for (const name of ["crypto", "performance"]) Reflect.deleteProperty(globalThis, name);
