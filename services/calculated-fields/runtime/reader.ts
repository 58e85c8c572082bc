/** What a turn must know beside its state: fields that apply, values of arguments that are new here, and whom else the news concerns. */
import { awaitedLater } from '../../../model/awaited-later.ts'
import type { ArgumentNeed, Needs, SingleValue } from '../../../model/calculated-fields/kind.ts'
import type { EntityId } from '../../../model/entity-id.ts'
import type { AttributeService } from '../../attributes/attribute-service.ts'
import { devices } from '../../entities/device.ts'
import { assets } from '../../entities/asset.ts'
import type { EntityRegistry } from '../../entities/entity-registry.ts'
import { isLater, type Soon } from '../../../engine/rulechain/capabilities/soon.ts'
import type { TenantLimits } from '../../entities/tenant-limits.ts'
import type { LimitsOfTenants } from '../../tenants/limits.ts'
import type { TelemetryService } from '../../telemetry/telemetry-service.ts'
import type { AlarmService } from '../../alarms/alarm-service.ts'
import { mostPoints } from './bounds.ts'
import type { EntityFacts, KnownFacts } from './facts.ts'
import { isProfile, type ActiveField, type Dependent, type FieldIndex } from './field-index.ts'
import { held, windowStart, type Held } from './held.ts'
import { isOlder, toLoad, type LoadSurroundings } from './loads.ts'
import { goneSeries, jsonOf, type News, type Payload, type RelationsNews, type ValuesNews } from './payload.ts'
import { concernedWays, isRelationNews } from './relation-news.ts'
import type { RelatedEntities, RelationLevel } from './related.ts'
import type { EntityState, FieldState } from './states.ts'
import { TenantReads } from './tenant-reads.ts'

export interface ReaderParts {
  readonly declared: EntityRegistry
  readonly attributes: Pick<AttributeService, 'find'>
  readonly telemetry: Pick<TelemetryService, 'latest' | 'history'>
  readonly related: RelatedEntities
  readonly alarms: Pick<AlarmService, 'findActive'>
  readonly limits: Pick<LimitsOfTenants, 'soon'>
  readonly index: FieldIndex
  readonly facts: KnownFacts
}

/** A field that begins, or whose sources were looked up anew. */
export interface LoadedField {
  readonly args: Readonly<Record<string, Held>>
  readonly alarm?: { readonly severity: string; readonly startTs: number } | null
}

export interface Forward {
  readonly entity: EntityId
  readonly payload: Payload
}

export interface Known {
  /** What the message says; undefined at a wake-up. */
  readonly payload: Payload | undefined
  /** Undefined where the entity is gone, or another tenant's. */
  readonly facts: EntityFacts | undefined
  readonly fields: readonly ActiveField[]
  readonly limits: TenantLimits
  readonly loaded: ReadonlyMap<string, LoadedField>
  readonly targets: ReadonlyMap<string, readonly EntityId[]>
  /** Of targets too. */
  readonly factsOf: ReadonlyMap<string, EntityFacts>
  readonly forwards: readonly Forward[]
}

const MEMBERS_A_TURN = 500

/** Of a turn for which nothing is read. */
const NOTHING_READ: Pick<Known, 'loaded' | 'targets' | 'factsOf' | 'forwards'> = {
  ...{ loaded: new Map(), targets: new Map(), factsOf: new Map(), forwards: [] },
}

export class CalculationReader {
  private readonly parts: ReaderParts
  private readonly reads = new TenantReads()

  constructor(parts: ReaderParts) {
    this.parts = parts
  }

  /** At once where a message of values brings all that its turn needs: a promise for each would take more than the turn. */
  read(
    tenantId: string,
    entity: EntityId,
    payload: Payload | undefined,
    state: EntityState | undefined,
    now: number,
  ): Soon<Known> {
    this.hearNews(entity, payload)
    return this.atHand(tenantId, entity, payload, state, now) ?? this.readAll(tenantId, entity, payload, state, now)
  }

  /** What the log says is newer than what the feed brought here: before anything else is read, for values behind it in the same batch. */
  private hearNews(entity: EntityId, payload: Payload | undefined): void {
    const { facts, index } = this.parts
    if (payload?.kind === 'entity') facts.forget(entity)
    const news = payload?.kind === 'members' ? payload.news : payload
    if (news?.kind === 'field' && (index.find(news.id)?.record.version ?? -1) < news.version)
      void index.refresh(news.id)
  }

