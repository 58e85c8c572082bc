/**
 * For a promise that is begun now and awaited only after another wait: should it reject in between, it has no handler yet, and Node ends
 * the process. Returns the same promise, whose reader still gets the rejection. The lint rule `late-await` asks for it.
 */
export function awaitedLater<Value>(promise: Promise<Value>): Promise<Value> {
  promise.catch(() => undefined)
  return promise
}
