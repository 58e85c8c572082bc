/**
 * What a node remembers of devices without storing it: the latest values that their rules look at, and which alarms are active. Read from the
 * platform when a device is first heard of; kept up with its messages.
 */
import { ZodError } from 'zod'
import type { NodeAlarmSeverity } from '../../engine/rulechain/capabilities/alarms.ts'
import type { NodeEntity } from '../../engine/rulechain/capabilities/entities.ts'
import { whenThere, type Soon } from '../../engine/rulechain/capabilities/soon.ts'
import type { NodeContext } from '../../engine/rulechain/node.ts'
import { entityId, type EntityId } from '../../model/entity-id.ts'
import { isJsonObject } from '../../model/json.ts'
import { lruMap } from '../../model/lru-map.ts'
import { ATTRIBUTE_SCOPES, type AttributeScope, type TypedValue } from '../../model/value.ts'
import { NodeErrors } from '../errors.ts'
import { nameOf, rulesOf, type ProfileRules } from './alarm-rule.ts'
import type { RuleKey, RuleValues } from './rule-values.ts'

export type ProfileNodeContext = NodeContext<'alarms' | 'attributes' | 'entities' | 'history' | 'state'>

/** One that is forgotten is read again. */
const MAX_DEVICES = 50_000
/** The scope that counts most comes last. */
const SCOPES: readonly AttributeScope[] = ATTRIBUTE_SCOPES.toSorted((one) => (one === 'SERVER_SCOPE' ? 1 : -1))
const NO_RULES: ProfileRules = rulesOf([])

export interface ActiveAlarm {
  readonly severity: NodeAlarmSeverity
  /** Undefined until it is written. */
  readonly id: string | undefined
}

export class DeviceMemory implements RuleValues {
  device: NodeEntity
  rules: ProfileRules
  /** Of the partition here, in which it was read. */
  readonly stay: number | undefined
  /** By the id of the rules' alarm; absent: not known. */
  readonly active = new Map<string, ActiveAlarm | undefined>()
  /** By `nameOf`; undefined: the device has none. */
  readonly values = new Map<string, TypedValue | undefined>()
  customer: ReadonlyMap<string, TypedValue> = new Map()
  tenant: ReadonlyMap<string, TypedValue> = new Map()
  /** The time of the last values, Unix ms. */
  ts = 0
  /** Of the last message. */
  metadata: Readonly<Record<string, string>> = {}
  queueName: string | undefined

  constructor(device: NodeEntity, rules: ProfileRules, stay: number | undefined) {
    this.device = device
    this.rules = rules
    this.stay = stay
  }

  own(key: RuleKey): TypedValue | undefined {
    return key.type === 'ENTITY_FIELD' ? fieldOf(this.device, key.key) : this.values.get(nameOf(key))
  }

  ofCustomer(attribute: string): TypedValue | undefined {
    return this.customer.get(attribute)
  }

  ofTenant(attribute: string): TypedValue | undefined {
    return this.tenant.get(attribute)
  }
}

export class DeviceMemories {
  private readonly context: ProfileNodeContext
  private readonly held = lruMap<DeviceMemory>(MAX_DEVICES)
  private readonly loading = new Map<string, Promise<DeviceMemory>>()
  private readonly compiled = new WeakMap<NodeEntity, ProfileRules>()

  constructor(context: ProfileNodeContext) {
    this.context = context
  }

  /** As it was last; undefined where it must be read. */
  peek(deviceId: string): DeviceMemory | undefined {
    const memory = this.held.get(deviceId)
    // While the device's partition was elsewhere, another process heard its messages.
    return memory !== undefined && memory.stay === this.stayOf(deviceId) ? memory : undefined
  }

  /** Up to date; undefined where there is no such device, or its profile has no rules. Throws `ALARM_RULES` where they can not be read. */
  of(id: EntityId): Soon<DeviceMemory | undefined> {
    const { entities } = this.context.services
    return whenThere(entities.find(id), (device) => {
      if (device?.profile === null || device?.profile === undefined) return undefined
      return whenThere(entities.find(device.profile.id), (profile) => {
        const rules = profile === undefined ? NO_RULES : this.rulesOf(profile)
        if (rules.alarms.length === 0) return undefined
        return whenThere(this.known(device, rules), (memory) => this.surrounded(memory))
      })
    })
  }

  /** Something failed: how its alarms stand is not known any more, and a message that comes again counts again. */
  doubt(deviceId: string): void {
    const memory = this.peek(deviceId)
    if (memory === undefined) return
    memory.active.clear()
    memory.ts = 0
  }

  private stayOf(deviceId: string): number | undefined {
    return this.context.services.state.stayOf(deviceId)
  }

