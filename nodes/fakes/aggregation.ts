/** Aggregations over the entities, values and alarms of a test. */
import { summarized } from '../../model/group-summary.ts'
import { LatestColumnBuilder } from '../../model/latest-column.ts'
import type { EntityId } from '../../model/entity-id.ts'
import type {
  AggregationTurn,
  AlarmTally,
  MemberSelection,
  NodeAggregation,
} from '../../engine/rulechain/capabilities/aggregation.ts'
import type { FakeAlarms } from './alarms.ts'
import type { FakeAttributes } from './attributes.ts'
import type { FakeEntities, FakeEntity } from './entities.ts'
import type { FakeHistory } from './history.ts'
import type { FakeRelations } from './relations.ts'

export interface FakeWorld {
  readonly entities: FakeEntities
  readonly alarms: FakeAlarms
  readonly attributes: FakeAttributes
  readonly history: FakeHistory
  readonly relations: FakeRelations
  /** Of the clock. */
  readonly soon: (run: () => void) => void
}

export class FakeAggregation implements NodeAggregation {
  /** Turns that were had. */
  turns = 0
  /** The next turns end with this. */
  failure: Error | undefined
  private readonly world: FakeWorld

  constructor(world: FakeWorld) {
    this.world = world
  }

  async inTurn<Result>(work: (turn: AggregationTurn) => Promise<Result>): Promise<Result> {
    await new Promise<void>((resolve) => this.world.soon(resolve))
    this.turns++
    if (this.failure !== undefined) throw this.failure
    const { entities, attributes, history } = this.world
    const entityOf = (id: string): EntityId =>
      entities.all().find((held) => held.id.id === id)?.id ?? { entityType: 'DEVICE', id }
    return work({
      members: async (parent, selection) => this.members(parent, selection),
      column: async (ids, { source, key }) => {
        const column = new LatestColumnBuilder(ids.length)
        for (const [place, id] of ids.entries()) {
          const [value] =
            source === 'LATEST_TELEMETRY'
              ? await history.latest(entityOf(id), [key])
              : attributes.find(entityOf(id), source, [key])
          if (value !== undefined) column.put(place, value)
        }
        return column.build()
      },
      names: async (_type, ids) =>
        entities
          .all()
          .flatMap(({ id: { id }, name, type }) => (ids.includes(id) ? [{ id, name, type: type ?? '' }] : [])),
      alarms: async (ids, query) => this.tallies(ids, query),
      summarize: async (job) => summarized(job),
    })
  }

  private members(parent: EntityId, { entityType, profiles, related }: MemberSelection): readonly string[] {
    const all = this.world.entities.all().filter(({ id }) => id.entityType === entityType)
    const found = related === undefined ? all.filter((entity) => isOf(entity, parent)) : this.related(parent, related)
    const types = new Map(all.map(({ id, type }) => [id.id, type ?? 'default']))
    return found
      .map((one) => ('entityType' in one ? one.id : one.id.id))
      .filter((id) => types.has(id) && (profiles.length === 0 || profiles.includes(types.get(id) ?? '')))
  }

  private related(
    parent: EntityId,
    { relationTypes, ...levels }: NonNullable<MemberSelection['related']>,
  ): readonly EntityId[] {
    const filters = relationTypes.map((relationType) => ({ relationType, entityTypes: [] }))
    return this.world.relations.find(parent, { ...levels, filters })
  }

  private tallies(
    ids: readonly string[],
    { types, since = 0 }: { readonly types: readonly string[]; readonly since: number | undefined },
  ): readonly AlarmTally[] {
    return this.world.alarms
      .all()
      .filter(({ originator, type, startTs }) => {
        const isOfType = types.length === 0 || types.includes(type)
        return ids.includes(originator.id) && isOfType && startTs >= since
      })
      .map(({ type, severity, status }) => ({ type, severity, status, alarms: 1 }))
  }
}

function isOf({ customerId, profileId }: FakeEntity, { entityType, id }: EntityId): boolean {
  return entityType === 'TENANT' || (entityType === 'CUSTOMER' ? customerId === id : profileId === id)
}
