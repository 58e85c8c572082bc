/** What this process wants to hear of, and what each of the others wants. */
import type { ChangeKind } from '../subscriptions/change.ts'
import type { Interests } from './feed-message.ts'

/** Entities of one part: some 400 KB of text. */
const ENTITIES_A_PART = 10_000

/** The listeners of this process, counted; what changed since the last announcement is known apart. */
export class OwnInterests {
  /** Rises with each announcement of something new. */
  version = 0
  private readonly kinds = new Map<ChangeKind, number>()
  private readonly entities = new Map<string, number>()
  private readonly announced = new Set<string>()
  private readonly touched = new Set<string>()
  private kindsChanged = false

  /** The version that will hold everything wanted so far. */
  get wantedVersion(): number {
    return this.version + (this.hasNews ? 1 : 0)
  }

  get hasNews(): boolean {
    return this.kindsChanged || this.touched.size > 0
  }

  addKinds(kinds: readonly ChangeKind[]): void {
    for (const kind of kinds) {
      const count = this.kinds.get(kind) ?? 0
      this.kinds.set(kind, count + 1)
      this.kindsChanged ||= count === 0
    }
  }

  removeKinds(kinds: readonly ChangeKind[]): void {
    for (const kind of kinds) {
      const left = (this.kinds.get(kind) ?? 0) - 1
      if (left > 0) this.kinds.set(kind, left)
      else {
        this.kinds.delete(kind)
        this.kindsChanged = true
      }
    }
  }

  addEntity(id: string): void {
    const count = this.entities.get(id) ?? 0
    this.entities.set(id, count + 1)
    if (count === 0) this.touch(id)
  }

  removeEntity(id: string): void {
    const left = (this.entities.get(id) ?? 0) - 1
    if (left > 0) {
      this.entities.set(id, left)
      return
    }
    this.entities.delete(id)
    this.touch(id)
  }

  /** What was touched and is again as announced is no news. */
  private touch(id: string): void {
    if (this.entities.has(id) === this.announced.has(id)) this.touched.delete(id)
    else this.touched.add(id)
  }

  /** Takes the news, as the next version. Ends with the part that carries the version. */
  takeNews(): Interests[] {
    const add: string[] = []
    const remove: string[] = []
    for (const id of this.touched) {
      if (this.entities.has(id)) {
        this.announced.add(id)
        add.push(id)
      } else {
        this.announced.delete(id)
        remove.push(id)
      }
    }
    this.touched.clear()
    this.kindsChanged = false
    this.version++
    return this.parts(false, add, remove)
  }

  /** All that is announced: for who knows nothing. */
  all(): Interests[] {
    return this.parts(true, [...this.announced], [])
  }

  private parts(isReset: boolean, add: readonly string[], remove: readonly string[]): Interests[] {
    const kinds = [...this.kinds.keys()]
    const count = Math.max(1, Math.ceil(Math.max(add.length, remove.length) / ENTITIES_A_PART))
    return Array.from({ length: count }, (_, index) => {
      const start = index * ENTITIES_A_PART
      const end = start + ENTITIES_A_PART
      return {
        isReset: isReset && index === 0,
        kinds,
        add: add.slice(start, end),
        remove: remove.slice(start, end),
        ...(index === count - 1 ? { version: this.version } : {}),
      }
    })
  }
}

/** Who of the others wants what. `Other` stands for one process. */
export class OthersInterests<Other> {
  private readonly byKind = new Map<string, Set<Other>>()
  private readonly byEntity = new Map<string, Set<Other>>()

  isWanted(kind: ChangeKind, entityId: string): boolean {
    return this.byKind.has(kind) || this.byEntity.has(entityId)
  }

  /** Calls back once for each who wants it. */
  forEach(kind: ChangeKind, entityId: string, call: (other: Other) => void): void {
    const everywhere = this.byKind.get(kind)
    if (everywhere !== undefined) for (const other of everywhere) call(other)
    const here = this.byEntity.get(entityId)
    if (here === undefined) return
    for (const other of here) if (everywhere === undefined || !everywhere.has(other)) call(other)
  }

  apply(other: Other, { isReset, kinds, add, remove }: Interests): void {
    if (isReset) this.forget(other)
    for (const kind of [...this.byKind.keys()]) if (!kinds.includes(kind)) drop(this.byKind, kind, other)
    for (const kind of kinds) put(this.byKind, kind, other)
    for (const id of add) put(this.byEntity, id, other)
    for (const id of remove) drop(this.byEntity, id, other)
  }

  forget(other: Other): void {
    for (const kind of [...this.byKind.keys()]) drop(this.byKind, kind, other)
    for (const id of [...this.byEntity.keys()]) drop(this.byEntity, id, other)
  }
}

function put<Other>(index: Map<string, Set<Other>>, key: string, other: Other): void {
  const known = index.get(key)
  if (known === undefined) index.set(key, new Set([other]))
  else known.add(other)
}

function drop<Other>(index: Map<string, Set<Other>>, key: string, other: Other): void {
  const known = index.get(key)
  if (known?.delete(other) === true && known.size === 0) index.delete(key)
}
