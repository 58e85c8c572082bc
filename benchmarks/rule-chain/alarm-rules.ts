/**
 * How many messages a second do the alarm rules of a device profile take, over 10,000 devices of which one in a hundred changes its state from
 * one round of messages to the next? Without link: alarms and entities are in memory; states too, or in a store
 * of either shape, each pack's committed and synced before the next pack begins.
 *
 *   node --no-node-snapshot benchmarks/rule-chain/alarm-rules.ts [--rounds 5] [--runs 5] [--states memory|sqlite|postgres]
 */
import { parseArgs } from 'node:util'
import { entityId, type EntityId } from '../../model/entity-id.ts'
import { entriesOf } from '../../model/entry-json.ts'
import type { JsonObject } from '../../model/json.ts'
import { Message } from '../../model/message.ts'
import { systemClock, systemRandom } from '../../model/system-clock.ts'
import { NodeStates } from '../../engine/state/node-states.ts'
import type { CapabilitySources } from '../../engine/rulechain/capabilities.ts'
import type { NodeAlarm } from '../../engine/rulechain/capabilities/alarms.ts'
import type { NodeEntity } from '../../engine/rulechain/capabilities/entities.ts'
import { deviceProfile } from '../../nodes/profile/device-profile.ts'
import { writeResult } from '../lib/report.ts'
import { CHANGING, DEVICES, measureRounds, PACK } from './alarm-rounds.ts'
import { BenchmarkWork, graphOf, openChain, TENANT_ID } from './road.ts'
import { openScriptHost } from './script-hosts.ts'
import { openStates } from './state-stores.ts'
import { knowing } from './steps.ts'

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    runs: { type: 'string', default: '5' },
    states: { type: 'string', default: 'memory' },
  },
})
const rounds = Number(values.rounds)
const runs = Number(values.runs)
const LIMIT = 80

const devices = Array.from({ length: DEVICES }, (_, index) =>
  entityId('DEVICE', `50000000-0000-4000-8000-${String(index).padStart(12, '0')}`),
)
const PROFILE = entityId('DEVICE_PROFILE', '70000000-0000-4000-8000-000000000001')

function rule(operation: string): JsonObject {
  const value = { defaultValue: LIMIT, userValue: null, dynamicValue: null }
  const condition = {
    key: { type: 'TIME_SERIES', key: 'temperature' },
    valueType: 'NUMERIC',
    predicate: { type: 'NUMERIC', operation, value },
  }
  return {
    condition: { condition: [condition], spec: { type: 'SIMPLE' } },
    schedule: null,
    alarmDetails: null,
    dashboardId: null,
  }
}

const HOT: JsonObject = {
  ...{ id: 'hot', alarmType: 'Hot', createRules: { CRITICAL: rule('GREATER') }, clearRule: rule('LESS_OR_EQUAL') },
}

function entityOf(id: EntityId, name: string, json: JsonObject): NodeEntity {
  return {
    ...{ id, createdTime: 0, name, type: 'pumps', label: null, customerId: null, owner: entityId('TENANT', TENANT_ID) },
    ...{ profile: id.entityType === 'DEVICE' ? { id: PROFILE, name: 'pumps' } : null, additionalInfo: null, json },
  }
}

const entities = new Map(devices.map((id) => [id.id, entityOf(id, 'pump', { name: 'pump' })]))
entities.set(PROFILE.id, entityOf(PROFILE, 'pumps', { name: 'pumps', profileData: { alarms: [HOT] } }))
const alarms = new Map<string, NodeAlarm>()
const told = { raised: 0, cleared: 0 }

function alarmOf(originator: EntityId): NodeAlarm {
  const id = `60000000-0000-4000-8000-${originator.id.slice(-12)}`
  const common = {
    id,
    originator,
    type: 'Hot',
    severity: 'CRITICAL',
    status: 'ACTIVE_UNACK',
    startTs: 0,
    endTs: 0,
  } as const
  return { ...common, details: null, json: { type: 'Hot', severity: 'CRITICAL' } }
}

