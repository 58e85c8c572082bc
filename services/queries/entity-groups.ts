/**
 * Which entities an asset, a customer, a profile or a tenant has, and what is stored of many at once: for rule nodes that make one value of them.
 * All is asked by tenant, and read beside the commits.
 */
import type { EntityId, EntityType } from '../../model/entity-id.ts'
import type { EntitySort } from '../../model/entity-query.ts'
import { joinedColumn, LatestColumnBuilder, type LatestColumn } from '../../model/latest-column.ts'
import type { AttributeScope } from '../../model/value.ts'
import type { MemberName, MemberSelection, MemberType } from '../../engine/rulechain/capabilities/aggregation.ts'
import { AggregationErrors } from '../../engine/workers/aggregation/errors.ts'
import type { EntityStore } from '../../storage/entities/entity-store.ts'
import type { AlarmTallyRow } from '../../storage/entities/queries/alarm-queries.ts'
import type { EntitySource, QueryTable } from '../../storage/entities/queries/query.ts'
import type { TimeSeriesStore } from '../../storage/timeseries/store.ts'
import { assetProfiles } from '../entities/asset-profile.ts'
import { deviceProfiles } from '../entities/device-profile.ts'
import type { EntityRegistry } from '../entities/entity-registry.ts'
import type { RelationService } from '../relations/relations.ts'
import { inPieces } from './pieces.ts'

export interface EntityGroupParts {
  readonly entities: EntityStore
  readonly timeSeries: TimeSeriesStore
  readonly declared: EntityRegistry
  readonly relations: Pick<RelationService, 'findRelated'>
  readonly tables: ReadonlyMap<EntityType, QueryTable>
}

/** Ties of values are broken by it. */
const OLDEST: EntitySort = { key: { type: 'ENTITY_FIELD', key: 'createdTime' }, direction: 'ASC' }

export class EntityGroups {
  private readonly parts: EntityGroupParts

  constructor(parts: EntityGroupParts) {
    this.parts = parts
  }

  /** At most `limit` and one more, the oldest first. Throws `PARENT_UNFIT`, and as searches of relations do. */
  async members(
    tenantId: string,
    parent: EntityId,
    selection: MemberSelection,
    limit: number,
  ): Promise<readonly string[]> {
    const { entityType, profiles } = selection
    const table = this.tableOf(entityType)
    const own =
      selection.related === undefined
        ? await this.ownOf(tenantId, parent, entityType)
        : { ids: await this.relatedTo(tenantId, parent, selection) }
    if (own === undefined || own.ids?.length === 0) return []
    // Both of the profile that is the parent and of one that is named.
    const types = [own.types, profiles.length === 0 ? undefined : profiles].filter((some) => some !== undefined)
    const [one, other = one] = types
    const common = one?.filter((name) => other?.includes(name))
    if (common?.length === 0) return []
    const source: EntitySource = { ...own, table, tenantId, ...(common === undefined ? {} : { types: common }) }
    return this.parts.entities.queries.ids({ sources: [source], filters: [], operation: 'AND' }, OLDEST, limit + 1)
  }

  /** Those of the tenant. */
  async names(tenantId: string, entityType: MemberType, ids: readonly string[]): Promise<readonly MemberName[]> {
    const sources = [{ table: this.tableOf(entityType), tenantId, ids }]
    const order = { sort: undefined, limit: ids.length, offset: 0 }
    const { queries } = this.parts.entities
    const found = await queries.find({ sources, filters: [], operation: 'AND' }, order, ['name', 'type'])
    return found.map(({ id, fields: [name, type] }) => ({ id, name: String(name ?? ''), type: String(type ?? '') }))
  }

  /** In the order of the ids. `check` is told the bytes of each piece, and stops it by throwing. */
  async latest(ids: readonly string[], key: string, check: (bytes: number) => void): Promise<LatestColumn> {
    const { timeSeries } = this.parts
    // A store that has columns bounds what it answers itself.
    const isBounded = timeSeries.latestColumn !== undefined
    const textBytes = async (some: readonly string[]) =>
      isBounded ? 0 : ((await timeSeries.latestTextBytes?.(some, key)) ?? 0)
    return columnOf(ids, check, textBytes, async (some) => {
      if (timeSeries.latestColumn !== undefined) return timeSeries.latestColumn(some, key)
      const { value } = await timeSeries.latestOfMany(some, [key])
      const column = new LatestColumnBuilder(some.length)
      for (const [place, id] of some.entries()) {
        const point = value.get(id)?.find((held) => held.key === key)
        if (point !== undefined) column.put(place, point)
      }
      return column.build()
    })
  }

