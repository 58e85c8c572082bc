/** Sessions that outlive the process: two transports over one store, of which one is gone, or lives and has an old state. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { KeptSessionRow, KeptSessionVersion } from '../../model/kept-session.ts'
import { STANDARD_MQTT, type KeptSessionStore } from '../../engine/device/gateway.ts'
import { SLOWNESS } from '../../test/support/slowness.ts'
import { deviceNamed } from '../testkit.ts'
import { HOUR, connect, leave } from './kept-sessions.testkit.ts'
import { openMqttBench, type MqttBench, type RawClient } from './testkit.ts'

const ATTRIBUTES = 'v1/devices/me/attributes'
const CALLS = 'v1/devices/me/rpc/request/+'
const OVERTAKEN = new Error('overtaken')

/** As the real one is, at once. */
class FakeStore implements KeptSessionStore {
  readonly waiting = 0
  readonly rows = new Map<string, KeptSessionRow>()
  saves = 0
  finds = 0
  /** Of what is to be removed whoever has it. */
  wishes = 0
  fails = false
  /** Says nothing to who asks. */
  isSilent = false
  /** Of the saves that are held, what lets each go on. */
  held: (() => void)[] | undefined

  find(deviceId: string, clientId: string): Promise<KeptSessionRow | undefined> {
    this.finds++
    if (this.fails) return Promise.reject(new Error('away'))
    if (this.isSilent) return new Promise(() => undefined)
    return Promise.resolve(
      [...this.rows.values()].find((row) => row.deviceId === deviceId && row.clientId === clientId),
    )
  }

  async save(row: KeptSessionRow): Promise<void> {
    this.saves++
    if (this.held !== undefined) await new Promise<void>((resolve) => this.held?.push(resolve))
    if (this.fails) throw new Error('away')
    if (row.version > 1 && this.rows.get(row.id)?.version !== row.version - 1) throw OVERTAKEN
    if (row.version === 1) this.removeAllOf(row.deviceId, row.clientId)
    this.rows.set(row.id, row)
  }

  isOvertaken(error: unknown): boolean {
    return error === OVERTAKEN
  }

  findOvertaken(rows: readonly KeptSessionVersion[]): Promise<readonly KeptSessionVersion[]> {
    if (this.fails) return Promise.reject(new Error('away'))
    return Promise.resolve(rows.filter(({ id, version }) => (this.rows.get(id)?.version ?? Infinity) > version))
  }

  remove({ id, version }: KeptSessionRow): void {
    if (this.rows.get(id)?.version === version) this.rows.delete(id)
  }

  removeOf(deviceId: string, clientId: string): void {
    this.wishes++
    this.removeAllOf(deviceId, clientId)
  }

  private removeAllOf(deviceId: string, clientId: string): void {
    for (const row of this.rows.values())
      if (row.deviceId === deviceId && row.clientId === clientId) this.rows.delete(row.id)
  }

  renew(rows: readonly KeptSessionRow[], from: number): void {
    this.change(rows, (row) => ({ ...row, expiresTime: from + row.expirySeconds * 1000 }))
  }

  told(rows: readonly KeptSessionRow[], toldTime: number): void {
    this.change(rows, (row) => ({ ...row, toldTime }))
  }

  private change(rows: readonly KeptSessionRow[], change: (row: KeptSessionRow) => KeptSessionRow): void {
    for (const { id, version } of rows) {
      const row = this.rows.get(id)
      if (row?.version === version) this.rows.set(id, change(row))
    }
  }
}

async function twoProcesses(run: (a: MqttBench, b: MqttBench, store: FakeStore) => Promise<void>): Promise<void> {
  const store = new FakeStore()
  const a = await openMqttBench({}, store)
  const b = await openMqttBench({}, store)
  try {
    await run(a, b, store)
    assert.deepEqual([...a.logged, ...b.logged], [])
  } finally {
    await a.close()
    await b.close()
  }
}

async function subscribe(device: RawClient, ...filters: readonly string[]): Promise<void> {
  device.send({ cmd: 'subscribe', messageId: 1, subscriptions: filters.map((topic) => ({ topic, qos: 1 })) })
  await device.received(1)
  device.packets.length = 0
}