  /** The same as {@link readAll}; undefined where anything of it has to be waited for. */
  private atHand(
    tenantId: string,
    entity: EntityId,
    payload: Payload | undefined,
    state: EntityState | undefined,
    now: number,
  ): Known | undefined {
    const { index } = this.parts
    if (payload?.kind !== 'values' || state === undefined || index.pending(tenantId) !== undefined) return undefined
    const facts = this.parts.facts.held(entity)
    if (facts?.tenantId !== tenantId || isProfile(entity)) return undefined
    const limits = this.parts.limits.soon(tenantId)
    if (isLater(limits)) {
      // By `readAll`, which asks for the same.
      void awaitedLater(limits)
      return undefined
    }
    if (payload.from === undefined && this.dependentsIn(tenantId, entity, payload).length > 0) return undefined
    const fields = this.fieldsOf(tenantId, entity, facts)
    for (const id of Object.keys(state.fields)) if (isOlder(index, id, state)) return undefined
    const gone = goneSeries(payload)
    for (const { field, record } of fields) {
      if (field === undefined) continue
      if (field.needs.targets !== undefined) return undefined
      const surroundings = { entity, facts, state, now, limits, isAlarmNews: false, isRelationNews: false, gone }
      if (toLoad(record.version, field.needs, state.fields[record.id], surroundings) !== undefined) return undefined
    }
    return { ...NOTHING_READ, payload, facts, fields, limits }
  }

  private async readAll(
    tenantId: string,
    entity: EntityId,
    payload: Payload | undefined,
    state: EntityState | undefined,
    now: number,
  ): Promise<Known> {
    await this.bringUpToDate(tenantId, state)
    const { facts: known, limits } = this.parts
    const facts = await known.of(entity)
    const common = {
      payload,
      limits: await limits.soon(tenantId),
      targets: new Map(),
      factsOf: new Map(),
      loaded: new Map(),
    }
    const forwards = await this.forwards(tenantId, entity, payload, facts)
    if (facts?.tenantId !== tenantId || isProfile(entity)) return { ...common, facts: undefined, fields: [], forwards }
    const fields = this.fieldsOf(tenantId, entity, facts)
    const loaded = new Map<string, LoadedField>()
    const targets = new Map<string, readonly EntityId[]>()
    const factsOf = new Map<string, EntityFacts>()
    for (const active of fields) {
      const { record, field } = active
      if (field === undefined) continue
      const before = state?.fields[record.id]
      const part = await this.loadedOf(entity, active, field.needs, before, {
        entity,
        facts,
        state,
        now,
        limits: common.limits,
        isAlarmNews: payload?.kind === 'alarm',
        isRelationNews: isRelationNews(payload),
        gone: goneSeries(payload),
      })
      if (part !== undefined) loaded.set(record.id, part)
      if (field.needs.targets === undefined) continue
      const found = await this.targetsOf(tenantId, entity, field.needs.targets, common.limits)
      targets.set(
        record.id,
        found.map((target) => target.entity),
      )
      for (const target of found) factsOf.set(target.entity.id, target.facts)
    }
    return { payload, facts, fields, limits: common.limits, loaded, targets, factsOf, forwards }
  }

  /** What is being read is there, and what the state says is newer than that. */
  private async bringUpToDate(tenantId: string, state: EntityState | undefined): Promise<void> {
    const { index } = this.parts
    await index.pending(tenantId)
    if (state === undefined) return
    for (const id of Object.keys(state.fields)) if (isOlder(index, id, state)) await index.refresh(id)
  }

  private fieldsOf(tenantId: string, entity: EntityId, { profile }: EntityFacts): readonly ActiveField[] {
    const fields = this.parts.index.of(tenantId)
    if (fields === undefined) return []
    const own = fields.on(entity.id)
    if (profile === undefined) return own
    const ofProfile = fields.on(profile.id)
    return own.length === 0 ? ofProfile : [...own, ...ofProfile]
  }

