/**
 * Attributes in memory, behind that in a store of all processes, behind that in the database. The shared store is never believed further
 * than this process can judge: what it answers must hold the last commit that was heard of the entity, and must have been read after
 * the last time that something may have been missed, such as this process's start. So it may be late, lose or be away, and
 * nothing is served that memory alone would not have served.
 */
import type { ScopedAttribute } from '../../storage/entities/attributes.ts'
import type { Read } from '../../storage/entities/database.ts'
import type { SharedAttributes } from '../../storage/entities/shared-attributes.ts'
import {
  MemoryAttributeCache,
  type AttributeCache,
  type AttributeEffect,
  type AttributesAsOf,
} from './attribute-cache.ts'
import { LeastAges } from './least-ages.ts'

export class SharedAttributeCache implements AttributeCache {
  private readonly memory: MemoryAttributeCache
  private readonly ages = new LeastAges()
  private readonly readAll: (entityId: string) => Promise<Read<ScopedAttribute>>
  private readonly shared: SharedAttributes

  constructor(
    readAll: (entityId: string) => Promise<Read<ScopedAttribute>>,
    maxBytes: number,
    shared: SharedAttributes,
  ) {
    this.memory = new MemoryAttributeCache((entityId) => this.read(entityId), maxBytes)
    this.readAll = readAll
    this.shared = shared
  }

  get bytes(): number {
    return this.memory.bytes
  }

  lookUp(entityId: string): AttributesAsOf | undefined {
    return this.memory.lookUp(entityId)
  }

  load(entityId: string): Promise<AttributesAsOf> {
    return this.memory.load(entityId)
  }

  apply(commit: number, effect: AttributeEffect): number {
    this.ages.changed(effect.entityId, commit)
    this.shared.drop(effect.entityId)
    return this.memory.apply(commit, effect)
  }

  invalidate(entityId: string, commit?: number): void {
    this.ages.changed(entityId, commit)
    this.memory.invalidate(entityId)
  }

  forget(entityId: string): void {
    this.ages.changed(entityId)
    this.shared.drop(entityId)
    this.memory.forget(entityId)
  }

  invalidateAll(): void {
    this.ages.missed()
    this.memory.invalidateAll()
  }

  private async read(entityId: string): Promise<Read<ScopedAttribute>> {
    const asked = this.ages.moment
    const answer = await this.shared.find(entityId, this.ages.of(entityId))
    if (answer === undefined) return this.readAll(entityId)
    this.ages.learn(entityId, asked, answer.now)
    if (answer.read !== undefined) return answer.read
    const read = await this.readAll(entityId)
    this.shared.offer(entityId, read, answer.now)
    return read
  }
}
