/**
 * Code that runs *inside* the isolate, in a fresh context, before any code of a user: its source text is taken from
 * the functions below, so they name nothing outside of themselves. After it, every built-in is frozen (nothing that one call
 * leaves behind on a prototype is seen by the next), no code can be made from text, and what no script needs is gone.
 */

/** The part of iterator helpers that is used here; the compiler's library does not know them yet. */
interface IteratorStatics {
  from(source: { next(): { done: boolean; value: unknown } }): { map(change: (item: unknown) => unknown): object }
}

/** Removes what reaches beyond a pure function of the arguments, and every way to make code from text. */
export function closeRealm(): void {
  'use strict'
  const { defineProperty, getPrototypeOf } = Object

  // Shared memory is a clock, WebAssembly is code from data, collection callbacks and consoles are side channels; a
  // script answers at once, so promises have no use.
  for (const name of [
    'eval',
    'WebAssembly',
    'SharedArrayBuffer',
    'Atomics',
    'WeakRef',
    'FinalizationRegistry',
    'console',
    'Promise',
  ]) {
    Reflect.deleteProperty(globalThis, name)
  }

  const refuseCode = function Function(): never {
    throw new TypeError('code from text is not allowed')
  }
  const functionKinds = [function () {}, function* () {}, async function () {}, async function* () {}]
  for (const kind of functionKinds) {
    defineProperty(getPrototypeOf(kind) as object, 'constructor', {
      value: refuseCode,
      writable: false,
      configurable: false,
    })
  }
  defineProperty(refuseCode, 'prototype', { value: Function.prototype })
  defineProperty(globalThis, 'Function', { value: refuseCode })
}

/** Freezes every built-in. Assignments such as `value.toString = …` on own objects keep working. */
export function freezeRealm(): void {
  'use strict'
  const { defineProperty, freeze, getOwnPropertyDescriptor, getPrototypeOf, isFrozen } = Object
  const { ownKeys } = Reflect

  // A frozen property of a prototype would refuse an assignment to the same name of an inheriting object.
  function allowOverride(prototype: object): void {
    for (const key of ownKeys(prototype)) {
      const descriptor = getOwnPropertyDescriptor(prototype, key)
      if (descriptor === undefined || !('value' in descriptor) || descriptor.configurable !== true) continue
      const inherited: unknown = descriptor.value
      defineProperty(prototype, key, {
        get: () => inherited,
        set(this: object, value: unknown) {
          if (this === prototype) throw new TypeError('built-in objects cannot be changed')
          defineProperty(this, key, { value, writable: true, enumerable: true, configurable: true })
        },
        enumerable: false,
        configurable: false,
      })
    }
  }
  const errors = [Error, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError, AggregateError]
  for (const prototype of [Object.prototype, ...errors.map((error) => error.prototype)]) allowOverride(prototype)

  // Objects that no global names: prototypes of iterators and generators.
  const { Iterator: iterator } = globalThis as { readonly Iterator?: IteratorStatics }
  if (iterator === undefined) throw new TypeError('this runtime has no iterator helpers')
  const wrapped = iterator.from({ next: () => ({ done: true, value: undefined }) })
  const segments = new Intl.Segmenter().segment('')
  const instances = [
    function () {},
    function* () {},
    async function () {},
    async function* () {},
    [].values(),
    new Map().entries(),
    new Set().values(),
    ''[Symbol.iterator](),
    /a/[Symbol.matchAll](''),
    wrapped,
    wrapped.map((item) => item),
    segments,
    segments[Symbol.iterator](),
    Uint8Array,
  ]

  const waiting: unknown[] = instances.map((instance) => getPrototypeOf(instance) as unknown)
  for (const key of ownKeys(globalThis)) {
    const descriptor = getOwnPropertyDescriptor(globalThis, key)
    if (descriptor === undefined || !('value' in descriptor) || descriptor.value === globalThis) continue
    waiting.push(descriptor.value)
  }
  while (waiting.length > 0) {
    const value = waiting.pop()
    if (value === null || value === globalThis) continue
    if ((typeof value !== 'object' && typeof value !== 'function') || isFrozen(value)) continue
    freeze(value)
    waiting.push(getPrototypeOf(value))
    for (const key of ownKeys(value)) {
      const descriptor = getOwnPropertyDescriptor(value, key)
      if (descriptor !== undefined) waiting.push(...(Object.values(descriptor) as unknown[]))
    }
  }
  for (const key of ownKeys(globalThis)) defineProperty(globalThis, key, { writable: false, configurable: false })
}
