/** For the tests of the HTTP device API: a server of its own, and one that calls it. */
import assert from 'node:assert/strict'
import { UwsServer } from '../../server/uws.ts'
import { FakeGateway, StandingClock, recordingLog } from '../testkit.ts'
import { registerHttpDeviceApi, type HttpDeviceFigures } from './device-api.ts'
import type { HttpDeviceLimits } from './limits.ts'

export interface HttpBench {
  readonly url: string
  readonly gateway: FakeGateway
  readonly clock: StandingClock
  readonly figures: () => HttpDeviceFigures
  readonly close: () => void
  readonly call: (method: string, path: string, body?: string, signal?: AbortSignal) => Promise<Answer>
}

export interface Answer {
  readonly status: number
  readonly type: string | null
  readonly allow: string | null
  readonly text: string
}

/** Devices `one`, `two` and `foreign`. */
export async function bench(
  run: (bench: HttpBench) => Promise<void>,
  limits: Partial<HttpDeviceLimits> = {},
): Promise<void> {
  const gateway = new FakeGateway(['one', 'two', 'foreign'])
  const clock = new StandingClock()
  const logged: string[] = []
  const log = recordingLog(logged)
  const server = new UwsServer({
    maxBodyBytes: 1_000_000,
    drainTimeoutMs: 1000,
    onHandlerError: (error) => log.error(String(error)),
  })
  const api = registerHttpDeviceApi({ server, gateway, limits, clock, log })
  const port = await server.listen('127.0.0.1', 0)
  try {
    await run({
      url: `http://127.0.0.1:${port}`,
      gateway,
      clock,
      figures: () => api.figures(),
      close: () => api.close(),
      call: async (method, path, body, signal) => {
        const response = await fetch(`http://127.0.0.1:${port}${path}`, {
          method,
          ...(body === undefined ? {} : { body }),
          ...(signal === undefined ? {} : { signal }),
        })
        const { status, headers } = response
        return { status, type: headers.get('content-type'), allow: headers.get('allow'), text: await response.text() }
      },
    })
    assert.deepEqual(logged, [])
  } finally {
    await server.close()
  }
}
