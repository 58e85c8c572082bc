/** Relations as nodes see them: of the node's tenant, of the group COMMON. */
import type { EntityId } from '../../model/entity-id.ts'
import type { RelationDirection } from '../../model/relation.ts'
import type { NodeIdentity } from '../../engine/rulechain/capabilities.ts'
import type {
  NodeRelation,
  NodeRelations,
  RelatedDevicesQuery,
  RelationCause,
  RelationsQuery,
} from '../../engine/rulechain/capabilities/relations.ts'
import { whenThere, type Soon } from '../../engine/rulechain/capabilities/soon.ts'
import { devices } from '../entities/device.ts'
import { itemNotFound } from '../errors.ts'
import type { RelationFilter } from '../relations/search.ts'
import type { Services } from '../services.ts'
import type { KnownRelations } from './known-relations.ts'

type Parts = Pick<Services, 'declared' | 'relations'>
const COMMON = { typeGroup: 'COMMON', additionalInfo: null } as const

export function nodeRelations(parts: Parts, known: KnownRelations): (node: NodeIdentity) => NodeRelations {
  return ({ tenantId }) => new TenantRelations(parts, tenantId, known)
}

class TenantRelations implements NodeRelations {
  private readonly parts: Parts
  private readonly tenantId: string
  private readonly known: KnownRelations

  constructor(parts: Parts, tenantId: string, known: KnownRelations) {
    this.parts = parts
    this.tenantId = tenantId
    this.known = known
  }

  exists(relation: NodeRelation): Soon<boolean> {
    const { from, to, type } = relation
    const question = `${from.entityType} ${from.id} ${to.entityType} ${to.id} ${type}`
    return this.known.presences.find(this.tenantId, question, () => this.isThere(relation))
  }

  list(entity: EntityId, direction: RelationDirection, type?: string): Soon<readonly NodeRelation[]> {
    const question = `${direction} ${entity.entityType} ${entity.id} ${type === undefined ? '' : `of ${type}`}`
    return this.known.lists.find(this.tenantId, question, async () => {
      const found = await this.parts.relations.list(this.tenantId, direction, entity, { type })
      return found.map(({ from, to, type }) => ({ from, to, type }))
    })
  }

  find(root: EntityId, query: RelationsQuery): Soon<readonly EntityId[]> {
    const filters = query.filters.map(({ relationType: type, entityTypes }) => ({ type, entityTypes }))
    return this.search(root, query, filters)
  }

  relatedDevices(root: EntityId, query: RelatedDevicesQuery): Soon<readonly EntityId[]> {
    if (query.deviceTypes.length === 0) return []
    const found = this.search(root, query, [{ type: query.relationType, entityTypes: ['DEVICE'] }])
    return whenThere(found, (all) => (all.length === 0 ? all : this.ofTypes(all, query.deviceTypes)))
  }

  private async ofTypes(found: readonly EntityId[], deviceTypes: readonly string[]): Promise<readonly EntityId[]> {
    const ids = found.map(({ id }) => id)
    const records = await this.parts.declared.of(devices).findByIds(this.tenantId, ids)
    const fitting = new Set(records.filter(({ type }) => deviceTypes.includes(type)).map(({ id }) => id))
    return found.filter(({ id }) => fitting.has(id))
  }

  async create(relation: NodeRelation, cause?: RelationCause): Promise<boolean> {
    for (const end of [relation.from, relation.to]) {
      const owner = await this.parts.declared.whose(end)
      if (owner?.tenantId !== this.tenantId) throw itemNotFound(end)
    }
    if (await this.isThere(relation)) return false
    await this.parts.relations.save(this.tenantId, { ...relation, ...COMMON }, cause?.calculatedFieldIds)
    return true
  }

  delete(relation: NodeRelation, cause?: RelationCause): Promise<boolean> {
    return this.parts.relations.delete(this.tenantId, { ...relation, ...COMMON }, cause?.calculatedFieldIds)
  }

  private async isThere(relation: NodeRelation): Promise<boolean> {
    return (await this.parts.relations.find(this.tenantId, { ...relation, ...COMMON })) !== undefined
  }

  private search(
    root: EntityId,
    { direction, maxLevel, fetchLastLevelOnly }: Pick<RelationsQuery, 'direction' | 'maxLevel' | 'fetchLastLevelOnly'>,
    filters: readonly RelationFilter[],
  ): Soon<readonly EntityId[]> {
    const search = { root, direction, maxLevel, lastLevelOnly: fetchLastLevelOnly }
    return this.known.searches.find(this.tenantId, JSON.stringify([search, filters]), () =>
      this.parts.relations.findRelated(this.tenantId, search, filters),
    )
  }
}
