/**
 * The same as `alarm-rules.ts` for alarm rules as a calculated field: how many messages a second does the node that calculates take, over 10,000
 * devices of a profile of which one in a hundred changes its state from one round of messages to the next? Without link: fields and
 * facts are in memory, states as in `alarm-rules.ts`; what a field sends is counted.
 *
 *   node --no-node-snapshot benchmarks/rule-chain/alarm-fields.ts [--rounds 5] [--runs 5] [--states memory|sqlite|postgres]
 */
import { parseArgs } from 'node:util'
import { configuration as configurationSchema } from '../../model/calculated-fields/configuration.ts'
import { entityId } from '../../model/entity-id.ts'
import type { JsonObject } from '../../model/json.ts'
import { Message } from '../../model/message.ts'
import { systemClock } from '../../model/system-clock.ts'
import type { BatchResult } from '../../engine/rulechain/node.ts'
import { NodeStates } from '../../engine/state/node-states.ts'
import { openField } from '../../nodes/calculated/kinds.ts'
import { CalculationTime } from '../../services/calculated-fields/runtime/bounds.ts'
import { FieldDebug } from '../../services/calculated-fields/runtime/debug.ts'
import type { ActiveField } from '../../services/calculated-fields/runtime/field-index.ts'
import { newsOf, payloadText, TRIGGER_TYPE } from '../../services/calculated-fields/runtime/payload.ts'
import { calculationNode } from '../../services/calculated-fields/runtime/program.ts'
import type { Known } from '../../services/calculated-fields/runtime/reader.ts'
import { calculatedFields } from '../../services/entities/calculated-field.ts'
import { recordWith } from '../../services/entities/rows.ts'
import { DEFAULT_LIMITS } from '../../services/entities/tenant-limits.ts'
import { writeResult } from '../lib/report.ts'
import { CHANGING, DEVICES, measureRounds, PACK } from './alarm-rounds.ts'
import { TENANT_ID } from './road.ts'
import { openStates } from './state-stores.ts'

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
const FIELD_ID = '80000000-0000-4000-8000-000000000001'

const devices = Array.from({ length: DEVICES }, (_, index) =>
  entityId('DEVICE', `50000000-0000-4000-8000-${String(index).padStart(12, '0')}`),
)
const PROFILE = entityId('DEVICE_PROFILE', '70000000-0000-4000-8000-000000000001')

function rule(operation: string): JsonObject {
  const predicate = { type: 'NUMERIC', operation, value: { staticValue: LIMIT } }
  const filters = [{ argument: 't', valueType: 'NUMERIC', predicates: [predicate] }]
  return { condition: { type: 'SIMPLE', expression: { type: 'SIMPLE', filters } } }
}

const configuration = configurationSchema.parse({
  type: 'ALARM',
  arguments: { t: { refEntityKey: { key: 'temperature', type: 'TS_LATEST' } } },
  createRules: { CRITICAL: rule('GREATER') },
  clearRule: rule('LESS_OR_EQUAL'),
})
const noTool = (): never => {
  throw new Error('a rule without scripts asks for none')
}
const field = openField(configuration, { compile: noTool, compileWithArguments: noTool, limit: () => 0 })
const record = recordWith(
  calculatedFields,
  { id: FIELD_ID, createdTime: 1, version: 1, tenantId: TENANT_ID },
  { name: 'Hot', type: 'ALARM' },
)
const active: ActiveField = { record, owner: PROFILE, configuration, field, failure: undefined }

/** What the reader finds where all is at hand; a device that begins has no value and no alarm. */
const facts = { tenantId: TENANT_ID, customerId: null, owner: entityId('TENANT', TENANT_ID), profile: PROFILE }
const known: Known = {
  ...{ facts: { ...facts, ruleChainId: null, queueName: null }, fields: [active], limits: DEFAULT_LIMITS },
  ...{ payload: undefined, loaded: new Map(), targets: new Map(), factsOf: new Map(), forwards: [] },
}
const beginning: Known = { ...known, loaded: new Map([[FIELD_ID, { args: { t: {} }, alarm: null }]]) }

let sequence = 0
let told = 0
const kept = await openStates(values.states)
const states = new NodeStates({
  store: kept.store,
  clock: systemClock,
  serviceId: 'benchmark',
  // Each pack has ended before the next one comes.
  log: {
    ...{ streamOf: () => 0, settledBelow: () => sequence - PACK },
    publish: (_message, receipt) => {
      told++
      receipt.stored()
    },
  },
  report: (_level, text) => {
    throw new Error(text)
  },
})
await states.taken(0)
const counts = { calculated: 0, failed: 0, results: 0, forwarded: 0 }
const identity = { tenantId: TENANT_ID, ruleChainId: TENANT_ID, ruleChainName: 'fields', ruleNodeId: TENANT_ID }
const node = states.of({ ...identity, ruleNodeName: 'fields' }).keyed(
  calculationNode({
    ...{ tenantId: TENANT_ID, now: () => systemClock.now(), counts, time: new CalculationTime(systemClock) },
    reader: {
      read: (_tenantId, _entity, payload, state) => ({ ...(state === undefined ? beginning : known), payload }),
    },
    debug: new FieldDebug({ add: () => undefined }, systemClock),
  }),
)

function messageOf(device: (typeof devices)[number], temperature: number): Message {
  const at = ++sequence
  const ts = 1_700_000_000_000 + at
  const points = [
    { key: 'temperature', type: 'DOUBLE', value: temperature, ts },
    { key: 'pressure', type: 'LONG', value: 1013, ts },
  ] as const
  const message = new Message({
    ...{ id: `40000000-0000-4000-8000-${String(at).padStart(12, '0')}`, ts, type: TRIGGER_TYPE, tenantId: TENANT_ID },
    ...{ originator: device, metadata: {} },
    data: payloadText(newsOf({ kind: 'series', points }, ts, 'POST_TELEMETRY_REQUEST')),
  })
  message.sequence = at
  return message
}

async function run(messages: readonly Message[]): Promise<void> {
  let open = messages.length
  const result: BatchResult = {
    visit: (index) => {
      const { id, originator, sequence: at } = messages[index] ?? noTool()
      return { id, originatorId: originator.id, sequence: at }
    },
    emit: () => void open--,
    fail: (_index, error) => {
      throw error
    },
  }
  await node.handleBatch?.(messages, result)
  if (open !== 0) throw new Error(`void: ${open} messages have no outcome`)
}

const { rounds: sent, messages } = await measureRounds({ rounds, runs }, (start, isHot) =>
  run(
    devices
      .slice(start, start + PACK)
      .map((device, place) => messageOf(device, isHot(start + place) ? LIMIT + 5.5 : 20.5)),
  ),
)
// Half of those that change begin, half end. A run in which a rule missed one is void.
const expected = sent * CHANGING - CHANGING / 2
if (counts.failed > 0 || counts.results !== expected || told !== expected)
  throw new Error(`void: ${counts.failed} failed, ${counts.results} results, ${told} told, ${expected} expected`)
await states.close()
await kept.close()
writeResult(
  values.states === 'memory' ? 'alarm-fields' : `alarm-fields-${values.states}`,
  `node --no-node-snapshot benchmarks/rule-chain/alarm-fields.ts --rounds ${rounds} --runs ${runs} --states ${values.states}`,
  {
    states: values.states,
    devices: DEVICES,
    changesOfStateARound: CHANGING,
    messages,
  },
)
