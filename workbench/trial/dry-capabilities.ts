/**
 * What nodes get in a dry run: they read what is really there, and what they would change is noted and not done. What a run "changed" it
 * reads itself, so that an alarm that it raised is there for its next message. Memory grows with the messages of the run, which are bounded.
 */
import { createHash } from 'node:crypto'
import type { CapabilitySources, CompleteSources, NodeIdentity } from '../../engine/rulechain/capabilities.ts'
import type { NodeAlarm, NodeAlarmDraft, NodeAlarms } from '../../engine/rulechain/capabilities/alarms.ts'
import type { NodeAttributes } from '../../engine/rulechain/capabilities/attributes.ts'
import type { NodeEntities, NodeEntity } from '../../engine/rulechain/capabilities/entities.ts'
import type { NodeHistory } from '../../engine/rulechain/capabilities/history.ts'
import type { NodeRelation, NodeRelations } from '../../engine/rulechain/capabilities/relations.ts'
import { whenThere } from '../../engine/rulechain/capabilities/soon.ts'
import type { NodeTelemetry } from '../../engine/rulechain/capabilities/telemetry.ts'
import type { Clock } from '../../model/clock.ts'
import { entityId, type EntityId } from '../../model/entity-id.ts'
import type { JsonObject } from '../../model/json.ts'
import type { Attribute, DataPoint } from '../../model/value.ts'
import { askedModel, outsideOf } from '../outside.ts'
import { jsonOf, valuesOf } from '../shown-values.ts'

export interface DryParts {
  readonly tenantId: string
  readonly real: CompleteSources
  readonly clock: Clock
  /** Told of each thing that a node would have done. */
  readonly note: (node: NodeIdentity, effect: string, members: JsonObject) => void
}

/** Undefined stands for one that the run deleted. */
type Held<Value> = Map<string, Value | undefined>

export class DryCapabilities {
  private readonly parts: DryParts
  private readonly attributes = new Map<string, Held<Attribute>>()
  private readonly latest = new Map<string, Held<DataPoint>>()
  /** The last of an originator and type, active or cleared. */
  private readonly alarms = new Map<string, NodeAlarm>()
  private readonly relations = new Map<string, { readonly relation: NodeRelation; readonly isThere: boolean }>()
  private readonly entities = new Map<string, NodeEntity>()

  constructor(parts: DryParts) {
    this.parts = parts
  }

  sources(): CapabilitySources {
    const { real, note } = this.parts
    return {
      // As it is stored: what the run "saved" counts in no aggregation.
      aggregation: real.aggregation,
      scripts: real.scripts,
      queues: real.queues,
      routes: real.routes,
      views: real.views,
      alarms: (node) => this.alarmsOf(node, real.alarms(node)),
      attributes: (node) => this.attributesOf(node, real.attributes(node)),
      telemetry: (node) => this.telemetryOf(node),
      history: (node) => this.historyOf(real.history(node)),
      entities: (node) => this.entitiesOf(node, real.entities(node)),
      relations: (node) => this.relationsOf(node, real.relations(node)),
      calls: (node) => ({
        // As one that the device took and need not answer.
        toDevice: async ({ deviceId, method, params }) => {
          note(node, 'call device', { of: { ...entityId('DEVICE', deviceId) }, method, params: jsonOf(params) })
          return {}
        },
        replyToDevice: (_service, _session, body) => note(node, 'reply to device', { body: jsonOf(body) }),
        answer: (_service, _request, body) => note(node, 'answer REST call', { body: jsonOf(body) }),
      }),
      deviceState: (node) => ({
        report: async (deviceId, event, ts) =>
          note(node, 'device state', { of: { ...entityId('DEVICE', deviceId) }, event, ts }),
      }),
      mail: (node) => ({
        send: async ({ to, subject, body }) => note(node, 'send mail', { to, subject, body }),
      }),
      sms: (node) => ({ send: async (number, text) => note(node, 'send sms', { number, text }) }),
      notifications: (node) => ({
        send: async ({ originator, templateId }) =>
          note(node, 'send notification', { of: { ...originator }, templateId }),
        slackToken: async () => 'token',
      }),
      ai: (node) => ({
        open: async (modelId) => ({
          ask: async (question) => {
            note(node, 'ask model', { modelId, prompt: question.user })
            return askedModel({})
          },
          close: async () => undefined,
        }),
      }),
      tables: (node) => ({
        open: async ({ name }) => ({
          write: async (rows) => {
            for (const row of rows) note(node, 'save to table', { table: name, row: [...row] })
            return rows.map(() => undefined)
          },
        }),
      }),
      outbound: (node) => outsideOf({}, (kind, call) => note(node, `call ${kind}`, { call })),
    }
  }

