/**
 * What the tests of rule nodes' memories share: a chain in which every node with a state takes part, devices that send numbered values in order, and
 * what must have come of them, however often the process that remembers was killed. Times are the devices' own, so that nothing depends on how long
 * a start takes.
 */
import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import type { RestClient } from '../support/clients.ts'
import { figure } from '../support/figure.ts'
import type { RunningMillrace } from '../support/start-millrace.ts'
import { drained } from './fault-run.ts'

const PREFIX = 'org.thingsboard.rule.engine.'
const STEP_MS = 1000
/** Ahead of the clock: timers of alarm rules, which go by it, never decide in the place of an event. */
const AHEAD_MS = 2 * 3_600_000
const DAY_MS = 86_400_000
const WINDOW_MS = 10_000
const POLL_MS = 250

export interface SendingDevice {
  readonly token: string
  readonly id: string
  /** Unix ms of value 0. */
  readonly base: number
  /** Values 1 to here are in, each once. */
  accepted: number
  /** The connection died under it: only the server knows. */
  unknown: number | undefined
  /** Calculated fields take part. */
  hasFields: boolean
}

/** Makes the chain the root, and the devices with alarm rules in their profile. */
export async function makeStatefulWorld(rest: RestClient, count: number): Promise<SendingDevice[]> {
  await makeRootChain(rest)
  const profile = await rest.expect<{ id: unknown }>('POST', '/api/deviceProfile', {
    ...{ name: 'remembered', type: 'DEFAULT', transportType: 'DEFAULT' },
    profileData: {
      configuration: { type: 'DEFAULT' },
      transportConfiguration: { type: 'DEFAULT' },
      alarms: [
        alarmRule('Lasting', 'hot', { type: 'DURATION', unit: 'MILLISECONDS', predicate: { defaultValue: 4500 } }),
        alarmRule('Repeated', 'spike', { type: 'REPEATING', predicate: { defaultValue: 3 } }),
      ],
    },
  })
  const base = Math.floor(Date.now() / WINDOW_MS) * WINDOW_MS + AHEAD_MS
  return Promise.all(
    Array.from({ length: count }, async (_, index): Promise<SendingDevice> => {
      const token = `REMEMBERED_${index}`
      const device = { name: `remembered ${index}`, deviceProfileId: profile.id }
      const { id } = await rest.expect<{ id: { id: string } }>('POST', `/api/device?accessToken=${token}`, device)
      return { token, id: id.id, base, accepted: 0, unknown: undefined, hasFields: false }
    }),
  )
}

/** Whether each rule's condition is true for a value. */
const IS_TRUE = { Lasting: (n: number) => n % 12 < 8, Repeated: (n: number) => n % 5 !== 4 } as const
/** The event of a run of true ones, from 1, that raises the alarm: 5000 ms are more than 4500, and the third is the third. */
const RAISES_AT = { Lasting: 6, Repeated: 3 } as const
const ALARMS = ['Lasting', 'Repeated'] as const

function valuesOf(n: number) {
  // The sum of all numbers to n: each delta is its own number.
  return { n, v: (n * (n + 1)) / 2, hot: IS_TRUE.Lasting(n), spike: IS_TRUE.Repeated(n) }
}

/** Each changes its state with every value: one has a result for each, the other raises and clears where `hot` turns. */
const FIELDS = {
  SIMPLE: {
    ...{ arguments: { n: { refEntityKey: { key: 'n', type: 'TS_LATEST' } } }, expression: 'n * 2', useLatestTs: true },
    output: {
      ...{ type: 'TIME_SERIES', name: 'doubled' },
      strategy: { type: 'IMMEDIATE', saveTimeSeries: true, saveLatest: true, sendWsUpdate: false, processCfs: false },
    },
  },
  ALARM: {
    arguments: { hot: { refEntityKey: { key: 'hot', type: 'TS_LATEST' } } },
    createRules: { MAJOR: fieldRule(true) },
    clearRule: fieldRule(false),
  },
}

/** Values that may be stored before a field begins, which have no result then (docs/internals/calculated-fields.md). */
const BEFORE_FIELDS = 3
const FIELD_COUNT = Object.keys(FIELDS).length

function fieldRule(isHot: boolean) {
  const predicates = [{ type: 'BOOLEAN', operation: 'EQUAL', value: { staticValue: isHot } }]
  const filters = [{ argument: 'hot', valueType: 'BOOLEAN', predicates }]
  return { condition: { type: 'SIMPLE', expression: { type: 'SIMPLE', filters } } }
}

/**
 * Adds calculated fields to the devices' profile, and waits until the process has calculated each for each device once, without a value: a field begins
 * with what is stored then, and values of before have no result (docs/internals/calculated-fields.md).
 */
