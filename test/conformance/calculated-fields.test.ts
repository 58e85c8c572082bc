/** Calculated fields of each kind, saved over REST, from a device's telemetry to the values that users read. Alarm rules: `alarm-rules.test.ts`. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { DEMO_SYSADMIN, RestClient, login } from '../support/clients.ts'
import { startMillrace, type RunningMillrace } from '../support/start-millrace.ts'
import { eventually } from './wait.ts'

interface EntityId {
  readonly entityType: string
  readonly id: string
}
interface Saved {
  readonly id: EntityId
}
type Series = Readonly<Record<string, readonly { readonly ts: number; readonly value: unknown }[]>>

const SERIES = { type: 'TIME_SERIES' } as const
const AT_ONCE = {
  ...SERIES,
  strategy: { type: 'IMMEDIATE', saveTimeSeries: true, saveLatest: true, sendWsUpdate: true, processCfs: true },
} as const
const ATTRIBUTES = { type: 'ATTRIBUTES', scope: 'SERVER_SCOPE' } as const
const latest = (key: string) => ({ refEntityKey: { key, type: 'TS_LATEST' } })
const attribute = (key: string) => ({ refEntityKey: { key, type: 'ATTRIBUTE', scope: 'SERVER_SCOPE' } })
const NOW = Date.now()

let millrace: RunningMillrace
let rest: RestClient

before(async () => {
  millrace = await startMillrace()
  rest = new RestClient(millrace, await login(millrace))
  await allowShortIntervals()
})
after(() => millrace.stop())

/** Else aggregations would wait for ten seconds and more, and for a minute where a value comes behind its interval's end. */
async function allowShortIntervals(): Promise<void> {
  const admin = new RestClient(millrace, await login(millrace, DEMO_SYSADMIN))
  const { id } = await admin.expect<Saved>('GET', '/api/tenantProfileInfo/default')
  const profile = await admin.expect<{ profileData: { configuration: object } }>('GET', `/api/tenantProfile/${id.id}`)
  const intervals = {
    ...{ minAllowedDeduplicationIntervalInSecForCF: 0, minAllowedAggregationIntervalInSecForCF: 1 },
    cfReevaluationCheckInterval: 1,
  }
  const configuration = { ...profile.profileData.configuration, ...intervals }
  await admin.expect('POST', '/api/tenantProfile', { ...profile, profileData: { configuration } })
}

async function device(token: string): Promise<EntityId> {
  return { entityType: 'DEVICE', id: await rest.createDevice(token, token) }
}

async function asset(name: string): Promise<EntityId> {
  return (await rest.expect<Saved>('POST', '/api/asset', { name, type: 'default' })).id
}

function field(type: string, entityId: EntityId, configuration: object): Promise<Saved> {
  return rest.expect('POST', '/api/calculatedField', {
    ...{ type, entityId, name: `${type} ${entityId.id}` },
    configuration: { type, ...configuration },
  })
}

async function send(token: string, values: object): Promise<void> {
  const sent = await fetch(`${millrace.url}/api/v1/${token}/telemetry`, {
    method: 'POST',
    body: JSON.stringify(values),
  })
  assert.equal(sent.status, 200)
}

function setAttributes({ entityType, id }: EntityId, values: object): Promise<unknown> {
  return rest.expect('POST', `/api/plugins/telemetry/${entityType}/${id}/attributes/SERVER_SCOPE`, values)
}

function relate(from: EntityId, to: EntityId, type = 'Contains'): Promise<unknown> {
  return rest.expect('POST', '/api/relation', { from, to, type, typeGroup: 'COMMON' })
}

/** Asks until the newest values of these keys are those. */
async function shows({ entityType, id }: EntityId, values: Readonly<Record<string, unknown>>): Promise<Series> {
  const keys = Object.keys(values)
  const path = `/api/plugins/telemetry/${entityType}/${id}/values/timeseries?keys=${keys.join(',')}&useStrictDataTypes=true`
  return eventually(
    () => rest.expect<Series>('GET', path),
    (series) => keys.every((key) => isSame(series[key]?.[0]?.value, values[key])),
  )
}

