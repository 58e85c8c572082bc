import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { defineErrors } from '../../model/errors.ts'
import type { Entry } from '../../model/value.ts'
import { SAME_UPLOAD } from './device-messages.ts'
import { CountingReceipt, identityOf, openGatewayBench } from './testkit.ts'

const Refusals = defineErrors('test', { FULL: { kind: 'retryable', status: 503, text: 'full' } })
const entries: readonly Entry[] = [{ key: 'a', type: 'DOUBLE', value: 2 }]

describe('device session', () => {
  it('publishes one message a group, to the root chain and Main unless the profile names others', async () => {
    const { directory, link, open, clock } = openGatewayBench()
    const chain = '00000000-0000-4000-8000-0000000000cc'
    directory.devices.set(
      'two',
      identityOf('two', { ruleChainId: chain, queueName: 'Slow', customerId: 'c', deviceType: 'thermometer' }),
    )
    const { session } = await open('one')
    const receipt = new CountingReceipt()
    session.postTelemetry([{ ts: 5, entries }], receipt)
    const other = await open('two', 'brief')
    other.session.postTelemetry([{ ts: undefined, entries, json: '{"a":2.0}' }], receipt)
    other.session.postAttributes(entries, receipt)
    await clock.settle()
    const messages = link.messages.filter(({ type }) => type.startsWith('POST_'))
    const [first, second, third] = messages
    assert.equal(first?.data, '{"a":2.0}')
    assert.deepEqual(first.metadata, { deviceName: 'one', deviceType: 'default', ts: '5' })
    assert.deepEqual([first.ts, first.ruleChainId, first.customerId], [clock.now(), undefined, undefined])
    assert.equal(first.entries(), entries)
    assert.equal(second?.metadata['ts'], undefined)
    assert.ok(second !== undefined && third !== undefined)
    assert.deepEqual([second.ruleChainId, second.customerId], [chain, 'c'])
    assert.deepEqual([first.queueName, second.queueName, third?.queueName], [undefined, 'Slow', 'Slow'])
    assert.equal(third?.type, 'POST_ATTRIBUTES_REQUEST')
    assert.deepEqual(third.metadata, { deviceName: 'two', deviceType: 'thermometer', notifyDevice: 'false' })
    assert.deepEqual(receipt.answers, ['stored', 'stored', 'stored'])
    assert.equal(new Set(messages.map(({ id }) => id)).size, 3)
    for (const { id } of messages) assert.match(id, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
  })

  it('leaves points without a time unstamped, and says which of them are of one upload', async () => {
    const { link, open, clock } = openGatewayBench()
    const { session } = await open('one')
    const receipt = new CountingReceipt()
    const untimed = { ts: undefined, entries }
    session.postTelemetry([untimed, { ts: 7, entries }, untimed], receipt)
    session.postTelemetry([untimed], receipt)
    await clock.settle()
    assert.deepEqual(
      link.ofType('POST_TELEMETRY_REQUEST').map(({ metadata }) => metadata['ts']),
      [undefined, '7', SAME_UPLOAD, undefined],
    )
  })

  it('answers an upload of many messages once: after the last, or at the first refusal', async () => {
    const { clock, link, open } = openGatewayBench()
    const { session } = await open('one', 'brief')
    link.holding = true
    const all = new CountingReceipt()
    const groups = [1, 2, 3].map((ts) => ({ ts, entries }))
    session.postTelemetry(groups, all)
    await clock.settle()
    for (const held of link.held.splice(0, 2)) held.stored()
    assert.deepEqual(all.answers, [])
    link.held.shift()?.stored()
    assert.deepEqual(all.answers, ['stored'])
    const refused = new CountingReceipt()
    session.postTelemetry(groups, refused)
    await clock.settle()
    link.held[0]?.stored()
    link.held[1]?.refused(Refusals.FULL())
    link.held[2]?.refused(Refusals.FULL())
    assert.deepEqual(refused.answers, ['test.FULL'])
    const none = new CountingReceipt()
    session.postTelemetry([], none)
    await clock.settle()
    assert.deepEqual(none.answers, ['stored'])
  })

  it('reads the attributes that are asked for, of the scopes that are asked', async () => {
    const { attributes, clock, open } = openGatewayBench()
    const { session } = await open('one')
    const entity = { entityType: 'DEVICE', id: session.device.deviceId } as const
    attributes.put(entity, 'CLIENT_SCOPE', { key: 'c', type: 'LONG', value: 1 })
    attributes.put(entity, 'SHARED_SCOPE', { key: 's', type: 'LONG', value: 2 })
    attributes.put(entity, 'SERVER_SCOPE', { key: 'x', type: 'LONG', value: 3 })
    const keys = async (clientKeys: readonly string[] | 'all' | undefined, sharedKeys: typeof clientKeys) => {
      const answer = session.requestAttributes({ clientKeys, sharedKeys })
      clock.turn()
      const { client, shared } = await answer
      return [client.map(({ key }) => key), shared.map(({ key }) => key)]
    }
    assert.deepEqual(await keys('all', 'all'), [['c'], ['s']])
    assert.deepEqual(await keys(['c', 'x', 's'], undefined), [['c'], []])
    attributes.fails = true
    await assert.rejects(keys('all', undefined), /store/)
  })

  it('takes nothing once it has ended', async () => {
    const { link, open } = openGatewayBench()
    const { session } = await open('one')
    session.close()
    session.close()
    const receipt = new CountingReceipt()
    session.postTelemetry([{ ts: 1, entries }], receipt)
    session.postAttributes(entries, receipt)
    assert.deepEqual(receipt.answers, ['device.SESSION_ENDED', 'device.SESSION_ENDED'])
    assert.deepEqual(link.messages, [])
  })

  it('issue-8: uploads, subscriptions and what the platform says have one order, and none waits for an upload to be stored', async () => {
    const { attributes, clock, feed, link, open } = openGatewayBench()
    const { session, listener } = await open('one')
    await clock.settle()
    const entity = { entityType: 'DEVICE', id: session.device.deviceId } as const
    attributes.put(entity, 'SHARED_SCOPE', { key: 's', type: 'LONG', value: 2 })
    link.holding = true
    const receipt = new CountingReceipt()
    const before = link.messages.length
    session.postTelemetry([{ ts: 1, entries }], receipt)
    session.subscribeToSharedAttributes()
    feed.publish({
      kind: 'attributes',
      entity,
      sequence: 1,
      scope: 'SHARED_SCOPE',
      attributes: [{ key: 'pushed', type: 'LONG', value: 1, lastUpdateTs: 1 }],
    })
    session.postAttributes(entries, receipt)
    const answer = session.requestAttributes({ clientKeys: undefined, sharedKeys: 'all' })
    session.postTelemetry([{ ts: 2, entries }], receipt)
    session.close()
    assert.equal(link.messages.length, before, 'nothing is done inside the call of a transport')
    clock.turn()
    const types = link.messages.slice(before).map(({ type, metadata }) => metadata['ts'] ?? type)
    assert.deepEqual(types, ['1', 'POST_ATTRIBUTES_REQUEST', '2'], 'what was sent before the close is published')
    assert.equal((await answer).shared.length, 1)
    assert.deepEqual(listener.updates, [], 'told on the turn, and the session had been closed by then')
    assert.deepEqual(receipt.answers, [])
  })

  it('issue-8: a session that throws at a change of attributes is ended, and the others of the device are told', async () => {
    const { clock, failures, feed, open } = openGatewayBench({ maxSessionsPerDevice: 2 })
    const broken = await open('one')
    const whole = await open('one')
    broken.listener.sharedAttributesChanged = () => {
      throw new Error('a bug')
    }
    for (const { session } of [broken, whole]) session.subscribeToSharedAttributes()
    await clock.settle()
    const entity = { entityType: 'DEVICE', id: identityOf('one').deviceId } as const
    const attributes = [{ key: 'a', type: 'LONG', value: 1, lastUpdateTs: 1 }] as const
    feed.publish({ kind: 'attributes', entity, sequence: 1, scope: 'SHARED_SCOPE', attributes })
    await clock.settle()
    assert.deepEqual([broken.listener.ends, whole.listener.ends], [['FAILED'], []])
    assert.equal(whole.listener.updates.length, 1)
    assert.equal(failures.length, 1)
  })

  it('issue-8: a session whose behaviour throws is ended, its upload refused, and the next one is taken', async () => {
    const { clock, failures, link, open } = openGatewayBench()
    const { session, listener } = await open('one')
    const other = await open('two')
    await clock.settle()
    const publish = link.publish.bind(link)
    link.publish = (message, receipt) => {
      if (message.metadata['ts'] === '13') throw new Error('a bug')
      publish(message, receipt)
    }
    const receipts = [1, 13, 2].map((ts) => {
      const receipt = new CountingReceipt()
      session.postTelemetry([{ ts, entries }], receipt)
      return receipt
    })
    other.session.postTelemetry([{ ts: 3, entries }], new CountingReceipt())
    await clock.settle()
    assert.deepEqual(
      receipts.map(({ answers }) => answers),
      [['stored'], ['device.SESSION_FAILED'], ['stored']],
    )
    assert.deepEqual([listener.ends, other.listener.ends], [['FAILED'], []])
    assert.equal(failures.length, 1, 'the supervisor hears of it')
    await clock.advance(60_000)
    const again = await open('one')
    const receipt = new CountingReceipt()
    again.session.postTelemetry([{ ts: 4, entries }], receipt)
    await clock.settle()
    assert.deepEqual(receipt.answers, ['stored'])
    assert.deepEqual(again.listener.ends, [])
  })

  it('refuses what a device sends beyond the room of its mailbox', async () => {
    const { clock, open } = openGatewayBench()
    const { session } = await open('one', 'brief')
    const receipts = Array.from({ length: 10_001 }, () => new CountingReceipt())
    for (const receipt of receipts) session.postTelemetry([{ ts: 1, entries }], receipt)
    assert.deepEqual(receipts.at(-1)?.answers, ['device.MAILBOX_FULL'])
    await clock.settle()
    assert.ok(receipts.slice(0, -1).every(({ answers }) => answers[0] === 'stored'))
  })
})
