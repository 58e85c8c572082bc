/** Both WebSocket endpoints with the `ws` client: snapshots, updates, history, refusals. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { after, before, describe, test } from 'node:test'
import { WebSocket } from 'ws'
import { DEMO_CUSTOMER, RestClient, login } from '../support/clients.ts'
import { startMillrace, type RunningMillrace } from '../support/start-millrace.ts'

const T = 1_700_000_000_000
const UNKNOWN_ID = '11111111-2222-4333-8444-555555555555'

interface Frame {
  readonly subscriptionId: number
  readonly errorCode: number
  readonly errorMsg: string | null
  readonly data: Readonly<Record<string, readonly (readonly [number, string | null])[]>> | null
}

/** Frames are kept from the first on, so that none that comes early is missed. */
class Subscriber {
  readonly socket: WebSocket
  private readonly frames: Frame[] = []
  private wake: (() => void) | undefined

  constructor(url: string) {
    this.socket = new WebSocket(url)
    this.socket.on('message', (data: Buffer) => {
      this.frames.push(JSON.parse(data.toString()) as Frame)
      this.wake?.()
    })
  }

  async send(command: object): Promise<void> {
    if (this.socket.readyState === WebSocket.CONNECTING) await once(this.socket, 'open')
    this.socket.send(JSON.stringify(command))
  }

  async next(): Promise<Frame> {
    for (;;) {
      const frame = this.frames.shift()
      if (frame !== undefined) return frame
      await new Promise<void>((resolve) => (this.wake = resolve))
    }
  }
}

