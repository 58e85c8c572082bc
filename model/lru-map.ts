/** A map that keeps the entries that were used last. */
import { LRUCache } from 'lru-cache'

/**
 * Holds at most `max` entries, and takes memory as it grows: with its own `max` the library makes lists of that length at once, some 28
 * bytes an entry that may never come.
 */
export function lruMap<Value extends object | string | number | boolean>(
  max: number,
  onDrop?: (key: string) => void,
): LRUCache<string, Value> {
  return new LRUCache<string, Value>({
    maxSize: max,
    sizeCalculation: () => 1,
    ...(onDrop === undefined
      ? {}
      : {
          dispose: (_value: Value, key: string, reason: LRUCache.DisposeReason) => {
            if (reason !== 'set') onDrop(key)
          },
        }),
  })
}