export async function addFields(
  rest: RestClient,
  devices: readonly SendingDevice[],
  engine: RunningMillrace,
): Promise<void> {
  const { deviceProfileId } = await rest.expect<{ deviceProfileId: unknown }>(
    'GET',
    `/api/device/${devices[0]?.id ?? ''}`,
  )
  for (const [type, configuration] of Object.entries(FIELDS)) {
    const field = { type, entityId: deviceProfileId, name: `Field ${type}`, configuration: { type, ...configuration } }
    await rest.expect('POST', '/api/calculatedField', field)
  }
  for (const device of devices) device.hasFields = true
  while ((await figure(engine, 'millrace_calculated_fields_calculations_total')) < devices.length * FIELD_COUNT)
    await delay(POLL_MS)
  await drained(engine)
}

/** One value after the other until told to stop or the server is gone. Throws where one is refused. */
export async function sendValues({ url }: RunningMillrace, device: SendingDevice, stop: AbortSignal): Promise<void> {
  while (!stop.aborted) {
    const n = device.accepted + 1
    device.unknown = n
    let response: Response
    try {
      response = await fetch(`${url}/api/v1/${device.token}/telemetry`, {
        method: 'POST',
        body: JSON.stringify({ ts: device.base + n * STEP_MS, values: valuesOf(n) }),
      })
      await response.arrayBuffer()
    } catch (error) {
      if (error instanceof TypeError) return
      throw error
    }
    assert.equal(response.status, 200, `value ${n} of ${device.token}`)
    device.accepted = n
    device.unknown = undefined
  }
}

/** Asks for the value that the connection died under, once nothing is under way: it is in, or will be sent again. */
export async function resolveUnknown(rest: RestClient, devices: readonly SendingDevice[]): Promise<void> {
  await Promise.all(
    devices.map(async (device) => {
      if (device.unknown === undefined) return
      if ((await pointsOf(rest, device, 'n')).has(device.base + device.unknown * STEP_MS))
        device.accepted = device.unknown
      device.unknown = undefined
    }),
  )
}

/** What is wrong with what came of the values; waits until nothing is, or `withinMs` are over. */
export async function findings(
  rest: RestClient,
  devices: readonly SendingDevice[],
  withinMs: number,
): Promise<readonly string[]> {
  const deadline = performance.now() + withinMs
  for (;;) {
    const found = (await Promise.all(devices.map((device) => findingsOf(rest, device)))).flat()
    if (found.length === 0 || performance.now() > deadline) return found
    await delay(POLL_MS)
  }
}

async function findingsOf(rest: RestClient, device: SendingDevice): Promise<readonly string[]> {
  const numbers = Array.from({ length: device.accepted }, (_, index) => index + 1)
  const at = (n: number): number => device.base + n * STEP_MS
  const found: string[] = []
  const same = (what: string, actual: ReadonlyMap<number, unknown>, expected: ReadonlyMap<number, unknown>): void => {
    const wrong = [...new Set([...actual.keys(), ...expected.keys()])].filter(
      (ts) => JSON.stringify(actual.get(ts)) !== JSON.stringify(expected.get(ts)),
    )
    if (wrong.length === 0) return
    const [first = 0] = wrong.sort((one, other) => one - other)
    const told = `${JSON.stringify(actual.get(first))} for ${JSON.stringify(expected.get(first))}`
    found.push(
      `${device.token}, ${what}: ${wrong.length} wrong, first at value ${(first - device.base) / STEP_MS}: ${told}`,
    )
  }
  const read = (key: string) => pointsOf(rest, device, key)
  same('values', await read('n'), new Map(numbers.map((n) => [at(n), n])))
  same('deltas', await read('delta'), new Map(numbers.map((n) => [at(n), n === 1 ? 0 : n])))
  same('delayed', await read('delayed'), new Map(numbers.map((n) => [at(n), n])))
  const windows = closedWindows(numbers, at)
  same(
    'window counts',
    await read('windowCount'),
    new Map(windows.map(({ from, values }) => [from - DAY_MS, values.length])),
  )
  same('window sums', await read('windowSum'), new Map(windows.map(({ from, values }) => [from - DAY_MS, sum(values)])))
  found.push(...groupFindings(device, await read('group'), numbers))
  for (const type of ALARMS) found.push(...(await alarmFindings(rest, device, type, numbers)))
  if (!device.hasFields) return found
  const begun = (n: number): boolean => n > BEFORE_FIELDS
  const doubled = new Map([...(await read('doubled'))].filter(([ts]) => ts > at(BEFORE_FIELDS)))
  same('calculated', doubled, new Map(numbers.filter(begun).map((n) => [at(n), 2 * n])))
  return [...found, ...(await storedFindings(rest, device, 'Field ALARM', turnsOf(numbers, IS_TRUE.Lasting, 1)))]
}