  private async loadedOf(
    entity: EntityId,
    active: ActiveField,
    needs: Needs,
    before: FieldState | undefined,
    surroundings: LoadSurroundings,
  ): Promise<LoadedField | undefined> {
    const asked = toLoad(active.record.version, needs, before, surroundings)
    if (asked === undefined) return undefined
    const { facts, now, limits } = surroundings
    const entries: [string, Held][] = []
    for (const [name, need] of asked.arguments)
      entries.push([name, await this.argument(facts.tenantId, entity, facts, need, now, limits)])
    const args = Object.fromEntries(entries)
    if (!asked.isAlarmAsked) return { args }
    const alarm = await this.parts.alarms.findActive(entity.id, active.record.name)
    return { args, alarm: alarm === undefined ? null : { severity: alarm.severity, startTs: alarm.startTs } }
  }

  private async argument(
    tenantId: string,
    entity: EntityId,
    facts: EntityFacts,
    need: ArgumentNeed,
    now: number,
    limits: TenantLimits,
  ): Promise<Held> {
    const sources = await this.sourcesOf(tenantId, entity, facts, need, limits)
    const read = await Promise.all(
      sources.map((source) => this.reads.run(tenantId, () => this.values(source, need, now, limits))),
    )
    return held(need, sources, read, now)
  }

  private async sourcesOf(
    tenantId: string,
    entity: EntityId,
    facts: EntityFacts,
    { origin, many }: ArgumentNeed,
    limits: TenantLimits,
  ): Promise<readonly EntityId[]> {
    switch (origin.from) {
      case 'own':
        return [entity]
      case 'entity':
        // Another tenant's is never read.
        return (await this.parts.facts.of(origin.entity))?.tenantId === tenantId ? [origin.entity] : []
      case 'owner':
        return [facts.owner]
      case 'related': {
        const most = limits.maxRelatedEntitiesToReturnPerCfArgument
        const found = await this.parts.related.find(tenantId, entity, origin.levels, most > 0 ? most : MAX_RELATED)
        return many === true ? found : found.slice(0, 1)
      }
    }
  }

  /** The newest first of one, the oldest first of a window. */
  private async values(
    source: EntityId,
    need: ArgumentNeed,
    now: number,
    limits: TenantLimits,
  ): Promise<readonly SingleValue[]> {
    const { attributes, telemetry } = this.parts
    const { key, type, scope = 'SERVER_SCOPE' } = need
    if (type === 'ATTRIBUTE') {
      const { value } = await attributes.find(source, scope, [key])
      return value.map((attribute) => ({ ts: attribute.lastUpdateTs, value: jsonOf(attribute) }))
    }
    if (type === 'TS_LATEST') {
      const { value } = await telemetry.latest(source, [key])
      return value.map((point) => ({ ts: point.ts, value: jsonOf(point) }))
    }
    const limit = mostPoints(need, limits.maxDataPointsPerRollingArg)
    const query = { keys: [key], startTs: windowStart(need, now), endTs: now + 1, limit, orderBy: 'DESC' } as const
    const { value } = await telemetry.history(source, query)
    return (value.get(key) ?? []).map((point) => ({ ts: point.ts, value: jsonOf(point) })).reverse()
  }

  private async targetsOf(
    tenantId: string,
    entity: EntityId,
    relation: NonNullable<Needs['targets']>,
    limits: TenantLimits,
  ): Promise<readonly { readonly entity: EntityId; readonly facts: EntityFacts }[]> {
    const most = limits.maxRelatedEntitiesToReturnPerCfArgument
    const found = await this.parts.related.find(tenantId, entity, [relation], most > 0 ? most : MAX_RELATED)
    const known = await Promise.all(
      found.map(async (target) => ({ entity: target, facts: await this.parts.facts.of(target) })),
    )
    return known.flatMap(({ entity: target, facts }) =>
      facts?.tenantId === tenantId ? [{ entity: target, facts }] : [],
    )
  }

  private async forwards(
    tenantId: string,
    entity: EntityId,
    payload: Payload | undefined,
    facts: EntityFacts | undefined,
  ): Promise<readonly Forward[]> {
    if (payload === undefined) return []
    if (payload.kind === 'members') return this.members(tenantId, entity, payload.after, payload.news)
    if (payload.kind === 'relations') return this.relatedNow(tenantId, entity, payload)
    // What is set on a profile is for all that have it.
    if (isProfile(entity)) {
      const own = payload.kind === 'values' ? await this.dependentsOf(tenantId, entity, payload) : []
      return payload.kind === 'field' ? this.members(tenantId, entity, '', payload) : own
    }
    return payload.kind === 'values' && payload.from === undefined && facts !== undefined
      ? this.dependentsOf(tenantId, entity, payload)
      : []
  }