async function showsAttributes({ entityType, id }: EntityId, values: Readonly<Record<string, unknown>>): Promise<void> {
  const keys = Object.keys(values)
  const path = `/api/plugins/telemetry/${entityType}/${id}/values/attributes/SERVER_SCOPE?keys=${keys.join(',')}`
  await eventually(
    () => rest.expect<readonly { readonly key: string; readonly value: unknown }[]>('GET', path),
    (all) => keys.every((key) => isSame(all.find((one) => one.key === key)?.value, values[key])),
  )
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}

test('SIMPLE: through the rule chain, at the newest time of its arguments, begun with what was there', async () => {
  const kettle = await device('KETTLE')
  await send('KETTLE', { ts: NOW - 5_000, values: { f: 212 } })
  await shows(kettle, { f: 212 })
  await field('SIMPLE', kettle, {
    ...{ arguments: { f: latest('f'), shift: { ...attribute('shift'), defaultValue: '32' } } },
    ...{ expression: '(f - shift) / 1.8', useLatestTs: true },
    output: { ...SERIES, name: 'celsius', decimalsByDefault: 1 },
  })
  await shows(kettle, { celsius: 100 })
  await send('KETTLE', { ts: NOW - 1_000, values: { f: 50 } })
  const { celsius } = await shows(kettle, { celsius: 10 })
  assert.equal(celsius?.[0]?.ts, NOW - 1_000)
  await setAttributes(kettle, { shift: 14 })
  await shows(kettle, { celsius: 20 })
})

test('an argument whose series is deleted is what is left of it, or its default', async () => {
  const tank = await device('TANK')
  await field('SIMPLE', tank, {
    ...{ arguments: { level: { ...latest('level'), defaultValue: '0.5' } }, expression: 'level * 2' },
    output: { ...AT_ONCE, name: 'twice' },
  })
  await send('TANK', { ts: NOW - 9_000, values: { level: 3 } })
  await send('TANK', { ts: NOW - 5_000, values: { level: 4 } })
  await shows(tank, { level: 4, twice: 8 })
  const path = `/api/plugins/telemetry/DEVICE/${tank.id}/timeseries/delete?keys=level`
  const range = `startTs=${NOW - 6_000}&endTs=${NOW}&rewriteLatestIfDeleted=true`
  await rest.expect('DELETE', `${path}&deleteAllDataForKeys=false&${range}`)
  await shows(tank, { level: 3, twice: 6 })
  await rest.expect('DELETE', `${path}&deleteAllDataForKeys=true`)
  await shows(tank, { twice: 1 })
})

test('a result stands at the time that the log gave the value it was made of, however fast values come', async () => {
  const meter = await device('PULSES')
  await send('PULSES', { pulse: 0 })
  await shows(meter, { pulse: 0 })
  await field('SIMPLE', meter, {
    ...{ arguments: { pulse: latest('pulse') }, expression: 'pulse * 2', output: { ...SERIES, name: 'doubled' } },
  })
  await shows(meter, { doubled: 0 })
  const burst = Array.from({ length: 20 }, (_, index) => index + 1)
  await Promise.all(burst.map((pulse) => send('PULSES', { pulse })))
  const path = `/api/plugins/telemetry/DEVICE/${meter.id}/values/timeseries?keys=pulse,doubled&startTs=0&endTs=9999999999999`
  const { pulse = [], doubled = [] } = await eventually(
    () => rest.expect<Series>('GET', path),
    (series) => series['doubled']?.length === burst.length + 1,
  )
  // Newest first; what the field began with is last.
  const made = pulse.slice(0, -1).map(({ ts, value }) => [ts, Number(value) * 2])
  assert.deepEqual(
    doubled.slice(0, -1).map(({ ts, value }) => [ts, Number(value)]),
    made,
  )
})

