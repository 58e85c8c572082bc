/**
 * The world in which chains are rehearsed: entities, attributes, series, relations, alarms in memory, as a case describes them. What nodes
 * change is changed in it, and noted with the node that did it. Nothing leaves it: mails, calls, notifications are only noted.
 */
import type { CapabilitySources, NodeIdentity } from '../engine/rulechain/capabilities.ts'
import type {
  NodeAlarm,
  NodeAlarmDraft,
  NodeAlarmSeverity,
  RaisedAlarm,
} from '../engine/rulechain/capabilities/alarms.ts'
import type { NodeEntity } from '../engine/rulechain/capabilities/entities.ts'
import type { SeriesQuery } from '../engine/rulechain/capabilities/history.ts'
import type { NodeRelation } from '../engine/rulechain/capabilities/relations.ts'
import type { ScriptHost } from '../engine/script/script.ts'
import type { Clock, Random } from '../model/clock.ts'
import { entityId, type EntityId, type EntityType } from '../model/entity-id.ts'
import type { JsonObject, JsonValue } from '../model/json.ts'
import type { Attribute, AttributeScope, DataPoint, Entry } from '../model/value.ts'
import { aggregated } from './aggregate.ts'
import { rehearsedAggregation } from './aggregation.ts'
import { RehearsedRelations } from './relations.ts'
import { askedModel, outsideOf, type OutsideAnswers } from './outside.ts'
import { jsonOf, valuesOf } from './shown-values.ts'

/** What a node did to the world, in the words in which cases expect it. */
export interface Effect {
  readonly node: string
  readonly effect: string
  readonly [member: string]: JsonValue
}

export interface WorldParts {
  readonly tenantId: string
  readonly clock: Clock
  readonly random: Random
  readonly scripts: ScriptHost
}

export interface WorldEntity {
  readonly id: EntityId
  readonly name: string
  readonly type: string
  readonly label: string | null
  readonly json: JsonObject
  customerId: string | null
}

export class World {
  readonly effects: Effect[] = []
  private readonly parts: WorldParts
  private readonly outside: OutsideAnswers
  private readonly entities = new Map<string, WorldEntity>()
  private readonly attributes = new Map<string, Attribute[]>()
  private readonly points = new Map<string, DataPoint[]>()
  private readonly relations: RehearsedRelations
  private readonly alarms: NodeAlarm[] = []

  constructor(parts: WorldParts, outside: OutsideAnswers = {}) {
    this.parts = parts
    this.outside = outside
    this.relations = new RehearsedRelations(parts.tenantId)
    this.addEntity('TENANT', 'Tenant', { id: parts.tenantId })
  }

  /** `json`: further members as the API shows the entity. */
  addEntity(
    entityType: EntityType,
    name: string,
    given: { readonly id?: string; readonly type?: string; readonly label?: string; readonly json?: JsonObject } = {},
  ): WorldEntity {
    const id = entityId(entityType, given.id ?? this.parts.random.uuid())
    const entity: WorldEntity = {
      ...{ id, name, type: given.type ?? 'default', label: given.label ?? null, customerId: null },
      json: given.json ?? {},
    }
    this.entities.set(id.id, entity)
    return entity
  }

  entityNamed(name: string, entityType?: EntityType): WorldEntity | undefined {
    return [...this.entities.values()].find(
      (entity) => entity.name === name && (entityType === undefined || entity.id.entityType === entityType),
    )
  }

  firstDevice(): WorldEntity | undefined {
    return [...this.entities.values()].find(({ id }) => id.entityType === 'DEVICE')
  }

  setAttributes(entity: EntityId, scope: AttributeScope, entries: readonly Entry[]): void {
    const key = `${entity.id} ${scope}`
    const changed = new Set(entries.map((entry) => entry.key))
    const kept = (this.attributes.get(key) ?? []).filter((attribute) => !changed.has(attribute.key))
    const lastUpdateTs = this.parts.clock.now()
    this.attributes.set(key, [...kept, ...entries.map((entry): Attribute => ({ ...entry, lastUpdateTs }))])
  }

  addPoints(entity: EntityId, points: readonly DataPoint[]): void {
    const added = new Set(points.map(({ key, ts }) => `${ts} ${key}`))
    const kept = (this.points.get(entity.id) ?? []).filter(({ key, ts }) => !added.has(`${ts} ${key}`))
    this.points.set(entity.id, [...kept, ...points])
  }

