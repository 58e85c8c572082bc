/** The entities of lists of ids that were asked for lately: a search asks for the same list again and again, and finding each anew costs most of it. */
import { UUID_LENGTH } from './bytes.ts'
import type { Entity } from './series.ts'

/** Ids of all lists together: some 60 bytes each. */
const MAX_IDS = 300_000

export class EntityLists {
  private readonly lists = new Map<string, (Entity | undefined)[]>()
  private ids = 0
  private generation = 0

  /** The entities found so far, to be filled in. `generation`: of memory, where another one may have other objects for the same ids. */
  of(entityIds: string, generation: number): (Entity | undefined)[] {
    if (generation !== this.generation) this.clear(generation)
    const known = this.lists.get(entityIds)
    // In again as the one used last.
    if (known !== undefined) this.remove(entityIds)
    const list = known ?? []
    this.lists.set(entityIds, list)
    this.ids += entityIds.length / UUID_LENGTH
    for (const oldest of this.lists.keys()) {
      if (this.ids <= MAX_IDS || oldest === entityIds) break
      this.remove(oldest)
    }
    return list
  }

  private remove(entityIds: string): void {
    this.lists.delete(entityIds)
    this.ids -= entityIds.length / UUID_LENGTH
  }

  private clear(generation: number): void {
    this.lists.clear()
    this.ids = 0
    this.generation = generation
  }
}