test('SCRIPT: a window of a profile’s device, and an attribute of its owner, into attributes', async () => {
  const profile = await rest.expect<Saved>('POST', '/api/deviceProfile', {
    ...{ name: 'pump', type: 'DEFAULT', transportType: 'DEFAULT' },
    profileData: { configuration: { type: 'DEFAULT' }, transportConfiguration: { type: 'DEFAULT' } },
  })
  await field('SCRIPT', profile.id, {
    arguments: {
      flow: { refEntityKey: { key: 'flow', type: 'TS_ROLLING' }, limit: 3, timeWindow: 3_600_000 },
      factor: { ...attribute('factor'), refDynamicSourceConfiguration: { type: 'CURRENT_OWNER' } },
    },
    expression: 'return {"total": flow.sum() * factor, "size": flow.values.size()};',
    output: { ...ATTRIBUTES, strategy: { type: 'IMMEDIATE', saveAttribute: true } },
  })
  const { id: pump } = await rest.expect<Saved>('POST', '/api/device?accessToken=PUMP', {
    ...{ name: 'pump 1', deviceProfileId: profile.id },
  })
  for (const [index, flow] of [100, 1, 2, 3].entries())
    await send('PUMP', { ts: NOW - 10_000 + index, values: { flow } })
  const { id: owner } = await rest.expect<Saved>('POST', '/api/customer', { title: 'waterworks' })
  await setAttributes(owner, { factor: 10 })
  await rest.expect('POST', `/api/customer/${owner.id}/device/${pump.id}`)
  await showsAttributes(pump, { total: 60, size: 3 })
  await setAttributes(owner, { factor: 2 })
  await showsAttributes(pump, { total: 12, size: 3 })
})

const SQUARE = [
  [0, 0],
  [0, 10],
  [10, 10],
  [10, 0],
]

test('GEOFENCING: status and events of a group of zones, with a relation to the zone', async () => {
  const zone = await asset('yard')
  await setAttributes(zone, { perimeter: SQUARE })
  const truck = await device('TRUCK')
  await relate(truck, zone, 'Watches')
  const levels = [{ direction: 'FROM', relationType: 'Watches' }]
  await field('GEOFENCING', truck, {
    entityCoordinates: { latitudeKeyName: 'latitude', longitudeKeyName: 'longitude' },
    zoneGroups: {
      yard: {
        refDynamicSourceConfiguration: { type: 'RELATION_PATH_QUERY', levels },
        ...{ perimeterKeyName: 'perimeter', reportStrategy: 'REPORT_TRANSITION_EVENTS_AND_PRESENCE_STATUS' },
        ...{ createRelationsWithMatchedZones: true, relationType: 'IsIn', direction: 'FROM' },
      },
    },
    output: AT_ONCE,
  })
  await send('TRUCK', { latitude: 20, longitude: 5 })
  await shows(truck, { yardStatus: 'OUTSIDE' })
  await send('TRUCK', { latitude: 5, longitude: 5 })
  await shows(truck, { yardStatus: 'INSIDE', yardEvent: 'ENTERED' })
  const related = () =>
    rest.expect<readonly { to: EntityId }[]>(
      'GET',
      `/api/relations?fromId=${truck.id}&fromType=DEVICE&relationType=IsIn`,
    )
  await eventually(related, (all) => all.length === 1 && all[0]?.to.id === zone.id)
  await send('TRUCK', { latitude: 20, longitude: 5 })
  await shows(truck, { yardStatus: 'OUTSIDE', yardEvent: 'LEFT' })
  await eventually(related, (all) => all.length === 0)
})

test('PROPAGATION: values as they are, and what an expression makes of them, onto related entities', async () => {
  const [room, meter] = [await asset('room'), await device('METER')]
  await relate(room, meter)
  const relation = { direction: 'TO', relationType: 'Contains' }
  await field('PROPAGATION', meter, {
    ...{ relation, arguments: { power: latest('power') }, applyExpressionToResolvedArguments: false, output: AT_ONCE },
  })
  await rest.expect('POST', '/api/calculatedField', {
    ...{ type: 'PROPAGATION', entityId: meter, name: 'in kW' },
    configuration: {
      ...{ type: 'PROPAGATION', relation, arguments: { p: latest('power') }, applyExpressionToResolvedArguments: true },
      ...{ expression: 'return {"kilowatts": p / 1000.0};', output: ATTRIBUTES },
    },
  })
  await send('METER', { power: 1500 })
  await shows(room, { power: 1500 })
  await showsAttributes(room, { kilowatts: 1.5 })
})

test('RELATED_ENTITIES_AGGREGATION: the latest values of related devices, those that come later too', async () => {
  const hall = await asset('hall')
  const [one, two] = [await device('LAMP_1'), await device('LAMP_2')]
  for (const lamp of [one, two]) await relate(hall, lamp)
  await send('LAMP_1', { watts: 3 })
  await shows(one, { watts: 3 })
  await field('RELATED_ENTITIES_AGGREGATION', hall, {
    ...{ relation: { direction: 'FROM', relationType: 'Contains' }, arguments: { w: latest('watts') } },
    deduplicationIntervalInSec: 0,
    metrics: {
      total: { function: 'SUM', input: { type: 'key', key: 'w' } },
      bright: { function: 'COUNT', filter: 'return w > 4;', input: { type: 'key', key: 'w' } },
      most: { function: 'MAX', input: { type: 'function', function: 'return w * 2;' } },
    },
    output: { ...AT_ONCE, decimalsByDefault: 0 },
  })
  await shows(hall, { total: 3, bright: 0, most: 6 })
  await send('LAMP_2', { watts: 5 })
  await shows(hall, { total: 8, bright: 1, most: 10 })
})