  addRelation(relation: NodeRelation): void {
    this.relations.add(relation)
  }

  raise(draft: NodeAlarmDraft): RaisedAlarm {
    const active = this.activeAlarm(draft.originator, draft.type)
    const alarm = this.alarmOf(draft, active)
    if (active === undefined) this.alarms.push(alarm)
    else this.alarms.splice(this.alarms.indexOf(active), 1, alarm)
    const isSame = active?.severity === alarm.severity
    const result = active === undefined ? 'created' : isSame ? 'updated' : 'severity updated'
    return { alarm, result, previousSeverity: active?.severity ?? null }
  }

  /** What the nodes of a chain get of this world. */
  sources(): CapabilitySources {
    return {
      aggregation: () =>
        rehearsedAggregation({
          clock: this.parts.clock,
          entities: () => [...this.entities.values()],
          alarms: () => this.alarms,
          latest: (entity, key) => this.latest(entity, [key])[0],
          attribute: (entity, scope, key) =>
            this.attributes.get(`${entity.id} ${scope}`)?.find((held) => held.key === key),
          related: (...asked) => this.relations.find(...asked),
        }),
      scripts: () => this.parts.scripts,
      queues: () => ({ linkName: async (tenantId, name) => `${tenantId}.${name}` }),
      routes: () => ({ of: async () => undefined }),
      telemetry: (node) => ({
        save: (request, done) => {
          this.addPoints(request.entity, request.history || request.latest ? request.points : [])
          const [first] = request.points
          this.note(node, 'save telemetry', request.entity, { ts: first?.ts ?? 0, values: valuesOf(request.points) })
          done(undefined, request.place ?? 0)
        },
      }),
      attributes: (node) => ({
        save: async ({ entity, scope, entries, store }) => {
          if (store) this.setAttributes(entity, scope, entries)
          this.note(node, 'save attributes', entity, { scope, values: valuesOf(entries) })
        },
        find: (entity, scope, keys) => {
          const held = this.attributes.get(`${entity.id} ${scope}`) ?? []
          return keys.length === 0 ? held : held.filter(({ key }) => keys.includes(key))
        },
        delete: async ({ entity, scope, keys }) => {
          const key = `${entity.id} ${scope}`
          this.attributes.set(
            key,
            (this.attributes.get(key) ?? []).filter((held) => !keys.includes(held.key)),
          )
          this.note(node, 'delete attributes', entity, { scope, keys: [...keys] })
        },
      }),
      history: () => ({
        latest: async (entity, keys) => this.latest(entity, keys),
        series: async (entity, query) => this.series(entity, query),
      }),
      entities: (node) => ({
        find: (entity) => this.shown(this.entities.get(entity.id) ?? assumed(entity), entity.entityType),
        findByName: async (entityType, name) => this.shown(this.entityNamed(name, entityType), entityType),
        findOrCreate: async (entityType, name, type) => {
          const found = this.shown(this.entityNamed(name, entityType), entityType)
          if (found !== undefined) return { entity: found, isNew: false }
          const made = this.addEntity(entityType, name, type === undefined ? {} : { type })
          this.note(node, 'create entity', made.id, { entityType, name })
          return { entity: this.shownEntity(made), isNew: true }
        },
        assignToCustomer: async (entity, customerId) => {
          this.assign(entity, customerId)
          this.note(node, 'assign to customer', entity, { customer: this.nameOf(customerId) })
        },
        unassignFromCustomer: async (entity) => {
          this.assign(entity, null)
          this.note(node, 'unassign from customer', entity, {})
        },
        credentialsOf: async () => undefined,
      }),
      relations: (node) => ({
        exists: (relation) => this.relations.has(relation),
        list: (entity, direction, type) => this.relations.list(entity, direction, type),
        find: (root, { filters, ...levels }) =>
          this.relations.find(
            root,
            levels,
            filters.map(({ relationType: type, entityTypes }) => ({ type, entityTypes })),
          ),
        relatedDevices: async (root, { relationType: type, deviceTypes, ...levels }) => {
          const found = await this.relations.find(root, levels, [{ type, entityTypes: ['DEVICE'] }])
          return found.filter(({ id }) => deviceTypes.includes(this.entities.get(id)?.type ?? ''))
        },
        create: async (relation) => {
          const isNew = this.relations.add(relation)
          this.noteRelation(node, 'create relation', relation)
          return isNew
        },
        delete: async (relation) => {
          const isGone = this.relations.delete(relation)
          if (isGone) this.noteRelation(node, 'delete relation', relation)
          return isGone
        },
      }),
      alarms: (node) => ({
        find: async (id) => this.alarms.find((alarm) => alarm.id === id),
        findActive: async (originator, type) => this.activeAlarm(originator, type),
        // No message comes again.
        createOrUpdate: async (place, _visit, membersOf) => {
          const { originator } = place
          const members = await membersOf(this.activeAlarm(originator, place.type))
          if (members === undefined) return undefined
          const raised = this.raise({ ...members, originator, type: place.type })
          const { type, severity, details } = raised.alarm
          this.note(node, `alarm ${raised.result}`, originator, { type, severity, details })
          return raised
        },
        clear: async ({ originator, type }, _visit, clearingOf) => {
          const active = this.activeAlarm(originator, type)
          const clearing = active && (await clearingOf(active))
          const cleared = clearing && this.clear(originator, type, clearing.details)
          if (cleared !== undefined) this.note(node, 'alarm cleared', originator, { type, details: cleared.details })
          return cleared
        },
      }),
      calls: (node) => ({
        // Nobody is there to answer: as one that need not.
        toDevice: async ({ deviceId, method, params }) => {
          this.note(node, 'call device', entityId('DEVICE', deviceId), { method, params: jsonOf(params) })
          return {}
        },
        replyToDevice: (_service, _session, body) =>
          this.note(node, 'reply to device', undefined, { body: jsonOf(body) }),
        answer: (_service, _request, body) => this.note(node, 'answer REST call', undefined, { body: jsonOf(body) }),
      }),
      deviceState: (node) => ({
        report: async (deviceId, event, ts) => {
          this.note(node, 'device state', entityId('DEVICE', deviceId), { event, ts })
        },
      }),
      mail: (node) => ({
        send: async ({ to, subject, body }) => this.note(node, 'send mail', undefined, { to, subject, body }),
      }),
      sms: (node) => ({ send: async (number, text) => this.note(node, 'send sms', undefined, { number, text }) }),
      notifications: (node) => ({
        send: async ({ originator, templateId }) => this.note(node, 'send notification', originator, { templateId }),
        // Of no service: calls outside are answered by the case.
        slackToken: async () => 'token',
      }),
      ai: (node) => ({
        open: async (modelId) => ({
          ask: async (question) => {
            this.note(node, 'ask model', undefined, { modelId, prompt: question.user })
            return askedModel(this.outside)
          },
          close: async () => undefined,
        }),
      }),
      tables: (node) => ({
        open: async ({ name }) => ({
          write: async (rows) => {
            for (const row of rows) this.note(node, 'save to table', undefined, { table: name, row: [...row] })
            return rows.map(() => undefined)
          },
        }),
      }),
      views: () => ({ of: async () => [] }),
      outbound: (node) => outsideOf(this.outside, (kind, call) => this.note(node, `call ${kind}`, undefined, { call })),
    }
  }

