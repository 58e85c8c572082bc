/** Entities of one command that may have changed hands: nothing of them is shown until it is known that the user may still see them. */
import type { EntityId } from '../../../model/entity-id.ts'
import { isMillraceError } from '../../../model/errors.ts'

export class Doubts {
  /** By id; another object where one has changed once more. */
  private readonly entities = new Map<string, EntityId>()
  private readonly check: (entity: EntityId) => Promise<void>
  private readonly lost: (entity: EntityId) => void
  private readonly notFound: () => Promise<readonly EntityId[]>
  private areAll = false
  private gaps = 0

  /** `check` rejects with `denied` for one that the user may not see; `lost` is told of it. `notFound`: those that the command would not find now. */
  constructor(
    check: (entity: EntityId) => Promise<void>,
    lost: (entity: EntityId) => void,
    notFound: () => Promise<readonly EntityId[]>,
  ) {
    this.check = check
    this.lost = lost
    this.notFound = notFound
  }

  has({ id }: EntityId): boolean {
    return this.areAll || this.entities.has(id)
  }

  /** Changes of any of them may have been missed: one query tells whom to look at. */
  addAll(): void {
    this.areAll = true
    this.gaps++
  }

  /** False where it is in doubt already: it is looked at once more. */
  add(entity: EntityId): boolean {
    const isNew = !this.entities.has(entity.id)
    this.entities.set(entity.id, { ...entity })
    return isNew
  }

  /** Rejects where the store does not answer: it stays in doubt. */
  async settle(id: string): Promise<void> {
    for (let entity = this.entities.get(id); entity !== undefined; entity = this.entities.get(id)) {
      try {
        await this.check(entity)
      } catch (error) {
        if (!isMillraceError(error) || error.kind !== 'denied') throw error
        if (this.entities.delete(id)) this.lost(entity)
        return
      }
      if (this.entities.get(id) === entity) this.entities.delete(id)
    }
  }

  /** Those too that come into doubt meanwhile. Rejects as `settle`. */
  async settleAll(): Promise<void> {
    while (this.areAll || this.entities.size > 0) {
      if (this.areAll) await this.narrow()
      for (const id of [...this.entities.keys()]) await this.settle(id)
    }
  }

  private async narrow(): Promise<void> {
    const { gaps } = this
    for (const entity of await this.notFound()) this.add(entity)
    // Else it may be older than what was missed.
    if (gaps === this.gaps) this.areAll = false
  }

  clear(): void {
    this.areAll = false
    this.entities.clear()
  }
}
