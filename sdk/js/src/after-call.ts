// What the SDK opens for a call, and closes after it. The policy may keep the instance for another call.

let open: Disposable[] = [];

/** Closes a handle when the call has ended. */
export function closeAfterCall(handle: Disposable): void {
  open.push(handle);
}

/** Closes the handles of the call that has ended. */
export function closeWhatIsOpen(): void {
  for (const handle of open) handle[Symbol.dispose]();
  open = [];
}