  /** As cases name it: its name, or its id where it has none. */
  nameOf(id: string): string {
    return this.entities.get(id)?.name ?? id
  }

  private note(
    node: NodeIdentity,
    effect: string,
    of: EntityId | undefined,
    members: Readonly<Record<string, JsonValue>>,
  ) {
    this.effects.push({
      node: node.ruleNodeName,
      effect,
      ...(of === undefined ? {} : { of: this.nameOf(of.id) }),
      ...members,
    })
  }

  private noteRelation(node: NodeIdentity, effect: string, { from, to, type }: NodeRelation): void {
    this.note(node, effect, undefined, { from: this.nameOf(from.id), type, to: this.nameOf(to.id) })
  }

  private latest(entity: EntityId, keys: readonly string[]): readonly DataPoint[] {
    const latest = new Map<string, DataPoint>()
    for (const point of this.points.get(entity.id) ?? []) {
      if (keys.length > 0 && !keys.includes(point.key)) continue
      const before = latest.get(point.key)
      if (before === undefined || before.ts <= point.ts) latest.set(point.key, point)
    }
    return [...latest.values()]
  }

  private series(entity: EntityId, query: SeriesQuery): ReadonlyMap<string, readonly DataPoint[]> {
    const series = new Map<string, readonly DataPoint[]>()
    for (const key of query.keys) {
      const inRange = (this.points.get(entity.id) ?? [])
        .filter((point) => point.key === key && point.ts >= query.startTs && point.ts < query.endTs)
        .sort((a, b) => a.ts - b.ts)
      const answer = query.agg === 'NONE' ? inRange : aggregated(key, inRange, query)
      if (query.order === 'DESC') answer.reverse()
      if (answer.length > 0) series.set(key, query.agg === 'NONE' ? answer.slice(0, query.limit) : answer)
    }
    return series
  }

