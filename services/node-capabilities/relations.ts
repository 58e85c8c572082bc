/** Relations as nodes see them: of the node's tenant, of the group COMMON. */
import type { EntityId } from '../../model/entity-id.ts'
import type { Relation, RelationDirection } from '../../model/relation.ts'
import type { NodeIdentity } from '../../engine/rulechain/capabilities.ts'
import type {
  NodeRelation,
  NodeRelations,
  RelatedDevicesQuery,
  RelationsQuery,
} from '../../engine/rulechain/capabilities/relations.ts'
import { devices } from '../entities/device.ts'
import { itemNotFound } from '../errors.ts'
import type { RelationFilter } from '../relations/search.ts'
import type { Services } from '../services.ts'
import { SharedReads } from './shared-reads.ts'

type Parts = Pick<Services, 'declared' | 'relations'>
const COMMON = { typeGroup: 'COMMON', additionalInfo: null } as const

export function nodeRelations(parts: Parts): (node: NodeIdentity) => NodeRelations {
  const searches = new SharedReads<readonly EntityId[]>()
  return ({ tenantId }) => new TenantRelations(parts, tenantId, searches)
}

class TenantRelations implements NodeRelations {
  private readonly parts: Parts
  private readonly tenantId: string
  private readonly searches: SharedReads<readonly EntityId[]>

  constructor(parts: Parts, tenantId: string, searches: SharedReads<readonly EntityId[]>) {
    this.parts = parts
    this.tenantId = tenantId
    this.searches = searches
  }

  async exists(relation: NodeRelation): Promise<boolean> {
    return (await this.parts.relations.find(this.tenantId, { ...relation, ...COMMON })) !== undefined
  }

  list(entity: EntityId, direction: RelationDirection, type?: string): Promise<readonly Relation[]> {
    return this.parts.relations.list(this.tenantId, direction, entity, { type })
  }

  find(root: EntityId, query: RelationsQuery): Promise<readonly EntityId[]> {
    const filters = query.filters.map(({ relationType: type, entityTypes }) => ({ type, entityTypes }))
    return this.search(root, query, filters)
  }

  async relatedDevices(root: EntityId, query: RelatedDevicesQuery): Promise<readonly EntityId[]> {
    const found = await this.search(root, query, [{ type: query.relationType, entityTypes: ['DEVICE'] }])
    if (query.deviceTypes.length === 0 || found.length === 0) return found
    const ids = found.map(({ id }) => id)
    const records = await this.parts.declared.of(devices).findByIds(this.tenantId, ids)
    const fitting = new Set(records.filter(({ type }) => query.deviceTypes.includes(type)).map(({ id }) => id))
    return found.filter(({ id }) => fitting.has(id))
  }

  async create(relation: NodeRelation): Promise<boolean> {
    for (const end of [relation.from, relation.to]) {
      const owner = await this.parts.declared.whose(end)
      if (owner?.tenantId !== this.tenantId) throw itemNotFound(end)
    }
    if (await this.exists(relation)) return false
    await this.parts.relations.save(this.tenantId, { ...relation, ...COMMON })
    return true
  }

  delete(relation: NodeRelation): Promise<boolean> {
    return this.parts.relations.delete(this.tenantId, { ...relation, ...COMMON })
  }

  private search(
    root: EntityId,
    { direction, maxLevel, fetchLastLevelOnly }: Pick<RelationsQuery, 'direction' | 'maxLevel' | 'fetchLastLevelOnly'>,
    filters: readonly RelationFilter[],
  ): Promise<readonly EntityId[]> {
    const search = { root, direction, maxLevel, lastLevelOnly: fetchLastLevelOnly }
    const key = JSON.stringify([this.tenantId, search, filters])
    return this.searches.read(key, () => this.parts.relations.findRelated(this.tenantId, search, filters))
  }
}
