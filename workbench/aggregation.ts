/** Aggregations of a rehearsed world. All is at hand: they have their turns at once, and compute here. */
import type { AggregationTurn, MemberSelection, NodeAggregation } from '../engine/rulechain/capabilities/aggregation.ts'
import type { NodeAlarm } from '../engine/rulechain/capabilities/alarms.ts'
import { AggregationErrors } from '../engine/workers/aggregation/errors.ts'
import type { Clock } from '../model/clock.ts'
import type { EntityId } from '../model/entity-id.ts'
import { summarized } from '../model/group-summary.ts'
import { LatestColumnBuilder } from '../model/latest-column.ts'
import type { AttributeScope, TypedValue } from '../model/value.ts'
import type { RehearsedRelations } from './relations.ts'

/** Of an entity of the world. */
interface GroupedEntity {
  readonly id: EntityId
  readonly name: string
  readonly type: string
  readonly customerId: string | null
}

export interface RehearsedGroups {
  readonly clock: Clock
  readonly entities: () => readonly GroupedEntity[]
  readonly alarms: () => readonly NodeAlarm[]
  readonly latest: (entity: EntityId, key: string) => TypedValue | undefined
  readonly attribute: (entity: EntityId, scope: AttributeScope, key: string) => TypedValue | undefined
  readonly related: RehearsedRelations['find']
}

export function rehearsedAggregation(groups: RehearsedGroups): NodeAggregation {
  const turn = new RehearsedTurn(groups)
  return {
    inTurn: async (work) => {
      await new Promise<void>((resolve) => groups.clock.soon(resolve))
      return work(turn)
    },
  }
}

class RehearsedTurn implements AggregationTurn {
  private readonly groups: RehearsedGroups

  constructor(groups: RehearsedGroups) {
    this.groups = groups
  }

  async members(parent: EntityId, { entityType, profiles, related }: MemberSelection): Promise<readonly string[]> {
    const all = this.groups.entities().filter(({ id }) => id.entityType === entityType)
    const wanted = related === undefined ? this.ownOf(parent, entityType) : await this.relatedTo(parent, related)
    return all
      .filter((entity) => wanted(entity) && (profiles.length === 0 || profiles.includes(entity.type)))
      .map(({ id }) => id.id)
  }

  async column(...[ids, { source, key }]: Parameters<AggregationTurn['column']>) {
    const column = new LatestColumnBuilder(ids.length)
    const byId = new Map(this.groups.entities().map(({ id }) => [id.id, id]))
    for (const [place, id] of ids.entries()) {
      const entity = byId.get(id)
      if (entity === undefined) continue
      const value =
        source === 'LATEST_TELEMETRY' ? this.groups.latest(entity, key) : this.groups.attribute(entity, source, key)
      if (value !== undefined) column.put(place, value)
    }
    return column.build()
  }

  async names(...[entityType, ids]: Parameters<AggregationTurn['names']>) {
    const wanted = new Set(ids)
    return this.groups
      .entities()
      .filter(({ id }) => id.entityType === entityType && wanted.has(id.id))
      .map(({ id: { id }, name, type }) => ({ id, name, type }))
  }

  async alarms(...[ids, { types, since = 0 }]: Parameters<AggregationTurn['alarms']>) {
    return this.groups
      .alarms()
      .filter(({ originator, type, startTs }) => {
        const isOfType = types.length === 0 || types.includes(type)
        return ids.includes(originator.id) && isOfType && startTs >= since
      })
      .map(({ type, severity, status }) => ({ type, severity, status, alarms: 1 }))
  }

  async summarize(...[job]: Parameters<AggregationTurn['summarize']>) {
    return summarized(job)
  }

  /** A profile is the one of an entity of the world. */
  private ownOf({ entityType, id }: EntityId, members: string): (entity: GroupedEntity) => boolean {
    if (entityType === 'TENANT') return () => true
    if (entityType === 'CUSTOMER') return ({ customerId }) => customerId === id
    if (entityType !== 'DEVICE_PROFILE' && entityType !== 'ASSET_PROFILE') {
      throw AggregationErrors.PARENT_UNFIT({ parent: entityType, members })
    }
    // In this world a profile has the id of an entity that has it (`world.ts`).
    const named = this.groups.entities().find((entity) => entity.id.id === id)
    return ({ type }) => type === named?.type
  }

  private async relatedTo(
    parent: EntityId,
    { relationTypes, ...levels }: NonNullable<MemberSelection['related']>,
  ): Promise<(entity: GroupedEntity) => boolean> {
    const filters = relationTypes.map((type) => ({ type, entityTypes: [] }))
    const found = new Set((await this.groups.related(parent, levels, filters)).map(({ id }) => id))
    return ({ id }) => found.has(id.id)
  }
}