  private assign({ id }: EntityId, customerId: string | null): void {
    const entity = this.entities.get(id)
    if (entity !== undefined) entity.customerId = customerId
  }

  private shown(entity: WorldEntity | undefined, entityType: EntityType): NodeEntity | undefined {
    return entity?.id.entityType === entityType ? this.shownEntity(entity) : undefined
  }

  private shownEntity({ id, name, type, label, customerId, json }: WorldEntity): NodeEntity {
    const profileType = { DEVICE: 'DEVICE_PROFILE', ASSET: 'ASSET_PROFILE' } as const
    const hasProfile = id.entityType === 'DEVICE' || id.entityType === 'ASSET' ? profileType[id.entityType] : undefined
    return {
      ...{ id, name, type, label, customerId, createdTime: 0 },
      owner: customerId === null ? entityId('TENANT', this.parts.tenantId) : entityId('CUSTOMER', customerId),
      profile: hasProfile === undefined ? null : { id: entityId(hasProfile, id.id), name: type },
      additionalInfo: json['additionalInfo'] ?? null,
      json: { ...json, name, type, label, title: name },
    }
  }

  private activeAlarm(originator: EntityId, type: string): NodeAlarm | undefined {
    return this.alarms.findLast(
      (alarm) => alarm.originator.id === originator.id && alarm.type === type && !alarm.status.startsWith('CLEARED'),
    )
  }

  private alarmOf(draft: NodeAlarmDraft, before: NodeAlarm | undefined): NodeAlarm {
    const now = this.parts.clock.now()
    const fields = {
      id: before?.id ?? this.parts.random.uuid(),
      originator: draft.originator,
      type: draft.type,
      severity: draft.severity,
      status: before?.status ?? ('ACTIVE_UNACK' as const),
      startTs: before?.startTs ?? draft.startTs ?? now,
      endTs: draft.endTs ?? now,
      details: draft.details ?? before?.details ?? null,
    }
    return { ...fields, json: this.alarmJson(fields) }
  }

  private clear(originator: EntityId, type: string, details?: JsonValue): NodeAlarm | undefined {
    const active = this.activeAlarm(originator, type)
    if (active === undefined) return undefined
    const status = active.status === 'ACTIVE_ACK' ? ('CLEARED_ACK' as const) : ('CLEARED_UNACK' as const)
    const { json: _json, ...fields } = { ...active, status, details: details ?? active.details }
    const cleared: NodeAlarm = { ...fields, json: this.alarmJson(fields) }
    this.alarms.splice(this.alarms.indexOf(active), 1, cleared)
    return cleared
  }

  private alarmJson(alarm: Omit<NodeAlarm, 'json'>): JsonObject {
    const { id, originator, type, severity, status, startTs, endTs, details } = alarm
    return {
      id: { entityType: 'ALARM', id },
      tenantId: { entityType: 'TENANT', id: this.parts.tenantId },
      originator: { ...originator },
      originatorName: this.nameOf(originator.id),
      ...{ name: type, type, severity: severity satisfies NodeAlarmSeverity, status, startTs, endTs, details },
      acknowledged: status.endsWith('_ACK'),
      cleared: status.startsWith('CLEARED'),
    }
  }
}

/** Configurations name others by their ids, which no case can give: what the world does not have is taken to be there. */
function assumed(id: EntityId): WorldEntity {
  return { id, name: id.id, type: 'default', label: null, json: {}, customerId: null }
}
