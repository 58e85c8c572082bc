/** A cache with a bound in bytes: what was used longest ago makes room. `lru-cache`, behind the few words that we use of it. */
import { LRUCache } from 'lru-cache'

export interface ByteCacheOptions<Value> {
  readonly maxBytes: number
  /** About how much memory an entry takes, its key and its place in the cache apart: those are added here. */
  readonly sizeOf: (value: Value) => number
  /** The part of the bound that one entry may take; a larger one is not held. */
  readonly maxShare?: number
  /** Hears of each value that is no longer held: there was no room, another took its place, or it was deleted. */
  readonly onDrop?: (key: string, value: Value) => void
}

/** What an entry costs beyond key and value: its places in the cache's lists. */
const ENTRY_BYTES = 64
/** Of a string beyond its characters. */
const TEXT_BYTES = 16

export class ByteCache<Value extends object> {
  private readonly entries: LRUCache<string, Value>

  constructor({ maxBytes, sizeOf, maxShare = 1, onDrop }: ByteCacheOptions<Value>) {
    this.entries = new LRUCache<string, Value>({
      maxSize: maxBytes,
      maxEntrySize: Math.max(1, Math.floor(maxBytes * maxShare)),
      sizeCalculation: (value, key) => Math.ceil(ENTRY_BYTES + textBytes(key) + sizeOf(value)),
      ...(onDrop === undefined ? {} : { dispose: (value: Value, key: string) => onDrop(key, value) }),
    })
  }

  get size(): number {
    return this.entries.size
  }

  /** Of all entries: never above the bound. */
  get bytes(): number {
    return this.entries.calculatedSize
  }

  /** The entry is now the one used last. */
  get(key: string): Value | undefined {
    return this.entries.get(key)
  }

  /** The entry as it is held, without counting as a use. */
  peek(key: string): Value | undefined {
    return this.entries.peek(key)
  }

  /** Key and value of each; nothing may be set or deleted meanwhile. */
  all(): Iterable<readonly [string, Value]> {
    return this.entries.entries()
  }

  /** Holds the value in the place of the one before; one that is too large is not held, and the one before goes. */
  set(key: string, value: Value): void {
    this.entries.set(key, value)
  }

  delete(key: string): void {
    this.entries.delete(key)
  }

  clear(): void {
    this.entries.clear()
  }
}

/** At most: a character beyond Latin-1 makes all of a text take two bytes each. */
export function textBytes(text: string): number {
  return TEXT_BYTES + 2 * text.length
}
