/**
 * Columns that were read lately, by the number of their chunk, which no other chunk ever gets. Dashboards ask for the same buckets again and
 * again: what lies across their borders need not be unpacked each time (`benchmarks/query`). Numbers alone: their size is known.
 */
import type { Columns } from './chunk-codec.ts'

export class ChunkCache {
  private readonly mostBytes: number
  /** The longest unused first. */
  private readonly held = new Map<number, { readonly columns: Columns; readonly bytes: number }>()
  private bytes = 0

  constructor(mostBytes: number) {
    this.mostBytes = mostBytes
  }

  get heldBytes(): number {
    return this.bytes
  }

  get(chunk: number): Columns | undefined {
    const found = this.held.get(chunk)
    if (found === undefined) return undefined
    this.held.delete(chunk)
    this.held.set(chunk, found)
    return found.columns
  }

  add(chunk: number, columns: Columns): void {
    const { times, values, expiries } = columns
    if (!(values instanceof Float64Array)) return
    this.remove(chunk)
    const bytes = times.byteLength + values.byteLength + (expiries?.byteLength ?? 0)
    this.held.set(chunk, { columns, bytes })
    this.bytes += bytes
    for (const oldest of this.held.keys()) {
      if (this.bytes <= this.mostBytes) break
      this.remove(oldest)
    }
  }

  remove(chunk: number): void {
    const found = this.held.get(chunk)
    if (found === undefined) return
    this.held.delete(chunk)
    this.bytes -= found.bytes
  }
}
