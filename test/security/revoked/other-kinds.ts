/** Devices over HTTP, CoAP and LwM2M, which hold no connection: what waits for the platform is ended, and the next request refused. */
import assert from 'node:assert/strict'
import { RawClient } from '../../../transports/coap/testkit.ts'
import { TestClient } from '../../../transports/lwm2m/testkit.ts'
import { createLwm2mDevice } from '../../support/lwm2m-device.ts'
import { makeWithToken } from './credentials.ts'
import { endedBy, type Connected, type Kind } from './kinds.ts'

const CONTENT_FORMAT = { number: 12, value: Buffer.of(110) }

/** `GET` of what a device may wait for. */
function longPolling(waitsFor: 'attributes/updates' | 'rpc'): Kind {
  return {
    name: `token over HTTP, waiting for ${waitsFor}`,
    async make(world, device) {
      const open = async (token: string): Promise<Connected> => {
        const base = `${world.millrace.url}/api/v1/${token}`
        const abort = new AbortController()
        const post = async (value: number): Promise<number> => {
          const answer = await fetch(`${base}/telemetry`, { method: 'POST', body: JSON.stringify({ n: value }) })
          await answer.arrayBuffer()
          return answer.status
        }
        assert.equal(await post(0), 200)
        const revoked = async (): Promise<void> => {
          for (;;) {
            const answer = await fetch(`${base}/${waitsFor}?timeout=60000`, { signal: abort.signal })
            await answer.arrayBuffer()
            // Nothing came in its time: as a device does, it waits again.
            if (answer.status === 408) continue
            assert.ok(answer.status === 401 || answer.status === 403, `the wait ended with ${answer.status}`)
            return
          }
        }
        const ended = revoked().catch((error: unknown) => {
          if (!abort.signal.aborted) throw error
        })
        // Else it might not wait yet when its device is revoked.
        await new Promise((resolve) => setTimeout(resolve, 100))
        return {
          ended,
          send: async (value) => (await post(value)) === 200,
          close: () => Promise.resolve(abort.abort()),
        }
      }
      return makeWithToken(world, device, open)
    },
  }
}

let tokens = 0

function observing(observed: 'attributes' | 'rpc'): Kind {
  return {
    name: `token over CoAP, observing ${observed}`,
    make: (world, device) =>
      makeWithToken(world, device, async (token) => {
        const client = await RawClient.open(world.millrace.ports['coap'] ?? 0)
        const path = `/api/v1/${token}`
        const own = (++tokens).toString(16).padStart(4, '0')
        const begun = await client.answerTo({ code: '0.01', path: `${path}/${observed}`, observe: 0, token: own })
        if (!begun.code.startsWith('2.')) {
          client.close()
          throw new Error(`observing was answered ${begun.code}`)
        }
        let isOver = false
        const farewell = async (): Promise<void> => {
          for (let index = 1; !isOver; index++) {
            const { token: of, code, type, id } = await client.message(index)
            if (type === 'CON') client.reply('ACK', id)
            if (of.toString('hex') === own && code.startsWith('4.')) return
          }
        }
        return {
          ended: farewell(),
          send: async (value) => {
            const asking = await RawClient.open(world.millrace.ports['coap'] ?? 0)
            const { code } = await asking.answerTo({ path: `${path}/telemetry`, payload: JSON.stringify({ n: value }) })
            asking.close()
            return code === '2.01'
          },
          close: () => {
            isOver = true
            client.close()
            return Promise.resolve()
          },
        }
      }),
  }
}

const registered: Kind = {
  name: 'endpoint over LwM2M without security',
  async make(world, device) {
    const { rest, millrace, profiles } = world
    const open = async (endpoint: string): Promise<Connected> => {
      const client = await TestClient.open(millrace.ports['lwm2m'] ?? 0)
      const code = await client.register(endpoint)
      if (code !== '2.01') {
        client.raw.close()
        throw new Error(`the registration was answered ${code}`)
      }
      let isOver = false
      return {
        ended: endedBy(
          async () => (await client.update()) !== '2.04',
          () => isOver,
        ),
        send: async (value) => {
          const payload = JSON.stringify([{ n: '/3/0/9', v: value }])
          return (await client.ask({ path: '/dp', payload, options: [CONTENT_FORMAT] })).code === '2.04'
        },
        close: () => {
          isOver = true
          client.raw.close()
          return Promise.resolve()
        },
      }
    }
    return {
      deviceId: await createLwm2mDevice(rest, profiles.lwm2m, device),
      writesTo: device,
      others: {
        credentialsId: `${device} later`,
        credentialsValue: JSON.stringify({
          client: { securityConfigClientMode: 'NO_SEC', endpoint: `${device} later` },
          bootstrap: { bootstrapServer: { securityMode: 'NO_SEC' }, lwm2mServer: { securityMode: 'NO_SEC' } },
        }),
      },
      connect: () => open(device),
      strangers: { 'another endpoint': () => open(`${device}x`) },
    }
  },
}

export const OTHER_KINDS: readonly Kind[] = [
  longPolling('attributes/updates'),
  longPolling('rpc'),
  observing('attributes'),
  observing('rpc'),
  registered,
]
