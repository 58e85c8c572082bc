/**
 * The attributes of lately read entities, all of an entity or none, so that "all attributes" and absence are known too.
 * Every change is applied and numbered here in the order of commits, and a read says up to which number it speaks: a
 * listener that registered before it read misses nothing and hears nothing twice. What another process changed has no place in
 * that order: it is not applied, what is held of the entity is dropped, and a read under way begins again.
 */
import type { AttributeScope } from '../model/value.ts'
import type { Read } from '../storage/entities/database.ts'
import type { ScopedAttribute } from '../storage/entities/attributes.ts'

/** Attributes held; whole entities are dropped beyond it, those read longest ago first. */
const MAX_ATTRIBUTES = 200_000
/** With another process changing the entity all the time, what was read a moment ago is better than nothing; it is not held. */
const MAX_READS = 5

type ByKey = Map<string, ScopedAttribute>
type EntityAttributes = ReadonlyMap<AttributeScope, ByKey>

export interface AttributeEffect {
  readonly entityId: string
  readonly saved: readonly ScopedAttribute[]
  readonly deleted: readonly { readonly scope: AttributeScope; readonly key: string }[]
}

export interface AttributesAsOf {
  readonly attributes: EntityAttributes
  readonly sequence: number
}

interface Load {
  readonly result: Promise<AttributesAsOf>
  readonly meanwhile: Meanwhile
}

/** What happened while a read was on its way. */
interface Meanwhile {
  /** Changes of this process, with the commit's number in the database. */
  changes: { readonly commit: number; readonly effect: AttributeEffect }[]
  /** Another process changed the entity. */
  isStale: boolean
}

export class AttributeCache {
  private readonly readAll: (entityId: string) => Promise<Read<ScopedAttribute>>
  private readonly keeps: boolean
  private readonly entities = new Map<string, EntityAttributes>()
  private readonly loads = new Map<string, Load>()
  private held = 0
  private sequence = 0

  constructor(readAll: (entityId: string) => Promise<Read<ScopedAttribute>>, keeps: boolean) {
    this.readAll = readAll
    this.keeps = keeps
  }

  /** The number of the last change applied. */
  get lastSequence(): number {
    return this.sequence
  }

  /** At once where the entity is held. */
  lookUp(entityId: string): AttributesAsOf | undefined {
    const attributes = this.entities.get(entityId)
    if (attributes === undefined) return undefined
    this.entities.delete(entityId)
    this.entities.set(entityId, attributes)
    return { attributes, sequence: this.sequence }
  }

  /** Reads the entity from the store; those who ask at the same time share one read. */
  load(entityId: string): Promise<AttributesAsOf> {
    return (this.loads.get(entityId) ?? this.startLoad(entityId)).result
  }

  /** Applies a committed change; returns its number. */
  apply(commit: number, effect: AttributeEffect): number {
    const attributes = this.entities.get(effect.entityId)
    if (attributes !== undefined) {
      this.held -= sizeOf(attributes)
      applyTo(attributes, effect)
      this.held += sizeOf(attributes)
    }
    this.loads.get(effect.entityId)?.meanwhile.changes.push({ commit, effect })
    return ++this.sequence
  }

  forget(entityId: string): void {
    const attributes = this.entities.get(entityId)
    if (attributes === undefined) return
    this.held -= sizeOf(attributes)
    this.entities.delete(entityId)
  }

  /** Another process changed the entity: what was read before counts no more. */
  invalidate(entityId: string): void {
    this.forget(entityId)
    const load = this.loads.get(entityId)
    if (load !== undefined) load.meanwhile.isStale = true
  }

  /** Other processes may have changed anything. */
  invalidateAll(): void {
    this.entities.clear()
    this.held = 0
    for (const { meanwhile } of this.loads.values()) meanwhile.isStale = true
  }

  private startLoad(entityId: string): Load {
    const meanwhile: Meanwhile = { changes: [], isStale: false }
    const load: Load = { meanwhile, result: this.readAndApply(entityId, meanwhile) }
    this.loads.set(entityId, load)
    return load
  }

  private async readAndApply(entityId: string, meanwhile: Meanwhile): Promise<AttributesAsOf> {
    try {
      for (let attempt = 1; ; attempt++) {
        const { rows, sequence: commit } = await this.readAll(entityId)
        if (meanwhile.isStale && attempt < MAX_READS) {
          // What is committed here by now is in what is read next, under whatever the other process wrote.
          meanwhile.changes = []
          meanwhile.isStale = false
          continue
        }
        const attributes = emptyAttributes()
        for (const row of rows) attributes.get(row.scope)?.set(row.key, row)
        for (const change of meanwhile.changes) if (change.commit > commit) applyTo(attributes, change.effect)
        if (this.keeps && !meanwhile.isStale) this.keep(entityId, attributes)
        return { attributes, sequence: this.sequence }
      }
    } finally {
      this.loads.delete(entityId)
    }
  }

  private keep(entityId: string, attributes: EntityAttributes): void {
    this.entities.set(entityId, attributes)
    this.held += sizeOf(attributes)
    for (const oldest of this.entities.keys()) {
      if (this.held <= MAX_ATTRIBUTES) return
      this.forget(oldest)
    }
  }
}

function emptyAttributes(): EntityAttributes {
  return new Map<AttributeScope, ByKey>([
    ['CLIENT_SCOPE', new Map()],
    ['SERVER_SCOPE', new Map()],
    ['SHARED_SCOPE', new Map()],
  ])
}

/** An entity without attributes takes a place too. */
function sizeOf(attributes: EntityAttributes): number {
  let size = 1
  for (const byKey of attributes.values()) size += byKey.size
  return size
}

function applyTo(attributes: EntityAttributes, effect: AttributeEffect): void {
  for (const attribute of effect.saved) attributes.get(attribute.scope)?.set(attribute.key, attribute)
  for (const { scope, key } of effect.deleted) attributes.get(scope)?.delete(key)
}