test('RELATED_ENTITIES_AGGREGATION: who comes, who is related no more, and who is deleted', async () => {
  const yard = await asset('yard of pumps')
  const [near, late, third] = [await device('PUMP_NEAR'), await device('PUMP_LATE'), await device('PUMP_THIRD')]
  for (const [token, flow] of [
    ['PUMP_NEAR', 1],
    ['PUMP_LATE', 10],
    ['PUMP_THIRD', 100],
  ] as const)
    await send(token, { flow })
  await shows(third, { flow: 100 })
  await relate(yard, near)
  await field('RELATED_ENTITIES_AGGREGATION', yard, {
    ...{ relation: { direction: 'FROM', relationType: 'Contains' }, arguments: { f: latest('flow') } },
    ...{ deduplicationIntervalInSec: 0, metrics: { flows: { function: 'SUM', input: { type: 'key', key: 'f' } } } },
    output: { ...AT_ONCE, decimalsByDefault: 0 },
  })
  await shows(yard, { flows: 1 })
  await relate(yard, late)
  await shows(yard, { flows: 11 })
  await relate(yard, third)
  await shows(yard, { flows: 111 })
  const ends = `fromId=${yard.id}&fromType=ASSET&toId=${late.id}&toType=DEVICE&relationType=Contains`
  await rest.expect('DELETE', `/api/relation?${ends}`)
  await shows(yard, { flows: 101 })
  await rest.expect('DELETE', `/api/device/${near.id}`)
  await shows(yard, { flows: 100 })
})

test('PROPAGATION: what is related only now has the value, at its time', async () => {
  const [shed, gauge] = [await asset('shed'), await device('GAUGE')]
  await field('PROPAGATION', gauge, {
    ...{ relation: { direction: 'TO', relationType: 'Contains' }, arguments: { level: latest('level') } },
    ...{ applyExpressionToResolvedArguments: false, output: AT_ONCE },
  })
  await send('GAUGE', { ts: NOW - 60_000, values: { level: 7 } })
  await shows(gauge, { level: 7 })
  await relate(shed, gauge)
  const { level } = await shows(shed, { level: 7 })
  assert.equal(level?.[0]?.ts, NOW - 60_000)
})

test('what was calculated is in the metrics', async () => {
  const text = await (await fetch(`${millrace.url}/metrics`)).text()
  const figureOf = (name: string) =>
    Number(new RegExp(`^millrace_calculated_fields_${name} (\\d+)$`, 'm').exec(text)?.[1])
  assert.ok(figureOf('fields') >= 5)
  for (const name of ['handed_over_messages', 'forwarded_messages', 'calculations', 'results'])
    assert.ok(figureOf(`${name}_total`) > 0, name)
  assert.ok(Number.isInteger(figureOf('failed_calculations_total')))
})

test('ENTITY_AGGREGATION: values of an interval, at its end', async () => {
  const well = await device('WELL')
  await field('ENTITY_AGGREGATION', well, {
    arguments: { level: latest('level') },
    metrics: {
      mean: { function: 'AVG', input: { type: 'key', key: 'level' } },
      times: { function: 'COUNT', input: { type: 'key', key: 'level' } },
    },
    interval: { type: 'CUSTOM', tz: 'UTC', durationSec: 1 },
    // The values may come behind the interval's end.
    watermark: { duration: 60 },
    ...{ produceIntermediateResult: false, output: { ...AT_ONCE, decimalsByDefault: 2 } },
  })
  const from = Math.floor(Date.now() / 1_000) * 1_000
  await send('WELL', [
    { ts: from, values: { level: 1 } },
    { ts: from + 1, values: { level: 2 } },
  ])
  const { mean } = await shows(well, { mean: 1.5, times: 2 })
  assert.equal(mean?.[0]?.ts, from)
})
