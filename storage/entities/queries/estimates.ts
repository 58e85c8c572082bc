/** Counts by which a way to look is chosen: they may be old, as a wrong one costs time alone. */
import { createHash } from 'node:crypto'

const MOST = 10_000
/** A count is asked for again after so many uses. */
const USES = 100
/** A name that is longer stands here by its digest: it says what users look for, which may be megabytes. */
const LONGEST_NAME = 128

export class Estimates {
  private readonly known = new Map<string, { readonly count: number; uses: number }>()

  async of(named: string, ask: () => Promise<number>): Promise<number> {
    const name = named.length > LONGEST_NAME ? createHash('sha256').update(named).digest('base64') : named
    const known = this.known.get(name)
    if (known !== undefined) {
      // Once for all who use it meanwhile, and nobody waits for it; where it fails the old one stays.
      if (++known.uses === USES) void this.ask(name, ask).catch(() => (known.uses = 0))
      return known.count
    }
    return this.ask(name, ask)
  }

  private async ask(name: string, count: () => Promise<number>): Promise<number> {
    return this.keep(name, await count())
  }

  private keep(name: string, count: number): number {
    // The oldest go first.
    this.known.delete(name)
    for (const oldest of this.known.keys()) {
      if (this.known.size < MOST) break
      this.known.delete(oldest)
    }
    this.known.set(name, { count, uses: 0 })
    return count
  }
}