  /** Entities whose fields have this one's values as arguments: each looks once more whether that is so. */
  private async dependentsOf(tenantId: string, entity: EntityId, news: ValuesNews): Promise<readonly Forward[]> {
    const dependents = this.dependentsIn(tenantId, entity, news)
    if (dependents.length === 0) return []
    const payload: News = { ...news, from: entity }
    const found = await Promise.all(dependents.map((dependent) => this.concerned(tenantId, entity, dependent, payload)))
    const forwards = new Map(found.flat().map((forward) => [forward.entity.id, forward]))
    forwards.delete(entity.id)
    return [...forwards.values()]
  }

  private dependentsIn(
    tenantId: string,
    entity: EntityId,
    { source, values, deleted }: ValuesNews,
  ): readonly Dependent[] {
    const fields = this.parts.index.of(tenantId)
    if (fields?.hasDependents !== true) return []
    return fields.dependents(entity, source, [...values.map(([key]) => key), ...deleted])
  }

  private async concerned(
    tenantId: string,
    entity: EntityId,
    { owner, need: { origin } }: Dependent,
    payload: News,
  ): Promise<readonly Forward[]> {
    if (origin.from === 'related') return this.relatedTo(tenantId, entity, owner, origin.levels, payload)
    if (isProfile(owner)) return this.membersOf(owner, payload)
    const isOf = origin.from !== 'owner' || (await this.parts.facts.of(owner))?.owner.id === entity.id
    return isOf ? [{ entity: owner, payload }] : []
  }

  /** Entities that the relations lead to others now; the message's own one looks in this turn. */
  private async relatedNow(tenantId: string, entity: EntityId, news: RelationsNews): Promise<readonly Forward[]> {
    const fields = this.parts.index.of(tenantId)
    if (fields === undefined) return []
    const forwards = new Map<string, Forward>()
    for (const { owner, near, levels } of concernedWays(fields.ways(), news))
      for (const forward of await this.relatedTo(tenantId, near, owner, levels, { kind: 'related' }))
        forwards.set(forward.entity.id, forward)
    forwards.delete(entity.id)
    return [...forwards.values()]
  }

  private async relatedTo(
    tenantId: string,
    entity: EntityId,
    owner: EntityId,
    levels: readonly RelationLevel[],
    payload: News,
  ): Promise<readonly Forward[]> {
    const { related, facts } = this.parts
    const { ends, isCut } = await this.reads.run(tenantId, () =>
      related.findBackwards(tenantId, entity, levels, MAX_RELATED),
    )
    if (!isProfile(owner)) {
      // Behind a level that was cut it may be one of those that were not read.
      return isCut || ends.some(({ id }) => id === owner.id) ? [{ entity: owner, payload }] : []
    }
    if (isCut) return this.membersOf(owner, payload)
    const ofProfile = await Promise.all(
      ends.map(async (one) => (await this.reads.run(tenantId, () => facts.of(one)))?.profile?.id === owner.id),
    )
    return ends.filter((_, place) => ofProfile[place]).map((one) => ({ entity: one, payload }))
  }

  /** Each looks whether it is concerned. */
  private membersOf(profile: EntityId, news: News): readonly Forward[] {
    return [{ entity: profile, payload: { kind: 'members', after: '', news } }]
  }

  /** A page of a profile's members, and the rest of them by another message. */
  private async members(tenantId: string, profile: EntityId, after: string, news: News): Promise<readonly Forward[]> {
    const { declared } = this.parts
    const isDevices = profile.entityType === 'DEVICE_PROFILE'
    const where = [
      { column: 'tenant_id', is: tenantId },
      { column: isDevices ? 'device_profile_id' : 'asset_profile_id', is: profile.id },
      { column: 'id', after },
    ]
    const found = isDevices
      ? await declared.of(devices).findWhere(where, MEMBERS_A_TURN)
      : await declared.of(assets).findWhere(where, MEMBERS_A_TURN)
    const entityType = isDevices ? 'DEVICE' : 'ASSET'
    const forwards = found.map(({ id }): Forward => ({ entity: { entityType, id }, payload: news }))
    const last = found.at(-1)
    if (last === undefined || found.length < MEMBERS_A_TURN) return forwards
    return [...forwards, { entity: profile, payload: { kind: 'members', after: last.id, news } }]
  }
}

/** Where the tenant's profile sets no limit. */
const MAX_RELATED = 1_000