  private attributesOf(node: NodeIdentity, real: NodeAttributes): NodeAttributes {
    const { clock, note } = this.parts
    return {
      save: async ({ entity, scope, entries, store }) => {
        const held = this.heldOf(this.attributes, `${entity.id} ${scope}`)
        const lastUpdateTs = clock.now()
        if (store) for (const entry of entries) held.set(entry.key, { ...entry, lastUpdateTs })
        note(node, 'save attributes', { of: { ...entity }, scope, values: valuesOf(entries) })
      },
      find: (entity, scope, keys) =>
        whenThere(real.find(entity, scope, keys), (found) =>
          overlaid(found, this.attributes.get(`${entity.id} ${scope}`), keys),
        ),
      delete: async ({ entity, scope, keys }) => {
        const held = this.heldOf(this.attributes, `${entity.id} ${scope}`)
        for (const key of keys) held.set(key, undefined)
        note(node, 'delete attributes', { of: { ...entity }, scope, keys: [...keys] })
      },
    }
  }

  private telemetryOf(node: NodeIdentity): NodeTelemetry {
    return {
      save: ({ entity, points, latest, place = 0 }, done) => {
        const held = this.heldOf(this.latest, entity.id)
        for (const point of latest ? points : []) {
          const before = held.get(point.key)
          if (before === undefined || before.ts <= point.ts) held.set(point.key, point)
        }
        this.parts.note(node, 'save telemetry', {
          ...{ of: { ...entity }, ts: points[0]?.ts ?? 0, values: valuesOf(points) },
        })
        done(undefined, place)
      },
    }
  }

  private historyOf(real: NodeHistory): NodeHistory {
    return {
      latest: async (entity, keys) => {
        const newest = new Map((await real.latest(entity, keys)).map((point) => [point.key, point]))
        for (const [key, point] of this.latest.get(entity.id) ?? []) {
          const isWanted = keys.length === 0 || keys.includes(key)
          if (point !== undefined && isWanted && (newest.get(key)?.ts ?? 0) <= point.ts) newest.set(key, point)
        }
        return [...newest.values()]
      },
      // As it is stored: what the run "saved" is in its latest values alone.
      series: (entity, query) => real.series(entity, query),
    }
  }

  private alarmsOf(node: NodeIdentity, real: NodeAlarms): NodeAlarms {
    const findActive = async (originator: EntityId, type: string): Promise<NodeAlarm | undefined> => {
      const own = this.alarms.get(alarmKey(originator, type))
      if (own === undefined) return real.findActive(originator, type)
      return own.status.startsWith('CLEARED') ? undefined : own
    }
    return {
      find: async (id) => [...this.alarms.values()].find((alarm) => alarm.id === id) ?? real.find(id),
      findActive,
      // No message comes again.
      createOrUpdate: async ({ originator, type: alarmType }, _visit, membersOf) => {
        const before = await findActive(originator, alarmType)
        const members = await membersOf(before)
        if (members === undefined) return undefined
        const draft: NodeAlarmDraft = { ...members, originator, type: alarmType }
        const alarm = this.raised(draft, before)
        this.alarms.set(alarmKey(draft.originator, draft.type), alarm)
        const isSame = before?.severity === alarm.severity
        const result = before === undefined ? 'created' : isSame ? 'updated' : 'severity updated'
        const { type, severity, details } = alarm
        this.parts.note(node, `alarm ${result}`, { of: { ...draft.originator }, type, severity, details })
        return { alarm, result, previousSeverity: before?.severity ?? null }
      },
      clear: async ({ originator, type }, _visit, clearingOf) => {
        const before = await findActive(originator, type)
        const clearing = before && (await clearingOf(before))
        if (before === undefined || clearing === undefined) return undefined
        const { details } = clearing
        const status = before.status === 'ACTIVE_ACK' ? ('CLEARED_ACK' as const) : ('CLEARED_UNACK' as const)
        const cleared = this.alarmOf({ ...before, status, details: details ?? before.details }, before.json)
        this.alarms.set(alarmKey(originator, type), cleared)
        this.parts.note(node, 'alarm cleared', { of: { ...originator }, type, details: cleared.details })
        return cleared
      },
    }
  }

  private raised(draft: NodeAlarmDraft, before: NodeAlarm | undefined): NodeAlarm {
    const now = this.parts.clock.now()
    const { originator, type, severity } = draft
    return this.alarmOf(
      {
        ...{ id: before?.id ?? idOf('alarm', alarmKey(originator, type), String(now)), originator, type, severity },
        ...{ status: before?.status ?? 'ACTIVE_UNACK', startTs: before?.startTs ?? draft.startTs ?? now },
        ...{ endTs: draft.endTs ?? now, details: draft.details ?? before?.details ?? null },
      },
      before?.json ?? {},
    )
  }

