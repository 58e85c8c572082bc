/** The endpoints over real sockets: what a handler alone cannot show. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { after, before, describe, test } from 'node:test'
import { WebSocket } from 'ws'
import type { Clock } from '../../model/clock.ts'
import { systemClock } from '../../model/system-clock.ts'
import { UwsServer } from '../../server/uws.ts'
import { NO_PROFILE } from './profile-limits.ts'
import { registerWebSocketApi, type WebSocketApi } from './register.ts'
import { DEVICE, point, PRINCIPAL, TestErrors, TestLog, TestStore, settled } from './testkit.ts'

/** Nothing here ends because its time is over. */
const TIMELESS: Clock = {
  now: () => systemClock.now(),
  monotonic: () => systemClock.monotonic(),
  soon: (run) => systemClock.soon(run),
  after: () => ({ cancel: () => undefined }),
}

const store = new TestStore()
const withdrawn = new Set<string>()
const server = new UwsServer({
  maxBodyBytes: 1000,
  drainTimeoutMs: 1000,
  onHandlerError: (error) => assert.fail(String(error)),
})
let api: WebSocketApi
let url = ''

before(async () => {
  api = registerWebSocketApi({
    server,
    services: store.services,
    feed: store.feed,
    clock: TIMELESS,
    log: new TestLog(),
    limits: { strangers: 3 },
    authenticate: async (token) => {
      if (token !== 'good') throw TestErrors.NO_TOKEN()
      return { principal: PRINCIPAL, sessionId: token, issuedAt: 0 }
    },
    loginByApiKey: async () => assert.fail('nobody shows a key here'),
    limitsOf: async () => NO_PROFILE,
    updatesRefused: () => undefined,
    stillHolds: async ({ sessionId }) => !withdrawn.has(sessionId),
  })
  url = `ws://127.0.0.1:${await server.listen('127.0.0.1', 0)}`
})
after(async () => {
  await api.close()
  await server.close()
})

async function open(path: string): Promise<WebSocket> {
  const socket = new WebSocket(url + path)
  await once(socket, 'open')
  return socket
}

async function closing(socket: WebSocket): Promise<{ readonly code: unknown; readonly reason: string }> {
  const [code, reason] = (await once(socket, 'close')) as [number, Buffer]
  return { code, reason: reason.toString() }
}

async function frame(socket: WebSocket): Promise<unknown> {
  const [text] = (await once(socket, 'message')) as [Buffer]
  return JSON.parse(text.toString())
}

const target = { entityType: 'DEVICE', entityId: DEVICE.id }