let sequence = 0
const kept = await openStates(values.states)
const states = new NodeStates({
  store: kept.store,
  clock: systemClock,
  serviceId: 'benchmark',
  // Each pack has ended before the next one comes.
  log: { streamOf: () => 0, settledBelow: () => sequence - PACK, publish: (_message, receipt) => receipt.stored() },
  report: (_level, text) => {
    throw new Error(text)
  },
})
await states.taken(0)

const capabilities: CapabilitySources = {
  ...knowing,
  state: (node) => states.of(node),
  entities: (node) => ({
    ...(knowing.entities?.(node) ?? failing()),
    find: ({ id }) => entities.get(id),
  }),
  history: () => ({ latest: async () => [], series: async () => new Map() }),
  attributes: () => ({ save: async () => undefined, find: () => [], delete: async () => undefined }),
  alarms: () => ({
    find: async () => undefined,
    findActive: async (originator) => alarms.get(originator.id),
    createOrUpdate: async ({ originator }) => {
      const alarm = alarmOf(originator)
      const result = alarms.has(originator.id) ? 'updated' : 'created'
      if (result === 'created') told.raised++
      alarms.set(originator.id, alarm)
      return { alarm, result, previousSeverity: null }
    },
    clear: async ({ originator }) => {
      const alarm = alarms.get(originator.id)
      if (alarms.delete(originator.id)) told.cleared++
      return alarm
    },
  }),
}

function failing(): never {
  throw new Error('no entities')
}

const host = openScriptHost('TBEL', systemClock, systemRandom, 1)
const { type, name, configurationVersion, defaultConfiguration } = deviceProfile
const { chain, graph } = graphOf(
  'alarms',
  [{ type, name, configurationVersion, configuration: defaultConfiguration }],
  [],
)
const road = await openChain(chain, graph, host.scripts, { capabilities })

function messageOf(device: EntityId, temperature: number): Message {
  const json = { temperature, pressure: 1013 }
  const at = ++sequence
  const id = `40000000-0000-4000-8000-${String(at).padStart(12, '0')}`
  const ts = 1_700_000_000_000 + at
  const fields = { id, ts, type: 'POST_TELEMETRY_REQUEST', tenantId: TENANT_ID, originator: device }
  const entries = entriesOf(json, { castStrings: true, nulls: 'skip' })
  const message = new Message({ ...fields, metadata: {}, data: JSON.stringify(json) }, { json, entries })
  message.sequence = at
  return message
}

const { rounds: sent, messages } = await measureRounds(
  { rounds, runs },
  (start, isHot) =>
    new Promise<void>((resolve, reject) => {
      const state = {
        ...{ open: PACK, failed: 0 },
        done: () => (state.failed > 0 ? reject(new Error(`void: ${state.failed} messages failed`)) : resolve()),
      }
      const pack = devices.slice(start, start + PACK)
      road.engine.process(
        pack.map(
          (device, place) => new BenchmarkWork(messageOf(device, isHot(start + place) ? LIMIT + 5.5 : 20.5), state),
        ),
      )
    }),
)
// Half of those that change begin, half end. A run in which a rule missed one is void.
const expected = (sent * CHANGING) / 2
if (told.raised !== expected || told.cleared !== expected - CHANGING / 2)
  throw new Error(`void: ${told.raised} raised, ${told.cleared} cleared, ${expected} expected`)
await road.close()
await states.close()
await kept.close()
await host.close()
writeResult(
  values.states === 'memory' ? 'alarm-rules' : `alarm-rules-${values.states}`,
  `node --no-node-snapshot benchmarks/rule-chain/alarm-rules.ts --rounds ${rounds} --runs ${runs} --states ${values.states}`,
  {
    states: values.states,
    devices: DEVICES,
    changesOfStateARound: CHANGING,
    messages,
  },
)