  private rulesOf(profile: NodeEntity): ProfileRules {
    const known = this.compiled.get(profile)
    if (known !== undefined) return known
    const data = profile.json['profileData']
    try {
      const rules = rulesOf(isJsonObject(data) ? (data['alarms'] ?? null) : null)
      this.compiled.set(profile, rules)
      return rules
    } catch (error) {
      if (!(error instanceof ZodError)) throw error
      const [issue] = error.issues
      const member = issue?.path.join('.') ?? ''
      throw NodeErrors.ALARM_RULES({ profile: profile.name, member, reason: issue?.message }, error)
    }
  }

  private known(device: NodeEntity, rules: ProfileRules): Soon<DeviceMemory> {
    const { id } = device.id
    const loading = this.loading.get(id)
    // Somebody asked with rules that may be older.
    if (loading !== undefined) return loading.then(() => this.known(device, rules))
    const memory = this.peek(id) ?? new DeviceMemory(device, rules, this.stayOf(id))
    memory.device = device
    memory.rules = rules
    if (isComplete(memory)) return memory
    const read = this.read(memory).finally(() => this.loading.delete(id))
    this.loading.set(id, read)
    return read
  }

  /** What the rules need and is not known yet. */
  private async read(memory: DeviceMemory): Promise<DeviceMemory> {
    const { alarms, attributes, history } = this.context.services
    const { device, rules, values, active } = memory
    const series = rules.series.filter((key) => !values.has(nameOf({ type: 'TIME_SERIES', key })))
    const names = rules.attributes.filter((key) => !values.has(nameOf({ type: 'ATTRIBUTE', key })))
    const unknown = rules.alarms.filter(({ id }) => !active.has(id))
    const [latest, byScope, found] = await Promise.all([
      series.length === 0 ? [] : history.latest(device.id, series),
      names.length === 0 ? [] : Promise.all(SCOPES.map(async (scope) => attributes.find(device.id, scope, names))),
      Promise.all(unknown.map(async ({ id, type }) => ({ id, alarm: await alarms.findActive(device.id, type) }))),
    ])
    for (const key of series) values.set(nameOf({ type: 'TIME_SERIES', key }), undefined)
    for (const key of names) values.set(nameOf({ type: 'ATTRIBUTE', key }), undefined)
    for (const point of latest) values.set(nameOf({ type: 'TIME_SERIES', key: point.key }), point)
    for (const attribute of byScope.flat()) values.set(nameOf({ type: 'ATTRIBUTE', key: attribute.key }), attribute)
    for (const { id, alarm } of found) active.set(id, alarm && { severity: alarm.severity, id: alarm.id })
    this.held.set(device.id.id, memory)
    return memory
  }

  private surrounded(memory: DeviceMemory): Soon<DeviceMemory> {
    const { ofCustomer, ofTenant } = memory.rules
    if (ofCustomer.length === 0 && ofTenant.length === 0) return memory
    const { customerId } = memory.device
    const customer = customerId === null ? undefined : entityId('CUSTOMER', customerId)
    return whenThere(this.attributesOf(customer, ofCustomer), (ofItsCustomer) =>
      whenThere(this.attributesOf(entityId('TENANT', this.context.tenantId), ofTenant), (ofItsTenant) => {
        memory.customer = ofItsCustomer
        memory.tenant = ofItsTenant
        return memory
      }),
    )
  }

  private attributesOf(entity: EntityId | undefined, keys: readonly string[]): Soon<ReadonlyMap<string, TypedValue>> {
    if (entity === undefined || keys.length === 0) return new Map()
    const found = this.context.services.attributes.find(entity, 'SERVER_SCOPE', keys)
    return whenThere(found, (attributes) => new Map(attributes.map((attribute) => [attribute.key, attribute])))
  }
}

function isComplete({ rules, values, active }: DeviceMemory): boolean {
  return (
    rules.alarms.every(({ id }) => active.has(id)) &&
    rules.series.every((key) => values.has(nameOf({ type: 'TIME_SERIES', key }))) &&
    rules.attributes.every((key) => values.has(nameOf({ type: 'ATTRIBUTE', key })))
  )
}

function fieldOf({ name, type, label, createdTime }: NodeEntity, key: string): TypedValue | undefined {
  switch (key) {
    case 'name':
      return { type: 'STRING', value: name }
    case 'type':
      return type === null ? undefined : { type: 'STRING', value: type }
    case 'label':
      return label === null ? undefined : { type: 'STRING', value: label }
    case 'createdTime':
      return { type: 'LONG', value: createdTime }
    default:
      return undefined
  }
}
