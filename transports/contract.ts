/** What every device protocol keeps, whatever its packets look like: called for each line of the catalogue. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { readConfig } from '../config/read.ts'
import { defineErrors } from '../model/errors.ts'
import { systemRandom } from '../model/system-clock.ts'
import { UwsServer } from '../server/uws.ts'
import type { TRANSPORTS } from './catalogue.ts'
import { DEFAULT_PAYLOAD_LIMITS } from './payload/limits.ts'
import { FakeGateway, StandingClock, recordingLog } from './testkit.ts'

/** A device that speaks the protocol. */
export interface TestDevice {
  /** Presents the token and uploads `{"a":1}` as telemetry, to be acknowledged; resolves with whether it was. */
  upload(port: number, token: string): Promise<boolean>
  /** Whatever it holds open. */
  close(): Promise<void>
}

const Refusals = defineErrors('test', {
  AWAY: { kind: 'retryable', status: 503, text: 'the store does not answer' },
  FULL: { kind: 'terminal', status: 507, text: 'the disk is full' },
})

async function bench(
  transport: (typeof TRANSPORTS)[number],
  device: TestDevice,
  run: (
    gateway: FakeGateway,
    upload: (token: string) => Promise<boolean>,
    figures: () => Record<string, number>,
  ) => Promise<void>,
): Promise<void> {
  const gateway = new FakeGateway(['one'])
  const logged: string[] = []
  const log = recordingLog(logged)
  const server = new UwsServer({
    maxBodyBytes: 1_000_000,
    drainTimeoutMs: 1000,
    onHandlerError: (error) => assert.fail(String(error)),
  })
  const names = ['HTTP_BIND_PORT', 'MQTT_BIND_PORT', 'COAP_BIND_PORT', 'LWM2M_BIND_PORT', 'LWM2M_BS_BIND_PORT']
  const settings = readConfig(Object.fromEntries(names.map((name) => [name, '0'])))
  const parts = {
    gateway,
    settings,
    server,
    payload: DEFAULT_PAYLOAD_LIMITS,
    clock: new StandingClock(),
    random: systemRandom,
    log,
  }
  const opened = await transport.open(parts)
  const httpPort = await server.listen('127.0.0.1', 0)
  try {
    await run(
      gateway,
      (token) => device.upload(opened.ports?.[transport.name] ?? httpPort, token),
      () => ({ ...opened.figures() }),
    )
    assert.deepEqual(logged, [])
  } finally {
    await device.close()
    await opened.close()
    await opened.close()
    await server.close()
  }
}

export function testTransport(transport: (typeof TRANSPORTS)[number], open: () => TestDevice): void {
  describe(`${transport.label}, as every protocol`, () => {
    it('acknowledges an upload after it was stored, and not before', () =>
      bench(transport, open(), async (gateway, upload) => {
        gateway.holding = true
        let isAnswered = false
        const acknowledged = upload('one').finally(() => (isAnswered = true))
        await gateway.uploaded(1)
        await new Promise((resolve) => setImmediate(resolve))
        assert.equal(isAnswered, false)
        gateway.uploads[0]?.receipt.stored()
        assert.equal(await acknowledged, true)
      }))

    it('does not acknowledge what was refused', () =>
      bench(transport, open(), async (gateway, upload) => {
        gateway.refusal = Refusals.FULL({})
        assert.equal(await upload('one'), false)
      }))

    it('takes nothing from whom nobody knows', () =>
      bench(transport, open(), async (gateway, upload) => {
        assert.equal(await upload('nobody'), false)
        assert.equal(gateway.uploads.length, 0)
      }))

    it('takes nothing while the store of credentials does not answer', () =>
      bench(transport, open(), async (gateway, upload) => {
        gateway.cold = true
        gateway.authenticate = () => Promise.reject(Refusals.AWAY({}))
        assert.equal(await upload('one'), false)
        assert.equal(gateway.uploads.length, 0)
      }))

    it('knows a device that it has to ask for', () =>
      bench(transport, open(), async (gateway, upload) => {
        gateway.cold = true
        assert.equal(await upload('one'), true)
      }))

    it('tells every declared figure, and counts', () =>
      bench(transport, open(), async (_gateway, upload, figures) => {
        const before = figures()
        assert.deepEqual(Object.keys(before).sort(), [...transport.figureNames].sort())
        assert.ok(Object.values(before).every((value) => value === 0))
        await upload('one')
        assert.ok(Object.entries(figures()).some(([name, value]) => name.endsWith('_total') && value === 1))
      }))
  })
}
