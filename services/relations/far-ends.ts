/** What a list of relations may show of the entities at their far ends. */
import type { EntityId, EntityType } from '../../model/entity-id.ts'
import { isMillraceError } from '../../model/errors.ts'
import type { Principal } from '../../model/principal.ts'
import { farEnd, type Relation, type RelationDirection, type RelationWithName } from '../../model/relation.ts'
import type { EntityRegistry } from '../entities/entity-registry.ts'
import type { AccessControl, OwnedEntity } from '../access/access-control.ts'
import type { FarEndReader } from './far-end-reader.ts'

/** Entities that are looked at one by one: so many at a time. */
const AT_ONCE = 50

export interface FarEndParts {
  readonly access: AccessControl
  readonly declared: Pick<EntityRegistry, 'findOwned'>
  /** Of entities that can not be read many at once. */
  readonly nameOf: (entity: EntityId) => Promise<string | undefined>
}

interface NamedEntity extends OwnedEntity {
  readonly name: string | null
}

export class FarEnds implements FarEndReader {
  private readonly parts: FarEndParts

  constructor(parts: FarEndParts) {
    this.parts = parts
  }

  async readable(
    principal: Principal,
    direction: RelationDirection,
    relations: readonly Relation[],
  ): Promise<readonly RelationWithName[]> {
    const ends = new Map<string, EntityId>()
    for (const relation of relations) for (const end of [relation.from, relation.to]) ends.set(end.id, end)
    const names = await this.readableNames(principal, [...ends.values()])
    return relations
      .filter(({ from, to }) => names.has(from.id) && names.has(to.id))
      .map((relation) => ({ relation, name: names.get(farEnd(relation, direction).id) ?? null }))
  }

  private async readableNames(
    principal: Principal,
    entities: readonly EntityId[],
  ): Promise<ReadonlyMap<string, string | null>> {
    const names = new Map<string, string | null>()
    for (const [type, ids] of byType(entities)) {
      const owned = principal.tenantId === null ? [] : await this.findOwned(principal.tenantId, type, ids)
      for (const { id, name } of this.parts.access.allowed(principal, 'READ', type, owned)) names.set(id, name)
      const found = new Set(owned.map(({ id }) => id))
      const others = ids.filter((id) => !found.has(id))
      // The system's, which tenants may read, and what is there no more.
      await this.addEach(names, principal, type, others)
    }
    return names
  }

  private async findOwned(tenantId: string, type: EntityType, ids: readonly string[]): Promise<readonly NamedEntity[]> {
    return (await this.parts.declared.findOwned(type, tenantId, ids)) ?? []
  }

  private async addEach(
    names: Map<string, string | null>,
    principal: Principal,
    entityType: EntityType,
    ids: readonly string[],
  ): Promise<void> {
    for (let start = 0; start < ids.length; start += AT_ONCE) {
      const some = ids.slice(start, start + AT_ONCE).map((id): EntityId => ({ entityType, id }))
      await Promise.all(
        some.map(async (entity) => {
          if (await this.mayRead(principal, entity)) names.set(entity.id, (await this.parts.nameOf(entity)) ?? null)
        }),
      )
    }
  }

  private async mayRead(principal: Principal, entity: EntityId): Promise<boolean> {
    try {
      await this.parts.access.check(principal, 'READ', entity)
      return true
    } catch (error) {
      if (isMillraceError(error) && (error.status === 403 || error.status === 404)) return false
      throw error
    }
  }
}

function byType(entities: readonly EntityId[]): ReadonlyMap<EntityType, readonly string[]> {
  const types = new Map<EntityType, string[]>()
  for (const { entityType, id } of entities) {
    const ids = types.get(entityType) ?? []
    ids.push(id)
    types.set(entityType, ids)
  }
  return types
}
