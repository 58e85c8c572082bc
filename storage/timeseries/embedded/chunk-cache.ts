/**
 * Columns that were read lately, by the number of their chunk, which no other chunk ever gets. Dashboards ask for the same buckets again and
 * again: what lies across their borders need not be unpacked each time (`benchmarks/query`). Numbers alone: their size is known.
 */
import { ByteCache } from '../../../model/byte-cache.ts'
import type { Columns } from './chunk-codec.ts'

export class ChunkCache {
  private readonly held: ByteCache<Columns>

  constructor(maxBytes: number) {
    this.held = new ByteCache({ maxBytes, sizeOf: bytesOf })
  }

  get heldBytes(): number {
    return this.held.bytes
  }

  get(chunk: number): Columns | undefined {
    return this.held.get(String(chunk))
  }

  add(chunk: number, columns: Columns): void {
    if (columns.values instanceof Float64Array) this.held.set(String(chunk), columns)
  }

  remove(chunk: number): void {
    this.held.delete(String(chunk))
  }
}

function bytesOf({ times, values, longs, expiries }: Columns): number {
  const ofValues = values instanceof Float64Array ? values.byteLength : 0
  return times.byteLength + ofValues + (longs?.byteLength ?? 0) + (expiries?.byteLength ?? 0)
}
