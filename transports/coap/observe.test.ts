import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { FakeGateway, FakeSession } from '../testkit.ts'
import { bench, shown } from './testkit.ts'

const GET = '0.01'
const attributes = (observe: number, token = 'a1') => ({ path: '/api/v1/one/attributes', code: GET, observe, token })
const calls = (observe: number, token = 'c1') => ({ path: '/api/v1/one/rpc', code: GET, observe, token })

function lasting(gateway: FakeGateway): FakeSession {
  const session = [...gateway.sessions].find(({ kind }) => kind !== 'brief')
  assert.ok(session !== undefined, 'no session lasts')
  return session
}

const target = (value: number) => ({ kind: 'updated', entries: [{ key: 'target', type: 'LONG', value }] }) as const

describe('CoAP observers', () => {
  it('of attributes get all shared ones, flat, then each change in order', () =>
    bench(async ({ gateway, client }) => {
      const device = await client()
      gateway.answer = { client: [], shared: target(1).entries }
      const first = await device.ask(attributes(0))
      assert.deepEqual([first.code, first.text, first.observe, first.format], ['2.05', '{"target":1}', 1, 50])
      const session = lasting(gateway)
      assert.equal(session.subscribed, true)
      session.listener.sharedAttributesChanged(target(2))
      session.listener.sharedAttributesChanged({ kind: 'deleted', keys: ['target'] })
      const second = await device.message(1)
      assert.deepEqual([shown(second).type, shown(second).text, shown(second).observe], ['CON', '{"target":2}', 2])
      assert.equal(device.messages.length, 2)
      device.reply('ACK', second.id)
      const third = shown(await device.message(2))
      assert.deepEqual([third.text, third.observe], ['{"deleted":["target"]}', 3])
    }))

  it('of calls get them, and say that they have them', () =>
    bench(async ({ gateway, client }) => {
      const device = await client()
      const begun = await device.ask(calls(0))
      assert.deepEqual([begun.code, begun.observe, begun.text], ['2.03', 1, ''])
      const session = lasting(gateway)
      assert.equal(session.listening, 'all')
      session.listener.called?.({ id: 7, method: 'set', params: '{"on":true}' })
      const call = await device.message(1)
      assert.equal(shown(call).text, '{"id":7,"method":"set","params":{"on":true}}')
      assert.deepEqual(session.deliveries, [[7, 'SENT']])
      device.reply('ACK', call.id)
      await device.ask({ path: '/nowhere' })
      assert.deepEqual(session.deliveries, [
        [7, 'SENT'],
        [7, 'DELIVERED'],
      ])
    }))

  it('end by themselves, and the session with the last of them', () =>
    bench(async ({ gateway, client, transport }) => {
      const device = await client()
      await device.ask(attributes(0))
      await device.ask(calls(0))
      const session = lasting(gateway)
      await device.ask(attributes(1))
      assert.deepEqual([session.subscribed, gateway.sessions.has(session)], [false, true])
      assert.equal((await device.ask(calls(1))).code, '2.02')
      assert.deepEqual([gateway.sessions.has(session), transport.figures().observers], [false, 0])
    }))

  it('that refuse a message, or never acknowledge one, are gone', () =>
    bench(async ({ gateway, client, clock, transport }) => {
      const device = await client()
      await device.ask(attributes(0))
      lasting(gateway).listener.sharedAttributesChanged(target(2))
      device.reply('RST', (await device.message(1)).id)
      await device.ask({ path: '/nowhere' })
      assert.equal(transport.figures().observers, 0)
      await device.ask(attributes(0))
      lasting(gateway).listener.sharedAttributesChanged(target(3))
      clock.advance(100_000)
      assert.deepEqual([transport.figures().observers, transport.figures().lost], [0, 1])
    }))

  it('without confirmation get none, and may refuse', () =>
    bench(async ({ gateway, client, transport }) => {
      const device = await client()
      await device.ask({ ...calls(0), type: 'NON' })
      const session = lasting(gateway)
      session.listener.called?.({ id: 1, method: 'm', params: '1' })
      const call = await device.message(1)
      assert.equal(call.type, 'NON')
      assert.deepEqual(session.deliveries.at(-1), [1, 'DELIVERED'])
      device.reply('RST', call.id)
      await device.ask({ path: '/nowhere' })
      assert.equal(transport.figures().observers, 0)
    }))

  it('with another token take over, and the former is told', () =>
    bench(async ({ gateway, client }) => {
      const device = await client()
      await device.ask(attributes(0, 'a1'))
      device.send(attributes(0, 'b2'))
      const [told, answer] = [await device.message(1), await device.message(2)]
      assert.deepEqual([told.token.toString('hex'), told.code, told.type], ['a1', '2.02', 'CON'])
      assert.deepEqual([answer.token.toString('hex'), answer.code], ['b2', '2.05'])
      lasting(gateway).listener.sharedAttributesChanged(target(2))
      device.reply('ACK', told.id)
      assert.equal((await device.message(3)).token.toString('hex'), 'b2')
    }))

  it('that ask again with their token are answered anew', () =>
    bench(async ({ gateway, client }) => {
      const device = await client()
      await device.ask(attributes(0))
      assert.equal((await device.ask(attributes(0))).observe, 2)
      assert.equal([...gateway.sessions].filter(({ kind }) => kind !== 'brief').length, 1)
    }))

  it('are told how their session ended', () =>
    bench(async ({ gateway, client, transport }) => {
      const device = await client()
      await device.ask(attributes(0))
      const session = lasting(gateway)
      session.listener.closed('DEVICE_DELETED')
      const told = shown(await device.message(1))
      assert.deepEqual([told.code, told.observe, transport.figures().observers], ['4.04', undefined, 0])
    }))

  it('are told when the server stops, each, though nothing is acknowledged any more', () =>
    bench(async ({ client, transport }) => {
      const device = await client()
      await device.ask(attributes(0))
      await device.ask(calls(0))
      await transport.close()
      const told = [await device.message(2), await device.message(3)]
      assert.deepEqual(
        told.map(({ type, code, token }) => [type, code, token.toString('hex')]),
        [
          ['NON', '5.03', 'a1'],
          ['NON', '5.03', 'c1'],
        ],
      )
    }))

  it('of one tenant leave room for those of another', () =>
    bench(
      async ({ client }) => {
        const device = await client()
        assert.equal((await device.ask(attributes(0))).code, '2.05')
        assert.equal((await device.ask({ ...attributes(0), path: '/api/v1/two/attributes' })).code, '5.03')
        assert.equal((await device.ask({ ...attributes(0), path: '/api/v1/foreign/attributes' })).code, '2.05')
      },
      { maxObservers: 2, maxObserversPerTenant: 1 },
    ))

  it('whose queue is full are gone', () =>
    bench(
      async ({ gateway, client, transport }) => {
        const device = await client()
        await device.ask(attributes(0))
        const { listener } = lasting(gateway)
        for (let value = 0; value < 3; value++) listener.sharedAttributesChanged(target(value))
        assert.equal(transport.figures().observers, 1)
        listener.sharedAttributesChanged(target(9))
        assert.equal(transport.figures().observers, 0)
      },
      { maxQueuedMessages: 2 },
    ))
})
