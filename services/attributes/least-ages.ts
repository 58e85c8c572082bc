/**
 * What a read of an entity's attributes must hold to be up to date, as far as this process has heard. A commit has a number. What has
 * none (a start, a gap in what is heard, a commit whose end is not known) gets a time, that of the first look at the shared store's clock that
 * begins after it.
 */
import type { LeastAge } from '../../storage/entities/shared-attributes.ts'

/** Entities that are told apart; it holds up to twice as many. Beyond that the older half is known by a time alone. */
const MAX_ENTITIES = 50_000

interface Mark {
  /** {@link LeastAges.moment} when it was made. */
  readonly made: number
  /** Undefined until the clock was looked at. */
  at: number | undefined
}

interface EntityAge {
  commit: number
  mark: Mark | undefined
}

export class LeastAges {
  private readonly maxEntities: number
  private moments = 0
  private everything: Mark = this.mark()
  private young = new Map<string, EntityAge>()
  private old = new Map<string, EntityAge>()
  /** After the last change of those in `old`. */
  private oldEnded: Mark = this.mark()

  constructor(maxEntities = MAX_ENTITIES) {
    this.maxEntities = maxEntities
  }

  /** Rises with each mark: a look that began at this moment came after all marks so far. */
  get moment(): number {
    return this.moments
  }

  /** Undefined while that can not be said. */
  of(entityId: string): LeastAge | undefined {
    const age = this.young.get(entityId) ?? this.old.get(entityId)
    const began = later(this.everything.at, age?.mark === undefined ? 0 : age.mark.at)
    return began === undefined ? undefined : { commit: age?.commit ?? 0, began }
  }

  /** Without a number: by a commit that may be there or may not. */
  changed(entityId: string, commit?: number): void {
    const age = this.young.get(entityId) ?? this.moved(entityId)
    if (commit === undefined) age.mark = this.mark()
    else if (commit > age.commit) age.commit = commit
  }

  /** Anything may have changed. */
  missed(): void {
    this.young.clear()
    this.old.clear()
    this.everything = this.mark()
  }

  /** The clock showed `now` to a look that began at `asked`. */
  learn(entityId: string, asked: number, now: number): void {
    const ofEntity = (this.young.get(entityId) ?? this.old.get(entityId))?.mark
    for (const mark of [this.everything, this.oldEnded, ofEntity]) {
      if (mark !== undefined && mark.at === undefined && mark.made <= asked) mark.at = now
    }
  }

  private moved(entityId: string): EntityAge {
    if (this.young.size >= this.maxEntities) this.turn()
    const age = this.old.get(entityId) ?? { commit: 0, mark: undefined }
    this.young.set(entityId, age)
    return age
  }

  private turn(): void {
    if (this.old.size > 0) this.everything = laterMark(this.everything, this.oldEnded)
    this.old = this.young
    this.oldEnded = this.mark()
    this.young = new Map()
  }

  private mark(): Mark {
    return { made: ++this.moments, at: undefined }
  }
}

function later(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? undefined : Math.max(one, other)
}

/** The one that was made later is learned later. */
function laterMark(one: Mark, other: Mark): Mark {
  return one.made > other.made ? one : other
}
