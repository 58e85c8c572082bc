import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TransportRates, type TransportLimits, type TransportRateRefusal } from './transport-rates.ts'

const NONE: TransportLimits = {
  transportTenantMsgRateLimit: null,
  transportTenantTelemetryMsgRateLimit: null,
  transportTenantTelemetryDataPointsRateLimit: null,
  transportDeviceMsgRateLimit: null,
  transportDeviceTelemetryMsgRateLimit: null,
  transportDeviceTelemetryDataPointsRateLimit: null,
  transportGatewayMsgRateLimit: null,
  transportGatewayTelemetryMsgRateLimit: null,
  transportGatewayTelemetryDataPointsRateLimit: null,
  transportGatewayDeviceMsgRateLimit: null,
  transportGatewayDeviceTelemetryMsgRateLimit: null,
  transportGatewayDeviceTelemetryDataPointsRateLimit: '',
}

const device = (deviceId: string, tenantId = 't') => ({ tenantId, deviceId })
const gateway = { ...device('g'), isGateway: true } as const

function ratesOf(limits: Partial<TransportLimits>) {
  const reached: TransportRateRefusal[] = []
  const profile = { now: { ...NONE, ...limits } }
  const source = { soon: (tenantId: string) => (tenantId === 't' ? profile.now : NONE) }
  const rates = new TransportRates({ source, reached: (refusal) => reached.push(refusal) })
  const admitted = (
    of: Parameters<TransportRates['admit']>[0],
    points: number,
    now: number,
    behind?: string,
  ): boolean => !rates.isLimited(of.tenantId, now) || rates.admit(of, behind, points, now)
  return { rates, reached, profile, admitted }
}

test('a tenant without limits is not limited, and nobody else’s limits are its', () => {
  assert.equal(ratesOf({}).rates.isLimited('t', 0), false)
  const { rates } = ratesOf({ transportDeviceMsgRateLimit: '1:1' })
  assert.deepEqual([rates.isLimited('t', 0), rates.isLimited('another', 0)], [true, false])
})

test('limits that are set count after a quarter of a second, and at once where the clock was set back', () => {
  for (const later of [250, -1]) {
    const { rates, profile } = ratesOf({})
    assert.equal(rates.isLimited('t', 0), false)
    profile.now = { ...NONE, transportDeviceMsgRateLimit: '1:1' }
    assert.deepEqual([rates.isLimited('t', 249), rates.isLimited('another', 249)], [false, false])
    assert.equal(rates.isLimited('t', later), true)
  }
})

test('limits hold for the tenant of the last message, however many others came once since', () => {
  const { rates, admitted } = ratesOf({ transportDeviceMsgRateLimit: '1:60' })
  for (let time = 0; time < 2; time++) assert.equal(rates.isLimited('t', 0), true)
  for (let other = 0; other < 20_001; other++) assert.equal(rates.isLimited(`other ${other}`, 0), false)
  assert.deepEqual([admitted(device('a'), 0, 0), admitted(device('a'), 0, 0)], [true, false])
  assert.equal(rates.told(device('a'), 0).own.messages, '1:60')
})

test('each device has its own buckets, which fill steadily', () => {
  const { admitted, reached } = ratesOf({ transportDeviceTelemetryMsgRateLimit: '2:1,3:60' })
  const tries = (of: string, now: number) => [1, 2, 3].map(() => admitted(device(of), 1, now))
  assert.deepEqual(tries('a', 0), [true, true, false])
  assert.deepEqual(tries('b', 0), [true, true, false])
  assert.deepEqual(tries('a', 1000), [true, false, false], 'three a minute')
  assert.deepEqual(reached[0], { tenantId: 't', level: 'Device', id: 'a' })
  assert.equal(admitted(device('a'), 0, 1000), true, 'what has no data takes another bucket')
})

test('values count by their number, what is more than a capacity never passes', () => {
  const { admitted } = ratesOf({ transportDeviceTelemetryDataPointsRateLimit: '10:1' })
  assert.deepEqual(
    [admitted(device('a'), 7, 0), admitted(device('a'), 4, 0), admitted(device('a'), 3, 0)],
    [true, false, true],
  )
  assert.equal(admitted(device('b'), 11, 10_000), false)
})

test('all devices of a tenant share its buckets', () => {
  const { admitted, reached } = ratesOf({ transportTenantTelemetryMsgRateLimit: '3:1' })
  assert.deepEqual(
    ['a', 'b', 'a', 'c'].map((of) => admitted(device(of), 1, 0)),
    [true, true, true, false],
  )
  assert.deepEqual(reached, [{ tenantId: 't', level: 'Tenant', id: 't' }])
})

test('devices behind a gateway share a bucket, and the gateway itself has another', () => {
  const { admitted, reached } = ratesOf({
    transportGatewayTelemetryMsgRateLimit: '2:1',
    transportGatewayDeviceTelemetryMsgRateLimit: '1:1',
    transportDeviceTelemetryMsgRateLimit: '1:1',
  })
  assert.deepEqual(
    ['a', 'b', 'a'].map((of) => admitted(device(of), 1, 0, 'g')),
    [true, true, false],
  )
  assert.equal(admitted(device('a'), 1, 0), true, 'connected by itself it has its own')
  assert.deepEqual([admitted(gateway, 1, 0), admitted(gateway, 1, 0)], [true, false])
  assert.deepEqual(
    reached.map(({ level, id }) => `${level} ${id}`),
    ['Gateway g', 'GatewayDevice g'],
  )
})

test('a profile that changes counts within a quarter of a second, and devices are told what holds', () => {
  const { admitted, profile, rates } = ratesOf({ transportDeviceMsgRateLimit: '1:1' })
  assert.deepEqual([admitted(device('a'), 0, 0), admitted(device('a'), 0, 0)], [true, false])
  profile.now = { ...NONE, transportGatewayMsgRateLimit: '5:1' }
  assert.equal(admitted(device('a'), 0, 300), true)
  assert.deepEqual(rates.told(gateway, 300), {
    own: { messages: null, telemetryMessages: null, telemetryDataPoints: null },
    children: { messages: '5:1', telemetryMessages: null, telemetryDataPoints: null },
  })
  profile.now = NONE
  assert.equal(rates.isLimited('t', 600), false)
})

test('nothing is refused until a profile was read, nor where it can not be read', async () => {
  let read: (limits: TransportLimits) => void = () => undefined
  const reads = [
    () => new Promise<TransportLimits>((resolve) => (read = resolve)),
    () => Promise.reject(new Error('the store does not answer')),
    () => {
      throw new Error('closed')
    },
  ]
  const rates = new TransportRates({ source: { soon: () => reads.shift()?.() ?? NONE }, reached: () => assert.fail() })
  assert.equal(rates.isLimited('t', 0), false)
  read({ ...NONE, transportDeviceMsgRateLimit: '1:1' })
  await new Promise((resolve) => setImmediate(resolve))
  assert.equal(rates.isLimited('t', 1), true)
  assert.equal(rates.isLimited('t', 1000), true, 'what was known counts')
  assert.equal(rates.isLimited('t', 2000), true)
})
