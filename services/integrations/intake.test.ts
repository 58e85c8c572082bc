import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock, systemRandom } from '../../model/system-clock.ts'
import { entityId } from '../../model/entity-id.ts'
import type { PublishLink } from '../../engine/link/link.ts'
import { createScriptHost } from '../../engine/script/host.ts'
import { FEATURE, UsageMeter } from '../../engine/usage/usage.ts'
import { processorMs } from '../../test/support/processor-time.ts'
import type { Integration } from '../entities/integration.ts'
import { FigureBook } from './figures.ts'
import { Intake } from './intake.ts'

const ID = '11111111-1111-4111-8111-111111111111'
const IDENTITY = {
  ...{ tenantId: ID, deviceId: ID, deviceName: 'd', deviceType: 'default', customerId: null },
  ...{ deviceProfileId: ID, ruleChainId: null },
}

function openIntake() {
  const state = { published: 0, reports: [] as string[] }
  const meter = new UsageMeter()
  const link: PublishLink = {
    publish: (_message, receipt) => {
      state.published++
      receipt.stored()
    },
    writable: true,
    hasRoomFor: () => true,
    onWritable: () => () => undefined,
  }
  const figures = new FigureBook({
    ...{ clock: systemClock, report: assert.fail, server: 's', events: { add: () => undefined } },
    attributes: {
      find: () => Promise.resolve({ value: [], sequence: 0 }),
      save: () => Promise.resolve(),
    },
  })
  const scripts = createScriptHost({
    ...{ clock: systemClock, random: systemRandom },
    javaScript: () => assert.fail('not asked for'),
  })
  const device = { identity: IDENTITY, originator: entityId('DEVICE', ID) }
  const intake = new Intake({
    ...{ link, figures, scripts, clock: systemClock, random: systemRandom, castStrings: true },
    ...{ maxFrameBytes: 1 << 20, maxBytes: 1 << 26, report: (text: string) => void state.reports.push(text) },
    devices: { lookUp: () => device, find: () => Promise.resolve(device) },
    meter,
  })
  const open = (script: string) => {
    const integration: Integration = {
      ...{ id: ID, createdTime: 1, version: 1, tenantId: ID, name: 'i', type: 'HTTP', enabled: true },
      ...{ allowCreateDevices: true, converter: { script }, configuration: {}, routingKey: null, additionalInfo: null },
    }
    return intake.open(integration)
  }
  return { state, meter, open }
}

type Inlet = Awaited<ReturnType<ReturnType<typeof openIntake>['open']>>

/** `stored`, or what it failed for: `again` where it may not be acknowledged. */
function send(inlet: Inlet, payload: string): Promise<string> {
  return new Promise((resolve) => {
    const receipt = {
      done: (failure?: Error & { readonly code: string }) => resolve(failure === undefined ? 'stored' : failure.code),
      again: (failure: Error & { readonly code: string }) => resolve(`again: ${failure.code}`),
    }
    assert.ok(inlet.take({ payload: Buffer.from(payload), metadata: {} }, receipt))
  })
}

test('what the tenant has no allowance for stays with its sender', async () => {
  const { meter, open } = openIntake()
  const inlet = await open('return {deviceName: "d", telemetry: {a: 1}};')
  meter.of(ID).disable(FEATURE.TRANSPORT)
  assert.equal(await send(inlet, '{}'), 'again: device.USAGE_LIMIT')
  meter.of(ID).disable(0)
  assert.equal(await send(inlet, '{}'), 'stored')
})

test("a source that throws at what it is told stands in no other frame's way", async () => {
  const { state, open } = openIntake()
  const inlet = await open('return payload == 1 ? null : {deviceName: "d", telemetry: {a: 1}};')
  const fail = (): never => {
    throw new Error('no socket any more')
  }
  for (const payload of ['1', '2'])
    assert.ok(inlet.take({ payload: Buffer.from(payload), metadata: {} }, { done: fail, again: fail }))
  assert.equal(await send(inlet, '3'), 'stored')
  assert.equal(state.reports.length, 2)
})

test('payloads that are too long for a script do not stop it for others', async () => {
  const inlet = await openIntake().open('return {deviceName: "d", telemetry: {a: 1}};')
  const long = JSON.stringify('x'.repeat(120_000))
  for (let time = 0; time < 4; time++) assert.equal(await send(inlet, long), 'script.SCRIPT_ARGUMENTS_TOO_LARGE')
  assert.equal(await send(inlet, '{}'), 'stored')
})

test('while a script is paused, nothing is acknowledged', async () => {
  const { state, open } = openIntake()
  const inlet = await open(
    'if (payload == 1) { while (true) { payload = payload; } } return {deviceName: "d", telemetry: {a: 1}};',
  )
  const first: string[] = []
  for (let time = 0; time < 3; time++) first.push(await send(inlet, '1'))
  assert.ok(
    first.every((outcome) => outcome.startsWith('script.')),
    first.join(),
  )
  assert.equal(await send(inlet, '2'), 'again: integration.SCRIPT_PAUSED')
  assert.equal(state.published, 0)
})

test('a source that sends much leaves the thread to others', async () => {
  const inlet = await openIntake().open(
    'var sum = 0; for (int i = 0; i < 20000; i++) { sum = sum + i; } return {deviceName: "d", telemetry: {a: sum}};',
  )
  let longest = 0
  let last = processorMs()
  const watch = setInterval(() => {
    longest = Math.max(longest, processorMs() - last)
    last = processorMs()
  }, 1)
  const began = processorMs()
  await Promise.all(Array.from({ length: 600 }, () => send(inlet, '{}')))
  const whole = processorMs() - began
  clearInterval(watch)
  assert.ok(whole > 100, `too little work to tell: ${whole} ms`)
  assert.ok(longest > 0 && longest < whole / 2, `${longest} of ${whole} ms in one turn`)
})

test('what is known of a frame beside its payload takes room too', async () => {
  const { open } = openIntake()
  const inlet = await open('return null;')
  const metadata = { header: 'x'.repeat(1 << 20) }
  const done: (Error | undefined)[] = []
  const receipt = { done: (failure?: Error) => void done.push(failure), again: assert.fail }
  let taken = 0
  while (taken < 1000 && inlet.take({ payload: Buffer.from('1'), metadata }, receipt)) taken++
  assert.ok(taken < 16, `${taken} frames of a megabyte in sixteen`)
  await new Promise<void>((resolve) => inlet.onRoom(resolve))
  assert.ok(inlet.take({ payload: Buffer.from('1'), metadata }, receipt))
})
