/**
 * Tells of saves in the order in which those of one entity came. A store answers a write of many entities when the slowest of them is stored, so
 * a later write with one of them may be answered first; calculated fields would take its value for the newest, and have no result of the other.
 */
interface Save {
  readonly request: { readonly entity: { readonly id: string } }
}

type Tell = () => void

export class OpenWrite {
  readonly saves: readonly Save[]
  /** Of later writes, answered already. */
  readonly behind: (readonly [save: Save, tell: Tell])[] = []
  private ids: Set<string> | undefined

  constructor(saves: readonly Save[]) {
    this.saves = saves
  }

  has(entityId: string): boolean {
    return (this.ids ??= new Set(this.saves.map(({ request }) => request.entity.id))).has(entityId)
  }
}

export class SavesInOrder<One extends Save> {
  /** Saves that were answered before an earlier one of their entity; only grows. */
  late = 0
  /** The oldest first. */
  private readonly open: OpenWrite[] = []

  /** Writes that are under way, and the saves in them. */
  get underWay(): { readonly writes: number; readonly saves: number } {
    return { writes: this.open.length, saves: this.open.reduce((sum, { saves }) => sum + saves.length, 0) }
  }

  begin(saves: readonly One[]): OpenWrite {
    const write = new OpenWrite(saves)
    this.open.push(write)
    return write
  }

  /** The write is answered: each of its saves is told at once, or behind an earlier one of its entity that is not. */
  end(write: OpenWrite, saves: readonly One[], tell: (save: One, index: number) => void): void {
    const place = this.open.indexOf(write)
    this.open.splice(place, 1)
    for (let index = 0; index < saves.length; index++) {
      const save = saves[index]
      if (save === undefined) continue
      // As a rule it is the oldest.
      if (place === 0) tell(save, index)
      else if (!this.route(place, save, () => tell(save, index))) this.late++
    }
    for (const [save, run] of write.behind) this.route(place, save, run)
  }

  /** Whether it was told at once. */
  private route(place: number, save: Save, tell: Tell): boolean {
    const earlier = this.open.findLast((write, index) => index < place && write.has(save.request.entity.id))
    if (earlier === undefined) tell()
    else earlier.behind.push([save, tell])
    return earlier === undefined
  }
}