/** Each value is in one group of the deduplication. */
function groupFindings(
  device: SendingDevice,
  groups: ReadonlyMap<number, unknown>,
  numbers: readonly number[],
): string[] {
  const grouped = [...groups.values()].flat().map(Number)
  const isEachOnce = grouped.length === numbers.length && new Set(grouped).size === numbers.length
  return isEachOnce
    ? []
    : [
        `${device.token}, deduplicated: ${grouped.length} in ${groups.size} groups, ${new Set(grouped).size} different, of ${numbers.length}`,
      ]
}

async function alarmFindings(
  rest: RestClient,
  device: SendingDevice,
  type: (typeof ALARMS)[number],
  numbers: readonly number[],
): Promise<string[]> {
  const expected = turnsOf(numbers, IS_TRUE[type], RAISES_AT[type])
  const found = await storedFindings(rest, device, type, expected)
  for (const does of ['raised', 'cleared'] as const) {
    const told = [...(await pointsOf(rest, device, `${does} ${type}`)).values()]
      .map((ts) => (Number(ts) - device.base) / STEP_MS)
      .sort((one, other) => one - other)
    const missing = expected[does].filter((n) => !told.includes(n))
    const more = told.filter((n, index) => !expected[does].includes(n) || told[index - 1] === n)
    if (missing.length + more.length > 0)
      found.push(`${device.token}, alarms ${type} ${does}: not told of ${missing.join()}, wrongly of ${more.join()}`)
  }
  return found
}

interface Turns {
  readonly raised: readonly number[]
  readonly cleared: readonly number[]
}

/** Values that raise an alarm, the one of a run of true ones that is that far in it, and that clear it. */
function turnsOf(numbers: readonly number[], isTrue: (n: number) => boolean, raisesAt: number): Turns {
  const turns: { readonly raised: number[]; readonly cleared: number[] } = { raised: [], cleared: [] }
  let inARow = 0
  for (const n of numbers) {
    if (isTrue(n)) {
      if (++inARow === raisesAt) turns.raised.push(n)
    } else {
      if (inARow >= raisesAt) turns.cleared.push(n)
      inARow = 0
    }
  }
  return turns
}

async function storedFindings(
  rest: RestClient,
  device: SendingDevice,
  type: string,
  expected: Turns,
): Promise<string[]> {
  const count = async (status: string): Promise<number> => {
    const types = encodeURIComponent(type)
    const path = `/api/v2/alarm/DEVICE/${device.id}?pageSize=1&page=0&typeList=${types}&statusList=${status}`
    return (await rest.expect<{ totalElements: number }>('GET', path)).totalElements
  }
  const cleared = await count('CLEARED')
  const raised = cleared + (await count('ACTIVE'))
  if (raised === expected.raised.length && cleared === expected.cleared.length) return []
  return [`${device.token}, alarms ${type}: ${raised} raised and ${cleared} cleared are stored`]
}

function closedWindows(numbers: readonly number[], at: (n: number) => number) {
  const windows = new Map<number, number[]>()
  for (const n of numbers) {
    const from = Math.floor(at(n) / WINDOW_MS) * WINDOW_MS
    const values = windows.get(from) ?? []
    values.push(n)
    windows.set(from, values)
  }
  const last = at(numbers.length)
  return [...windows].filter(([from]) => from + WINDOW_MS <= last).map(([from, values]) => ({ from, values }))
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0)
}

/** By time. */
async function pointsOf(rest: RestClient, { id }: SendingDevice, key: string): Promise<ReadonlyMap<number, unknown>> {
  const range = 'startTs=0&endTs=9999999999999&limit=1000000&orderBy=ASC&useStrictDataTypes=true'
  const path = `/api/plugins/telemetry/DEVICE/${id}/values/timeseries?keys=${encodeURIComponent(key)}&${range}`
  const answer = await rest.expect<Record<string, { ts: number; value: unknown }[]>>('GET', path)
  return new Map((answer[key] ?? []).map(({ ts, value }) => [ts, value]))
}

function alarmRule(alarmType: string, key: string, spec: object) {
  const condition = (value: boolean) => [
    {
      ...{ key: { type: 'TIME_SERIES', key }, valueType: 'BOOLEAN' },
      predicate: { type: 'BOOLEAN', operation: 'EQUAL', value: { defaultValue: value } },
    },
  ]
  return {
    ...{ id: alarmType, alarmType, propagate: false },
    createRules: { MAJOR: { condition: { condition: condition(true), spec } } },
    clearRule: { condition: { condition: condition(false), spec: { type: 'SIMPLE' } } },
  }
}