describe('the WebSocket API', { timeout: 600_000 }, () => {
  let millrace: RunningMillrace
  let tenant: RestClient
  let token: string
  let entityId: string
  const sockets: Subscriber[] = []

  before(async () => {
    millrace = await startMillrace()
    token = await login(millrace)
    tenant = new RestClient(millrace, token)
    entityId = await tenant.createDevice('watched', 'WATCHED_TOKEN')
    await tenant.expect('POST', `${path()}/timeseries/ANY`, { ts: T, values: { a: 1, b: 'x' } })
    await tenant.expect('POST', `${path()}/SHARED_SCOPE`, { mode: 'eco' })
  })
  after(async () => {
    for (const { socket } of sockets) socket.terminate()
    await millrace.stop()
  })

  const path = (): string => `/api/plugins/telemetry/DEVICE/${entityId}`
  const open = (where: string): Subscriber => {
    const subscriber = new Subscriber(millrace.url.replace('http', 'ws') + where)
    sockets.push(subscriber)
    return subscriber
  }
  const loggedIn = async (jwt = token): Promise<Subscriber> => {
    const subscriber = open('/api/ws')
    await subscriber.send({ authCmd: { cmdId: 0, token: jwt } })
    return subscriber
  }
  const subscription = (cmdId: number, extra: object = {}) => ({
    cmds: [
      { type: 'TIMESERIES', cmdId, entityType: 'DEVICE', entityId, scope: 'LATEST_TELEMETRY', keys: 'a', ...extra },
    ],
  })

  test('shows the latest values, then each new one, until unsubscribed', async () => {
    const subscriber = await loggedIn()
    await subscriber.send(subscription(1))
    assert.deepEqual((await subscriber.next()).data, { a: [[T, '1']] })
    await tenant.expect('POST', `${path()}/timeseries/ANY`, { ts: T + 1, values: { a: 2, other: 5 } })
    const update = await subscriber.next()
    assert.deepEqual([update.subscriptionId, update.errorCode, update.data], [1, 0, { a: [[T + 1, '2']] }])
    await subscriber.send(subscription(1, { unsubscribe: true }))
    // An answer to a later command proves that the unsubscription was read before the next point came.
    await subscriber.send(subscription(2, { keys: 'b' }))
    assert.equal((await subscriber.next()).subscriptionId, 2)
    await tenant.expect('POST', `${path()}/timeseries/ANY`, { ts: T + 2, values: { a: 3, b: 'y' } })
    assert.deepEqual(await subscriber.next().then(({ subscriptionId, data }) => ({ subscriptionId, data })), {
      subscriptionId: 2,
      data: { b: [[T + 2, 'y']] },
    })
  })

  test('misses and doubles nothing between snapshot and updates, however they fall', async () => {
    const key = 'counter'
    const subscribers = await Promise.all(Array.from({ length: 5 }, () => loggedIn()))
    const last = 40
    const writing = (async () => {
      for (let value = 1; value <= last; value++) {
        await tenant.expect('POST', `${path()}/timeseries/ANY`, { ts: T + value, values: { [key]: value } })
      }
    })()
    const seen = subscribers.map(async (subscriber, index) => {
      await subscriber.send(subscription(10 + index, { keys: key }))
      const values: number[] = []
      while (values.at(-1) !== last) {
        const points = (await subscriber.next()).data?.[key] ?? []
        for (const [, value] of points.toReversed()) if (value !== null) values.push(Number(value))
      }
      return values
    })
    await writing
    for (const values of await Promise.all(seen)) {
      const first = values[0] ?? 0
      assert.deepEqual(
        values,
        Array.from({ length: last - first + 1 }, (_, index) => first + index),
      )
    }
  })

  test('answers history and attributes, and says which command was wrong', async () => {
    const subscriber = await loggedIn()
    const range = { startTs: T, endTs: T + 2, interval: 0, limit: 10, agg: 'NONE' }
    await subscriber.send({
      cmds: [{ type: 'TIMESERIES_HISTORY', cmdId: 4, entityType: 'DEVICE', entityId, keys: 'a', ...range }],
    })
    assert.deepEqual((await subscriber.next()).data, {
      a: [
        [T + 1, '2'],
        [T, '1'],
      ],
    })
    await subscriber.send({
      cmds: [{ type: 'ATTRIBUTES', cmdId: 5, entityType: 'DEVICE', entityId, scope: 'SHARED_SCOPE', keys: 'mode' }],
    })
    assert.equal((await subscriber.next()).data?.['mode']?.[0]?.[1], 'eco')
    await tenant.expect('POST', `${path()}/SHARED_SCOPE`, { mode: 'boost' })
    assert.equal((await subscriber.next()).data?.['mode']?.[0]?.[1], 'boost')
    const refusals: readonly (readonly [object, number, number])[] = [
      [{ cmds: [{ type: 'NOPE', cmdId: 8 }] }, 1, 2],
      [{ cmds: [{ type: 'TIMESERIES', cmdId: 7, entityType: 'DEVICE', keys: 'a' }] }, 7, 2],
      [subscription(6, { entityId: UNKNOWN_ID }), 6, 1],
    ]
    for (const [command, subscriptionId, errorCode] of refusals) {
      await subscriber.send(command)
      const frame = await subscriber.next()
      assert.deepEqual([frame.subscriptionId, frame.errorCode, frame.data], [subscriptionId, errorCode, null])
    }
  })

  test('refuses a customer user the devices of others', async () => {
    const subscriber = await loggedIn(await login(millrace, DEMO_CUSTOMER))
    await subscriber.send(subscription(1))
    const frame = await subscriber.next()
    assert.notEqual(frame.errorCode, 0)
    assert.equal(frame.data, null)
  })

  test('speaks the older envelope too, with the token in the address', async () => {
    const subscriber = open(`/api/ws/plugins/telemetry?token=${token}`)
    await subscriber.send({
      tsSubCmds: [{ entityType: 'DEVICE', entityId, scope: 'LATEST_TELEMETRY', cmdId: 10, keys: 'b' }],
    })
    const frame = await subscriber.next()
    assert.deepEqual([frame.subscriptionId, frame.data], [10, { b: [[T + 2, 'y']] }])
  })

  test('closes who does not log in, or with a bad token', async () => {
    const silent = open('/api/ws')
    await silent.send(subscription(1))
    await once(silent.socket, 'close')
    const bad = open('/api/ws')
    await bad.send({ authCmd: { cmdId: 0, token: 'nope' } })
    await once(bad.socket, 'close')
    const [code] = (await once(open('/api/ws/plugins/telemetry?token=bad').socket, 'close')) as [number]
    assert.equal(code, 1011)
  })
})