function change({ gateway }: MqttBench, value: number): void {
  for (const { subscribed, listener } of gateway.sessions)
    if (subscribed) listener.sharedAttributesChanged({ kind: 'updated', entries: [{ key: 'a', type: 'LONG', value }] })
}

async function connectV4({ client }: MqttBench, clean = false): Promise<{ device: RawClient; isPresent: boolean }> {
  const device = await client(4)
  device.send(device.connectPacket('one', { clean }))
  await device.received(1)
  const [connack] = device.packets.splice(0, 1)
  assert.ok(connack?.cmd === 'connack' && connack.returnCode === 0)
  return { device, isPresent: connack.sessionPresent }
}

describe('MQTT sessions that outlive their process', { timeout: 120_000 * SLOWNESS }, () => {
  it('go on at another one, which tells what changed since', () =>
    twoProcesses(async (a, b) => {
      const first = await connect(a, HOUR)
      await subscribe(first.device, ATTRIBUTES, CALLS)
      const since = a.clock.now()
      const second = await connect(b, HOUR)
      assert.equal(second.isPresent, true)
      assert.equal(b.transport.figures().restoredSessions, 1)
      const [own] = [...b.gateway.sessions].filter(({ kind }) => kind === 'lasting')
      const [kept] = [...b.gateway.sessions].filter(({ kind }) => kind === 'brief')
      assert.deepEqual([own?.listening, kept?.since], ['all', since])
      change(b, 7)
      const [push] = await second.device.received(1)
      assert.deepEqual(push?.cmd === 'publish' && [push.topic, String(push.payload), push.qos], [
        ATTRIBUTES,
        '{"a":7}',
        1,
      ])
    }))

  it('of MQTT 3.1.1 go on too, and are over where it is clean', () =>
    twoProcesses(async (a, b, store) => {
      const first = await connectV4(a)
      assert.equal(first.isPresent, false)
      await subscribe(first.device, ATTRIBUTES)
      const second = await connectV4(b)
      assert.equal(second.isPresent, true)
      change(b, 1)
      await second.device.received(1)
      assert.equal((await connectV4(a, true)).isPresent, false)
      assert.equal(store.rows.size, 0)
      assert.equal((await connectV4(b)).isPresent, false)
    }))

  it('are in the store before the client is told that it has subscribed', () =>
    twoProcesses(async (a, _, store) => {
      const { device } = await connect(a, HOUR)
      store.held = []
      device.send({ cmd: 'subscribe', messageId: 1, subscriptions: [{ topic: CALLS, qos: 1 }] }, { cmd: 'pingreq' })
      const [first] = await device.received(1)
      assert.deepEqual([first?.cmd, store.saves, store.rows.size], ['pingresp', 1, 0])
      const [own] = [...a.gateway.sessions].filter(({ kind }) => kind === 'lasting')
      assert.equal(own?.listening, undefined)
      for (const go of store.held) go()
      assert.equal((await device.received(2))[1]?.cmd, 'suback')
      assert.equal(own?.listening, 'all')
      assert.equal(store.rows.size, 1)
    }))

  it('which can not be written end with their connection, which goes on', () =>
    twoProcesses(async (a, _, store) => {
      const { device } = await connect(a, HOUR, true)
      await subscribe(device, ATTRIBUTES)
      store.fails = true
      await subscribe(device, CALLS)
      const [own] = [...a.gateway.sessions].filter(({ kind }) => kind === 'lasting')
      assert.equal(own?.listening, 'all')
      change(a, 1)
      assert.equal((await device.received(1))[0]?.cmd, 'publish')
      await leave(a, device)
      store.fails = false
      assert.equal((await connect(a, HOUR)).isPresent, false)
      assert.equal(store.rows.size, 0)
    }))

  it('are over for who comes while the store does not answer, and who is told so', () =>
    twoProcesses(async (a, b, store) => {
      const first = await connect(a, HOUR)
      await subscribe(first.device, ATTRIBUTES)
      await leave(a, first.device)
      store.fails = true
      for (const bench of [a, b]) {
        const { device, isPresent, expiry } = await connect(bench, HOUR)
        assert.deepEqual([isPresent, expiry], [false, 0])
        await subscribe(device, ATTRIBUTES)
        await leave(bench, device, { cmd: 'disconnect', reasonCode: 0, properties: { sessionExpiryInterval: HOUR } })
        await device.end()
        assert.deepEqual(device.packets, [])
        assert.equal((await connectV4(bench)).isPresent, false)
      }
      store.fails = false
      assert.equal((await connect(a, HOUR)).isPresent, false)
      assert.equal(store.rows.size, 0)
    }))

  it('are waited for ten seconds', () =>
    twoProcesses(async (a, _, store) => {
      store.isSilent = true
      const device = await a.client(5)
      device.send(device.connectPacket('one', { clean: false }), { cmd: 'pingreq' })
      while (store.finds === 0) await new Promise(setImmediate)
      a.clock.advance(10_000)
      const [connack, answer] = await device.received(2)
      assert.deepEqual(connack?.cmd === 'connack' && [connack.reasonCode, connack.sessionPresent], [0, false])
      assert.equal(answer?.cmd, 'pingresp')
    }))

  it('that are not written within five seconds end with their connection, and a client that subscribes is told by then', () =>
    twoProcesses(async (a, _, store) => {
      const { device } = await connect(a, HOUR)
      await subscribe(device, ATTRIBUTES)
      store.held = []
      device.send({ cmd: 'subscribe', messageId: 2, subscriptions: [{ topic: CALLS, qos: 1 }] })
      while (store.held.length === 0) await new Promise(setImmediate)
      a.clock.advance(4999)
      device.send({ cmd: 'pingreq' })
      assert.equal((await device.received(1))[0]?.cmd, 'pingresp')
      a.clock.advance(1)
      const [, suback] = await device.received(2)
      assert.deepEqual(suback?.cmd === 'suback' && suback.granted, [1])
      const [own] = [...a.gateway.sessions].filter(({ kind }) => kind === 'lasting')
      assert.deepEqual([own?.listening, own?.subscribed], ['all', true])
      // What comes of it later is not what the client was told.
      for (const go of store.held) go()
      device.send({ cmd: 'pingreq' })
      assert.deepEqual(
        (await device.received(3)).map(({ cmd }) => cmd),
        ['pingresp', 'suback', 'pingresp'],
      )
      assert.equal(store.rows.size, 0)
      store.held = undefined
      assert.equal((await connect(a, HOUR)).isPresent, false)
    }))

  it('that another process has take no room here', () =>
    twoProcesses(async (a, b, store) => {
      const kept = () => [a, b].map(({ transport }) => transport.figures().keptSessions)
      const first = await connect(a, HOUR)
      await subscribe(first.device, ATTRIBUTES)
      const second = await connect(b, HOUR)
      assert.deepEqual(kept(), [1, 1])
      // Its connection is the directory's to end.
      await leave(a, first.device)
      a.clock.advance(1000)
      await new Promise(setImmediate)
      assert.deepEqual(kept(), [0, 1])
      await leave(b, second.device)
      b.clock.advance(1000)
      await new Promise(setImmediate)
      assert.deepEqual(kept(), [0, 1])
      // It was away already when its client came elsewhere.
      const third = await connect(a, HOUR)
      assert.equal(third.isPresent, true)
      store.fails = true
      b.clock.advance(60_000)
      await new Promise(setImmediate)
      assert.deepEqual(kept(), [1, 1])
      store.fails = false
      b.clock.advance(60_000)
      await new Promise(setImmediate)
      assert.deepEqual(kept(), [1, 0])
    }))

  it('that their client ends are gone, though a write was to come', () =>
    twoProcesses(async (a, _, store) => {
      const { device } = await connect(a, HOUR)
      await subscribe(device, ATTRIBUTES)
      device.send(
        { cmd: 'subscribe', messageId: 2, subscriptions: [{ topic: CALLS, qos: 1 }] },
        { cmd: 'disconnect', reasonCode: 0, properties: { sessionExpiryInterval: 0 } },
      )
      await device.end()
      assert.equal(store.rows.size, 0)
    }))

  it('are nothing to a client whose id is too long for one, nor asked for twice', () =>
    twoProcesses(async (a, _, store) => {
      const clientId = 'x'.repeat(257)
      for (const clean of [true, false]) {
        const { isPresent, expiry } = await connect(a, HOUR, clean, { clientId })
        assert.deepEqual([isPresent, expiry, store.finds, store.wishes], [false, 0, 0, 0])
      }
      for (const expiry of [HOUR, undefined]) await connect(a, expiry, false, { clientId: String(expiry) })
      assert.deepEqual([store.finds, store.wishes], [2, 0])
    }))

  it('with longer subscriptions than one may keep end with the connection', () =>
    twoProcesses(async (a, _, store) => {
      const mqtt = { ...STANDARD_MQTT, attributesSubscribeTopic: '#' }
      a.gateway.become('one', { ...deviceNamed('one'), mqtt })
      const { device } = await connect(a, HOUR)
      await subscribe(device, 'x'.repeat(16_000))
      assert.equal(store.rows.size, 1)
      await subscribe(device, 'x'.repeat(17_000))
      assert.equal(store.rows.size, 0)
      assert.equal((await connect(a, HOUR)).isPresent, false)
    }))

  it('that another process has had since are not what they were here', () =>
    twoProcesses(async (a, b) => {
      const first = await connect(a, HOUR)
      await subscribe(first.device, ATTRIBUTES)
      await leave(a, first.device)
      const second = await connect(b, HOUR)
      second.device.send({ cmd: 'unsubscribe', messageId: 2, unsubscriptions: [ATTRIBUTES] })
      await second.device.received(1)
      await subscribe(second.device, CALLS)
      await leave(b, second.device)
      change(a, 1)
      const third = await connect(a, HOUR)
      assert.equal(third.isPresent, true)
      const [own] = [...a.gateway.sessions].filter(({ kind }) => kind === 'lasting')
      assert.equal(own?.listening, 'all')
      change(a, 2)
      third.device.send({ cmd: 'pingreq' })
      assert.deepEqual(
        (await third.device.received(1)).map(({ cmd }) => cmd),
        ['pingresp'],
      )
    }))

  it('ended elsewhere are gone here', () =>
    twoProcesses(async (a, b, store) => {
      const first = await connect(a, HOUR)
      await subscribe(first.device, ATTRIBUTES)
      await leave(a, first.device)
      await leave(b, (await connect(b, HOUR, true)).device)
      assert.equal(store.rows.size, 0)
      assert.equal((await connect(a, HOUR)).isPresent, false)
    }))

  it('a process writes no longer what another has taken over', () =>
    twoProcesses(async (a, b, store) => {
      const first = await connect(a, HOUR)
      await subscribe(first.device, ATTRIBUTES)
      await connect(b, HOUR)
      first.device.send({ cmd: 'subscribe', messageId: 2, subscriptions: [{ topic: CALLS, qos: 1 }] })
      await first.device.end()
      const last = first.device.packets.at(-1)
      assert.equal(last?.cmd === 'disconnect' && last.reasonCode, 0x8e)
      assert.deepEqual(
        [...store.rows.values()].map(({ version, subscriptions }) => [version, subscriptions]),
        [[2, `[["${ATTRIBUTES}",1]]`]],
      )
    }))

  it('are no other device’s, whatever its client id', () =>
    twoProcesses(async (a, b) => {
      const first = await connect(a, HOUR)
      await subscribe(first.device, ATTRIBUTES)
      assert.equal((await connect(b, HOUR, false, { token: 'foreign' })).isPresent, false)
      assert.equal((await connect(b, HOUR, false, { token: 'two' })).isPresent, false)
      assert.equal((await connect(b, HOUR)).isPresent, true)
    }))

  it('have their time from when their client went, or their process was last heard', () =>
    twoProcesses(async (a, _, store) => {
      const { device } = await connect(a, HOUR)
      await subscribe(device, ATTRIBUTES)
      const times = () => {
        const [row] = store.rows.values()
        return row && [row.toldTime - a.clock.now(), row.expiresTime - a.clock.now() - HOUR * 1000]
      }
      a.clock.advance(60_000)
      assert.deepEqual(times(), [0, 120_000])
      await leave(a, device)
      const left = a.clock.now()
      a.clock.advance(1000)
      const [row] = store.rows.values()
      assert.deepEqual([row?.toldTime, row?.expiresTime], [left, left + 1000 + HOUR * 1000])
    }))

  it('have their time anew when their client is back', () =>
    twoProcesses(async (a, _, store) => {
      const first = await connect(a, 30)
      await subscribe(first.device, ATTRIBUTES)
      await leave(a, first.device)
      a.clock.advance(20_000)
      await connect(a, 30)
      a.clock.advance(1000)
      const [row] = store.rows.values()
      assert.equal(row && row.expiresTime - a.clock.now(), 150_000)
    }))

  it('have not told what waits for a client that comes for another time', () =>
    twoProcesses(async (a, _, store) => {
      const first = await connect(a, HOUR)
      await subscribe(first.device, ATTRIBUTES)
      await leave(a, first.device)
      const left = a.clock.now()
      a.clock.advance(1000)
      change(a, 1)
      a.clock.advance(1000)
      const { device } = await connect(a, HOUR / 2)
      await device.received(1)
      const [row] = store.rows.values()
      assert.deepEqual([row?.expirySeconds, row?.toldTime], [HOUR / 2, left])
    }))

  it('tell again what their client has not acknowledged', () =>
    twoProcesses(async (a, _, store) => {
      const { device } = await connect(a, HOUR)
      await subscribe(device, ATTRIBUTES)
      const [before] = store.rows.values()
      change(a, 1)
      await device.received(1)
      a.clock.advance(60_000)
      assert.equal([...store.rows.values()][0]?.toldTime, before?.toldTime)
    }))

  it('have told nothing new where their client left before it acknowledged', () =>
    twoProcesses(async (a, _, store) => {
      const { device } = await connect(a, HOUR)
      await subscribe(device, ATTRIBUTES)
      const [before] = store.rows.values()
      a.clock.advance(1000)
      change(a, 1)
      await device.received(1)
      await leave(a, device)
      a.clock.advance(1000)
      assert.equal([...store.rows.values()][0]?.toldTime, before?.toldTime)
    }))

  it('have not told at once what changed while they were elsewhere', () =>
    twoProcesses(async (a, b, store) => {
      const told = () => [...store.rows.values()][0]?.toldTime
      await subscribe((await connect(a, HOUR)).device, ATTRIBUTES)
      const before = told()
      b.clock.advance(5000)
      await leave(b, (await connect(b, HOUR)).device)
      b.clock.advance(1000)
      assert.equal(told(), before)
      await connect(b, HOUR)
      b.clock.advance(60_000)
      assert.equal(told(), (before ?? 0) + 65_000)
    }))

  it('stay in the store where the gateway ends them as the process stops, and for no other reason', () =>
    twoProcesses(async (a, _, store) => {
      for (const [reason, rows] of [
        ['SHUTDOWN', 1],
        ['CREDENTIALS_CHANGED', 0],
      ] as const) {
        await subscribe((await connect(a, HOUR, true)).device, ATTRIBUTES)
        for (const { kind, listener } of [...a.gateway.sessions]) if (kind === 'brief') listener.closed(reason)
        await new Promise(setImmediate)
        assert.equal(store.rows.size, rows)
      }
    }))

  it('stay in the store when their process stops, and cost a client with a clean session nothing', () =>
    twoProcesses(async (a, b, store) => {
      const first = await connect(a, HOUR)
      await subscribe(first.device, ATTRIBUTES)
      await leave(a, first.device)
      await a.transport.close()
      assert.equal(store.rows.size, 1)
      const { finds, saves } = store
      store.held = []
      await (await b.client(5)).login('two', { clientId: 'other' })
      assert.deepEqual([store.finds, store.saves], [finds, saves])
    }))
})