  private alarmOf(alarm: Omit<NodeAlarm, 'json'>, json: JsonObject): NodeAlarm {
    const { id, originator, type, severity, status, startTs, endTs, details } = alarm
    return {
      ...{ id, originator, type, severity, status, startTs, endTs, details },
      json: {
        ...json,
        id: { entityType: 'ALARM', id },
        tenantId: { entityType: 'TENANT', id: this.parts.tenantId },
        originator: { ...originator },
        ...{ name: type, type, severity, status, startTs, endTs, details },
        acknowledged: status.endsWith('_ACK'),
        cleared: status.startsWith('CLEARED'),
      },
    }
  }

  private entitiesOf(node: NodeIdentity, real: NodeEntities): NodeEntities {
    const { note } = this.parts
    const findByName: NodeEntities['findByName'] = async (entityType, name) =>
      this.entities.get(`${entityType} ${name}`) ?? real.findByName(entityType, name)
    return {
      find: (entity) => [...this.entities.values()].find(({ id }) => id.id === entity.id) ?? real.find(entity),
      findByName,
      findOrCreate: async (entityType, name, type) => {
        const found = await findByName(entityType, name)
        if (found !== undefined) return { entity: found, isNew: false }
        const entity = this.entityOf(entityId(entityType, idOf(entityType, name)), name, type ?? 'default')
        this.entities.set(`${entityType} ${name}`, entity)
        note(node, 'create entity', { entityType, name })
        return { entity, isNew: true }
      },
      assignToCustomer: async (entity, customerId) =>
        note(node, 'assign to customer', { of: { ...entity }, customer: customerId }),
      unassignFromCustomer: async (entity) => note(node, 'unassign from customer', { of: { ...entity } }),
      credentialsOf: (deviceId) => real.credentialsOf(deviceId),
    }
  }

  private entityOf(id: EntityId, name: string, type: string): NodeEntity {
    return {
      ...{ id, name, type, label: null, customerId: null, createdTime: this.parts.clock.now(), profile: null },
      owner: entityId('TENANT', this.parts.tenantId),
      additionalInfo: null,
      json: { name, type, title: name },
    }
  }

  private relationsOf(node: NodeIdentity, real: NodeRelations): NodeRelations {
    const change = async (relation: NodeRelation, isThere: boolean): Promise<boolean> => {
      const key = relationKey(relation)
      const before = this.relations.get(key)?.isThere ?? (await real.exists(relation))
      this.relations.set(key, { relation, isThere })
      if (before === isThere) return false
      const { from, to, type } = relation
      this.parts.note(node, isThere ? 'create relation' : 'delete relation', { from: { ...from }, type, to: { ...to } })
      return true
    }
    return {
      exists: (relation) => this.relations.get(relationKey(relation))?.isThere ?? real.exists(relation),
      list: (entity, direction, type) =>
        whenThere(real.list(entity, direction, type), (found) => {
          const kept = found.filter((relation) => this.relations.get(relationKey(relation))?.isThere !== false)
          const known = new Set(found.map(relationKey))
          const made = [...this.relations.values()].filter(
            ({ relation, isThere }) =>
              isThere &&
              !known.has(relationKey(relation)) &&
              (direction === 'FROM' ? relation.from : relation.to).id === entity.id &&
              (type === undefined || relation.type === type),
          )
          return [...kept, ...made.map(({ relation }) => relation)]
        }),
      // Over several levels as they are stored.
      find: (root, query) => real.find(root, query),
      relatedDevices: (root, query) => real.relatedDevices(root, query),
      create: (relation) => change(relation, true),
      delete: (relation) => change(relation, false),
    }
  }

  private heldOf<Value>(all: Map<string, Held<Value>>, key: string): Held<Value> {
    const found = all.get(key)
    if (found !== undefined) return found
    const held: Held<Value> = new Map()
    all.set(key, held)
    return held
  }
}

function overlaid(
  found: readonly Attribute[],
  own: Held<Attribute> | undefined,
  keys: readonly string[],
): readonly Attribute[] {
  if (own === undefined) return found
  const seen = new Map<string, Attribute | undefined>(found.map((attribute) => [attribute.key, attribute]))
  for (const [key, attribute] of own) if (keys.length === 0 || keys.includes(key)) seen.set(key, attribute)
  return [...seen.values()].filter((attribute) => attribute !== undefined)
}

function alarmKey(originator: EntityId, type: string): string {
  return `${originator.id} ${type}`
}

function relationKey({ from, to, type }: NodeRelation): string {
  return `${from.entityType} ${from.id} ${to.entityType} ${to.id} ${type}`
}

/** The same for both versions, so that what they make is no difference by itself. */
function idOf(...parts: readonly string[]): string {
  const hex = createHash('sha256').update(parts.join('\n')).digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}
