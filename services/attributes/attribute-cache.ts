/**
 * The attributes of lately read entities in memory, all of an entity or none, so that "all attributes" and absence are known too.
 * A read says up to which commit of the database it holds what other processes wrote, and up to which change what this one did: every change
 * of this process is applied and numbered here before it is told, since several may share a commit. What another process changed is not applied: what is held of the entity is dropped, and a
 * read under way begins again.
 */
import { ByteCache, textBytes } from '../../model/byte-cache.ts'
import type { AttributeScope } from '../../model/value.ts'
import type { Read } from '../../storage/entities/database.ts'
import type { ScopedAttribute } from '../../storage/entities/attributes.ts'
import { HeldAttributes, type EntityAttributes } from './held-attributes.ts'

/** The part of the bound that one entity may take: a single one must not empty the cache of all others. */
const MAX_SHARE = 1 / 8
/** An entity with one map. And an attribute beyond its texts: the object, its place in a map. */
const ENTITY_BYTES = 450
const ATTRIBUTE_BYTES = 160
/** With another process changing the entity all the time, what was read a moment ago is better than nothing; it is not held. */
const MAX_READS = 5

export interface AttributeEffect {
  readonly entityId: string
  readonly saved: readonly ScopedAttribute[]
  readonly deleted: readonly { readonly scope: AttributeScope; readonly key: string }[]
}

export interface AttributesAsOf {
  readonly attributes: EntityAttributes
  /** It holds every commit up to this one. */
  readonly sequence: number
  /** And of this process every change up to this. */
  readonly ownSequence: number
}

interface Held {
  readonly attributes: HeldAttributes
  readonly sequence: number
  readonly bytes: number
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

/** What the services ask of a cache, whatever is behind it. Source: `requirements.md` 2.7, `rule-engine.md` 10.6. */
export interface AttributeCache {
  /** About the memory of what is held. */
  readonly bytes: number
  /** At once where the entity is held in memory. */
  lookUp(entityId: string): AttributesAsOf | undefined
  /** Reads the entity; those who ask at the same time share one read. */
  load(entityId: string): Promise<AttributesAsOf>
  /** Applies a change that this process committed; returns its number among those of this process. */
  apply(commit: number, effect: AttributeEffect): number
  /**
   * Another process changed the entity, or the end of a commit is not known: what was read before counts no more. `commit` is the change's
   * number where it has one.
   */
  invalidate(entityId: string, commit?: number): void
  /** The entity is gone. */
  forget(entityId: string): void
  /** Other processes may have changed anything. */
  invalidateAll(): void
}

export class MemoryAttributeCache implements AttributeCache {
  private readonly readAll: (entityId: string) => Promise<Read<ScopedAttribute>>
  /** Undefined where nothing is held. */
  private readonly held: ByteCache<Held> | undefined
  private readonly loads = new Map<string, Load>()
  /** Changes so far. */
  private applied = 0

  /** `maxBytes`: entities read longest ago are dropped beyond it; 0 holds none. */
  constructor(readAll: (entityId: string) => Promise<Read<ScopedAttribute>>, maxBytes: number) {
    this.readAll = readAll
    const options = { maxBytes, maxShare: MAX_SHARE, sizeOf: ({ bytes }: Held) => bytes }
    this.held = maxBytes > 0 ? new ByteCache<Held>(options) : undefined
  }

  get bytes(): number {
    return this.held?.bytes ?? 0
  }

  lookUp(entityId: string): AttributesAsOf | undefined {
    const held = this.held?.get(entityId)
    return held && this.asOf(held.attributes, held.sequence)
  }

  load(entityId: string): Promise<AttributesAsOf> {
    return (this.loads.get(entityId) ?? this.startLoad(entityId)).result
  }

  apply(commit: number, effect: AttributeEffect): number {
    const held = this.held?.peek(effect.entityId)
    if (held !== undefined) {
      const { attributes, sequence } = held
      this.held?.set(effect.entityId, { attributes, sequence, bytes: held.bytes + applyTo(attributes, effect) })
    }
    this.loads.get(effect.entityId)?.meanwhile.changes.push({ commit, effect })
    return ++this.applied
  }

  invalidate(entityId: string): void {
    this.held?.delete(entityId)
    const load = this.loads.get(entityId)
    if (load !== undefined) load.meanwhile.isStale = true
  }

  forget(entityId: string): void {
    this.invalidate(entityId)
  }

  invalidateAll(): void {
    this.held?.clear()
    for (const { meanwhile } of this.loads.values()) meanwhile.isStale = true
  }

  private asOf(attributes: EntityAttributes, sequence: number): AttributesAsOf {
    return { attributes, sequence, ownSequence: this.applied }
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
        const attributes = new HeldAttributes()
        let bytes = ENTITY_BYTES
        for (const row of rows) {
          attributes.set(row)
          bytes += bytesOf(row)
        }
        for (const change of meanwhile.changes) if (change.commit > commit) bytes += applyTo(attributes, change.effect)
        if (!meanwhile.isStale) this.held?.set(entityId, { attributes, sequence: commit, bytes })
        return this.asOf(attributes, commit)
      }
    } finally {
      this.loads.delete(entityId)
    }
  }
}

/** Returns by how many bytes they grew. */
function applyTo(attributes: HeldAttributes, effect: AttributeEffect): number {
  let bytes = 0
  for (const attribute of effect.saved) bytes += bytesOf(attribute) - bytesOf(attributes.set(attribute))
  for (const { scope, key } of effect.deleted) bytes -= bytesOf(attributes.delete(scope, key))
  return bytes
}

function bytesOf(attribute: ScopedAttribute | undefined): number {
  if (attribute === undefined) return 0
  const { key, value } = attribute
  return ATTRIBUTE_BYTES + textBytes(key) + (typeof value === 'string' ? textBytes(value) : 0)
}
