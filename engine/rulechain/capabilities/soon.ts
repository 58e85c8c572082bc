/** At once where it is known, or when it was read. Ask {@link isLater} before you wait: a promise a message costs more than most nodes. */
export type Soon<Value> = Value | Promise<Value>

export function isLater<Value>(value: Soon<Value>): value is Promise<Value> {
  return value instanceof Promise
}

/** Goes on at once where the value is there. */
export function whenThere<Value, Result>(value: Soon<Value>, then: (value: Value) => Soon<Result>): Soon<Result> {
  return isLater(value) ? value.then(then) : then(value)
}