async function makeRootChain(rest: RestClient): Promise<void> {
  const nodes: object[] = []
  const connections: object[] = []
  const add = (type: string, configuration: object, configurationVersion = 0): number => {
    const full = type.startsWith('millrace.') ? type : `${PREFIX}${type}`
    return nodes.push({ type: full, name: `${nodes.length} ${type}`, configuration, configurationVersion }) - 1
  }
  const link = (fromIndex: number, type: string, toIndex: number): number => {
    connections.push({ fromIndex, toIndex, type })
    return toIndex
  }
  const script = (tbelScript: string): number =>
    add('transform.TbTransformMsgNode', { scriptLang: 'TBEL', tbelScript, jsScript: tbelScript })
  const telemetry = (msg: string, metadata: string): number =>
    script(`return {msg: ${msg}, metadata: ${metadata}, msgType: 'POST_TELEMETRY_REQUEST'};`)

  const isTelemetry = add('filter.TbMsgTypeFilterNode', { messageTypes: ['POST_TELEMETRY_REQUEST'] })
  const processingSettings = { type: 'ON_EVERY_MESSAGE' }
  const save = add('telemetry.TbMsgTimeseriesNode', { defaultTTL: 0, useServerTs: false, processingSettings }, 1)
  link(isTelemetry, 'True', save)

  const delta = {
    ...{ inputValueKey: 'v', outputValueKey: 'delta', useCache: true, addPeriodBetweenMsgs: false, round: null },
    ...{ periodValueKey: 'period', tellFailureIfDeltaIsNegative: true, excludeZeroDeltas: false },
  }
  const calculated = link(isTelemetry, 'True', add('metadata.CalculateDeltaNode', delta, 1))
  link(link(calculated, 'Success', telemetry('{delta: msg.delta}', 'metadata')), 'Success', save)

  // These two close by the clock what is over: they see times that have passed, and what they tell stands at those.
  const past = link(
    isTelemetry,
    'True',
    script(`metadata.ts = '' + (parseLong(metadata.ts) - ${DAY_MS}); return {msg: msg, metadata: metadata};`),
  )
  const window = add('millrace.analytics.TumblingWindow', {
    ...{ windowSec: WINDOW_MS / 1000, allowedLatenessSec: 0, idleTimeoutSec: 7 * 86_400 },
    metrics: [
      { key: 'n', function: 'COUNT', outputKey: 'windowCount' },
      { key: 'n', function: 'SUM', outputKey: 'windowSum' },
    ],
  })
  link(link(past, 'Success', window), 'Success', save)

  const deduplication = add(
    'deduplication.TbMsgDeduplicationNode',
    { ...{ interval: 2, strategy: 'ALL', outMsgType: 'GROUP', maxPendingMsgs: 100_000, maxRetries: 3 } },
    1,
  )
  link(past, 'Success', deduplication)
  const group = link(
    deduplication,
    'Success',
    script(`var numbers = [];
      for (m : msg) { numbers.push(m.msg.n); }
      return {msg: {group: numbers}, metadata: {ts: msg[0].metadata.ts}, msgType: 'POST_TELEMETRY_REQUEST'};`),
  )
  link(group, 'Success', save)

  const delayed = link(
    isTelemetry,
    'True',
    add('delay.TbMsgDelayNode', {
      ...{ periodInSeconds: 1, maxPendingMsgs: 100_000 },
      ...{ periodInSecondsPattern: null, useMetadataPeriodInSecondsPatterns: false },
    }),
  )
  link(link(delayed, 'Success', telemetry('{delayed: msg.n}', 'metadata')), 'Success', save)

  const rules = add(
    'profile.TbDeviceProfileNode',
    { persistAlarmRulesState: true, fetchAlarmRulesStateOnStart: true },
    1,
  )
  link(isTelemetry, 'True', rules)
  for (const [relation, key, time] of [
    ['Alarm Created', 'raised', 'createdTime'],
    ['Alarm Cleared', 'cleared', 'clearTs'],
  ] as const) {
    const told = script(`var point = {};
      point['${key} ' + msg.type] = parseLong(metadata.ts);
      return {msg: point, metadata: {ts: '' + msg.${time}}, msgType: 'POST_TELEMETRY_REQUEST'};`)
    link(link(rules, relation, told), 'Success', save)
  }
  const chain = await rest.expect<{ id: { id: string } }>('POST', '/api/ruleChain', { name: 'all that remember' })
  await rest.expect('POST', '/api/ruleChain/metadata', {
    ruleChainId: chain.id,
    firstNodeIndex: isTelemetry,
    nodes,
    connections,
  })
  await rest.expect('POST', `/api/ruleChain/${chain.id.id}/root`)
}