  async attributes(
    ids: readonly string[],
    scope: AttributeScope,
    key: string,
    check: (bytes: number) => void,
  ): Promise<LatestColumn> {
    const { queries } = this.parts.entities
    return columnOf(
      ids,
      check,
      (some) => queries.attributeTextBytes(some, key),
      async (some) => {
        const places = new Map(some.map((id, place) => [id, place]))
        const column = new LatestColumnBuilder(some.length)
        for (const held of await queries.attributes(some, [key])) {
          const place = places.get(held.entityId)
          if (held.scope === scope && place !== undefined) column.put(place, held.attribute)
        }
        return column.build()
      },
    )
  }

  /** Of alarms whose originator is one of these; at most `limit` counts and one more. */
  tallyAlarms(
    tenantId: string,
    entityIds: readonly string[],
    { types, since }: { readonly types: readonly string[]; readonly since: number | undefined },
    limit: number,
  ): Promise<readonly AlarmTallyRow[]> {
    const filter = { tenantId, ...(types.length === 0 ? {} : { types }), startTime: since }
    return this.parts.entities.alarmQueries.tally(
      { filter, entityIds, isPropagated: false, keyFilters: [], operation: 'AND', originators: [] },
      limit + 1,
    )
  }

  /** Undefined where there is no such parent. */
  private async ownOf(
    tenantId: string,
    { entityType: parent, id }: EntityId,
    members: MemberType,
  ): Promise<Pick<EntitySource, 'customerId' | 'types' | 'ids'> | undefined> {
    const { declared } = this.parts
    switch (parent) {
      case 'TENANT':
        return id === tenantId ? {} : undefined
      case 'CUSTOMER':
        return { customerId: id }
      case 'DEVICE_PROFILE':
      case 'ASSET_PROFILE': {
        if (members !== PROFILED[parent]) throw AggregationErrors.PARENT_UNFIT({ parent, members })
        const profile =
          parent === 'DEVICE_PROFILE'
            ? await declared.of(deviceProfiles).find(tenantId, id)
            : await declared.of(assetProfiles).find(tenantId, id)
        return profile === undefined ? undefined : { types: [profile.name] }
      }
      default:
        throw AggregationErrors.PARENT_UNFIT({ parent, members })
    }
  }

  private async relatedTo(tenantId: string, root: EntityId, selection: MemberSelection): Promise<readonly string[]> {
    const { related, entityType } = selection
    if (related === undefined) return []
    const { direction, maxLevel, fetchLastLevelOnly, relationTypes } = related
    const filters =
      relationTypes.length === 0
        ? [{ entityTypes: [entityType] }]
        : relationTypes.map((type) => ({ type, entityTypes: [entityType] }))
    const search = { root, direction, maxLevel, lastLevelOnly: fetchLastLevelOnly }
    const found = await this.parts.relations.findRelated(tenantId, search, filters)
    return found.map(({ id }) => id)
  }

  private tableOf(entityType: MemberType): QueryTable {
    const table = this.parts.tables.get(entityType)
    if (table === undefined) throw new TypeError(`queries know no ${entityType}`)
    return table
  }
}

const PROFILED = { DEVICE_PROFILE: 'DEVICE', ASSET_PROFILE: 'ASSET' } as const

async function columnOf(
  ids: readonly string[],
  check: (bytes: number) => void,
  textBytes: (some: readonly string[]) => Promise<number>,
  read: (some: readonly string[]) => Promise<LatestColumn>,
): Promise<LatestColumn> {
  const pieces: LatestColumn[] = []
  await inPieces(ids, textBytes, async (some) => {
    const piece = await read(some)
    check(bytesOf(piece))
    pieces.push(piece)
  })
  return joinedColumn(pieces)
}

/** What a text takes beside its letters. */
const TEXT_BYTES = 24

function bytesOf({ kinds, numbers, texts }: LatestColumn): number {
  return kinds.byteLength + numbers.byteLength + texts.reduce((sum, text) => sum + TEXT_BYTES + 2 * text.length, 0)
}