describe('WebSocket endpoints', () => {
  test('issue-8 2.4: a socket is closed with 1008 when its session ends or its user’s tokens are withdrawn', async () => {
    const entity = { entityType: 'USER', id: PRINCIPAL.userId } as const
    const socket = await open('/api/ws?token=good')
    socket.send(JSON.stringify({ cmds: [{ type: 'TIMESERIES', cmdId: 1, ...target, keys: 'other' }] }))
    await frame(socket)
    // Another session of the user, and a user whose tokens are as good as before.
    withdrawn.add('good')
    store.feed.publish({ kind: 'session-ended', entity, sessionId: 'another', until: 0 })
    store.feed.publish({ kind: 'user-tokens-withdrawn', entity: { entityType: 'USER', id: DEVICE.id } })
    await settled()
    assert.equal(socket.readyState, WebSocket.OPEN)
    for (const change of [
      { kind: 'session-ended', entity, sessionId: 'good', until: 0 },
      { kind: 'user-tokens-withdrawn', entity },
    ] as const) {
      withdrawn.clear()
      const open = change.kind === 'session-ended' ? socket : await opened()
      withdrawn.add('good')
      const closed = closing(open)
      store.feed.publish(change)
      assert.deepEqual(await closed, { code: 1008, reason: 'The login was withdrawn' })
    }
    withdrawn.clear()

    async function opened(): Promise<WebSocket> {
      const next = await open('/api/ws?token=good')
      next.send(JSON.stringify({ cmds: [{ type: 'TIMESERIES', cmdId: 1, ...target, keys: 'other' }] }))
      await frame(next)
      return next
    }
  })

  test('issue-8 2.10: sessions that never log in give way to new ones', { timeout: 20_000 }, async () => {
    const silent = [await open('/api/ws'), await open('/api/ws'), await open('/api/ws')]
    const first = closing(silent[0] ?? assert.fail())
    const socket = await open('/api/ws?token=good')
    assert.deepEqual(await first, { code: 1008, reason: 'Auth cmd is missing' })
    assert.equal(silent[1]?.readyState, WebSocket.OPEN)
    for (const each of [...silent.slice(1), socket]) {
      each.close()
      await once(each, 'close')
    }
  })

  test('issue-8 2.4: a gap in the changes has every login looked at again', async () => {
    const socket = await open('/api/ws?token=good')
    socket.send(JSON.stringify({ cmds: [{ type: 'TIMESERIES', cmdId: 1, ...target, keys: 'other' }] }))
    await frame(socket)
    withdrawn.add('good')
    const closed = closing(socket)
    store.feed.gap()
    assert.equal((await closed).code, 1008)
    withdrawn.clear()
  })

  test('/api/ws serves a session from authCmd to update and unsubscribe', async () => {
    const socket = await open('/api/ws')
    socket.send(
      JSON.stringify({
        authCmd: { cmdId: 0, token: 'good' },
        cmds: [{ type: 'TIMESERIES', cmdId: 1, ...target, keys: 't' }],
      }),
    )
    const first = (await frame(socket)) as { data: { t: [number, unknown][] } }
    assert.equal(first.data.t[0]?.[1], null)
    const next = frame(socket)
    store.save(point('t', 5, 20))
    assert.deepEqual(await next, {
      subscriptionId: 1,
      errorCode: 0,
      errorMsg: null,
      data: { t: [[5, '20']] },
      latestValues: { t: 5 },
    })
    const { sessions, subscriptions } = api.figures()
    assert.deepEqual({ sessions, subscriptions }, { sessions: 1, subscriptions: 1 })
    const gone = closing(socket)
    socket.close(1000)
    await gone
    while (api.figures().sessions > 0) await new Promise((resolve) => setImmediate(resolve))
    assert.equal(store.feed.hasListeners(DEVICE, 'telemetry'), false)
  })

  test('/api/ws and /api/ws/plugins/telemetry take the token of the URL', async () => {
    for (const [path, command] of [
      ['/api/ws', { cmds: [{ type: 'ATTRIBUTES', cmdId: 2, ...target }] }],
      ['/api/ws/plugins/telemetry', { attrSubCmds: [{ cmdId: 2, ...target }], tsSubCmds: [], historyCmds: [] }],
    ] as const) {
      const socket = await open(`${path}?token=good`)
      socket.send(JSON.stringify(command))
      assert.deepEqual(await frame(socket), {
        subscriptionId: 2,
        errorCode: 0,
        errorMsg: null,
        data: {},
        latestValues: {},
      })
      socket.terminate()
    }
  })

  test('a bad token in the URL is told by a close with 1011', async () => {
    assert.deepEqual(await closing(new WebSocket(`${url}/api/ws/plugins/telemetry?token=bad`)), {
      code: 1011,
      reason: 'Invalid JWT token: ',
    })
  })

  test('the old endpoint without a token closes with 1008 at the first message', async () => {
    const socket = await open('/api/ws/plugins/telemetry')
    socket.send('{"tsSubCmds":[]}')
    assert.deepEqual(await closing(socket), { code: 1008, reason: 'Auth cmd is missing' })
  })

  test('other paths below /api/ws close with 1007', async () => {
    for (const path of ['/api/ws/', '/api/ws/plugins/other', '/api/ws/x?token=good']) {
      assert.deepEqual(await closing(new WebSocket(url + path)), { code: 1007, reason: 'Unknown session type' })
    }
  })

  test('a text of 32,768 bytes passes and a longer one closes with 1009', async () => {
    const socket = await open('/api/ws?token=good')
    const frameOf = (size: number): string => `{"cmds":[]}`.padEnd(size, ' ')
    socket.send(frameOf(32_768))
    socket.send('not JSON')
    assert.equal(((await frame(socket)) as { errorMsg: string }).errorMsg, 'Failed to parse the payload')
    socket.send(frameOf(32_769))
    assert.equal((await closing(socket)).code, 1009)
  })

  test('a reason in letters of several bytes is cut to what a close frame carries', async () => {
    const socket = await open('/api/ws')
    socket.send('ü'.repeat(200))
    const { code, reason } = await closing(socket)
    assert.equal(code, 1007)
    assert.ok(reason.startsWith('The given string value') && Buffer.byteLength(reason) <= 123)
  })

  test('closing tells every client with 1001 and may be repeated', async () => {
    const socket = await open('/api/ws?token=good')
    const gone = closing(socket)
    await api.close()
    await api.close()
    assert.deepEqual(await gone, { code: 1001, reason: 'Server is stopping' })
  })
})
