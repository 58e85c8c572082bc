/** An array of the platform's own, such as the bytes of `base64ToBytes`: read and written as a list, told apart by `isArray` only. */
import type { Value } from '../values.ts'

export class PlatformArray extends Array<Value> {
  static ofValues(values: Iterable<Value>): PlatformArray {
    const array = new PlatformArray()
    for (const value of values) array.push(value)
    return array
  }

  /** What is made of it by `slice` and its like is a plain list. */
  static override get [Symbol.species](): ArrayConstructor {
    return Array
  }
}
