/** At once where it is known, or when it was read. Ask {@link isLater} before you wait: a promise a message costs more than most nodes. */
export type Soon<Value> = Value | Promise<Value>

export function isLater<Value>(value: Soon<Value>): value is Promise<Value> {
  return value instanceof Promise
}

/** Goes on at once where the value is there. */
export function whenThere<Value, Result>(value: Soon<Value>, then: (value: Value) => Soon<Result>): Soon<Result> {
  return isLater(value) ? value.then(then) : then(value)
}

/** All of them, in the order of the reads; at once where every one is there. All are begun; the first that fails is what the whole fails with. */
export function allThere<Value>(reads: readonly (() => Soon<Value>)[]): Soon<readonly Value[]> {
  const there: Value[] = []
  let begun: Soon<Value>[] | undefined
  for (const read of reads) {
    if (begun !== undefined) {
      begun.push(begin(read))
      continue
    }
    const value = read()
    if (isLater(value)) begun = [...there, value]
    else there.push(value)
  }
  return begun === undefined ? there : Promise.all(begun)
}

/** A throw behind a read that is under way may not leave that one alone with its error. */
function begin<Value>(read: () => Soon<Value>): Soon<Value> {
  try {
    return read()
  } catch (error) {
    return Promise.reject(error instanceof Error ? error : new Error(String(error)))
  }
}
