// The clock and the randomness of the engine stand still at the moment of the build. What a source names, `Date` and
// `Math.random`, the build replaces by functions that ask the host. Packages also reach the engine's own by other ways,
// and keep them in variables; so these are replaced on the engine's objects too. In a call they ask the host. While the
// component is built they answer as the engine does, because packages ask there for no purpose of the call's.

type Source = () => number;

/** What gives the time, in milliseconds since 1970, and a number from 0 to 1, if the build saw that they are used. */
interface Sources {
  time?: Source;
  random?: Source;
}

const sources: Sources = {};

let isCalled = false;

/** From here on a call runs. */
export function beginCall(): void {
  isCalled = true;
}

/** Says what the host's clock or randomness is. */
export function provide(provided: Sources): void {
  Object.assign(sources, provided);
}

/** What asks the host in a call, and the engine before. */
function inCall(name: keyof Sources, own: Source): Source {
  return () => {
    if (!isCalled) return own();
    const source = sources[name];
    if (source === undefined) throw new Error(`the build did not see what asks for the ${name} here: name it in full`);
    return source();
  };
}

/** `Date` of the engine, for moments that are known. By a way that does not look as if the plugin uses it. */
export const EngineDate: DateConstructor = Reflect.get(globalThis, "Date");

/** `Date` with a clock. Its prototype is the engine's, so that `instanceof` works. */
export function dateWith(milliseconds: Source): DateConstructor {
  return new Proxy(EngineDate, {
    construct: (target, input, newTarget) =>
      Reflect.construct(target, input.length === 0 ? [milliseconds()] : input, newTarget),
    apply: (target) => new target(milliseconds()).toString(),
    get: (target, key, receiver) => (key === "now" ? milliseconds : Reflect.get(target, key, receiver)),
  });
}

/** Sets a property as the engine has it, which is not seen by those who list them. */
export function put(target: object, name: string, value: unknown): void {
  Object.defineProperty(target, name, { value, configurable: true, writable: true });
}

const date = dateWith(inCall("time", EngineDate.now));
put(globalThis, "Date", date);
put(EngineDate.prototype, "constructor", date);
put(Math, "random", inCall("random", Reflect.get(Math, "random")));
// Those of the SDK are put in where a source names them.
for (const name of ["crypto", "performance"]) Reflect.deleteProperty(globalThis, name);
