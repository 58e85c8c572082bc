import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { defineErrors } from '../../model/errors.ts'
import type { Entry } from '../../model/value.ts'
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
    const other = await open('two', 'HTTP')
    other.session.postTelemetry([{ ts: undefined, entries, json: '{"a":2.0}' }], receipt)
    other.session.postAttributes(entries, receipt)
    const [first, second, third] = link.messages
    assert.equal(first?.data, '{"a":2.0}')
    assert.deepEqual(first.metadata, { deviceName: 'one', deviceType: 'default', ts: '5' })
    assert.deepEqual([first.ts, first.ruleChainId, first.customerId], [clock.now(), undefined, undefined])
    assert.equal(first.entries(), entries)
    assert.equal(second?.metadata['ts'], String(clock.now()))
    assert.deepEqual([second.ruleChainId, second.customerId], [chain, 'c'])
    assert.deepEqual([first.queueName, second.queueName, third?.queueName], [undefined, 'Slow', 'Slow'])
    assert.equal(third?.type, 'POST_ATTRIBUTES_REQUEST')
    assert.deepEqual(third.metadata, { deviceName: 'two', deviceType: 'thermometer', notifyDevice: 'false' })
    assert.deepEqual(receipt.answers, ['stored', 'stored', 'stored'])
    assert.equal(new Set(link.messages.map(({ id }) => id)).size, 3)
    for (const { id } of link.messages) assert.match(id, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
  })

  it('gives points without a time ever later times, one an upload, while the clock stands or goes back', async () => {
    const { link, open, clock } = openGatewayBench()
    const { session } = await open('one')
    const again = await open('one', 'HTTP')
    const start = clock.now()
    const receipt = new CountingReceipt()
    const untimed = { ts: undefined, entries }
    session.postTelemetry([untimed, { ts: 7, entries }, untimed], receipt)
    again.session.postTelemetry([untimed], receipt)
    session.postTelemetry([untimed], receipt)
    assert.deepEqual(
      link.messages.map(({ metadata }) => Number(metadata['ts'])),
      [start, 7, start, start + 1, start + 2],
    )
  })

  it('answers an upload of many messages once: after the last, or at the first refusal', async () => {
    const { link, open } = openGatewayBench()
    const { session } = await open('one')
    link.holding = true
    const all = new CountingReceipt()
    const groups = [1, 2, 3].map((ts) => ({ ts, entries }))
    session.postTelemetry(groups, all)
    for (const held of link.held.splice(0, 2)) held.stored()
    assert.deepEqual(all.answers, [])
    link.held.shift()?.stored()
    assert.deepEqual(all.answers, ['stored'])
    const refused = new CountingReceipt()
    session.postTelemetry(groups, refused)
    link.held[0]?.stored()
    link.held[1]?.refused(Refusals.FULL())
    link.held[2]?.refused(Refusals.FULL())
    assert.deepEqual(refused.answers, ['test.FULL'])
    const none = new CountingReceipt()
    session.postTelemetry([], none)
    assert.deepEqual(none.answers, ['stored'])
  })

  it('reads the attributes that are asked for, of the scopes that are asked', async () => {
    const { attributes, open } = openGatewayBench()
    const { session } = await open('one')
    const entity = { entityType: 'DEVICE', id: session.device.deviceId } as const
    attributes.put(entity, 'CLIENT_SCOPE', { key: 'c', type: 'LONG', value: 1 })
    attributes.put(entity, 'SHARED_SCOPE', { key: 's', type: 'LONG', value: 2 })
    attributes.put(entity, 'SERVER_SCOPE', { key: 'x', type: 'LONG', value: 3 })
    const keys = async (clientKeys: readonly string[] | 'all' | undefined, sharedKeys: typeof clientKeys) => {
      const { client, shared } = await session.requestAttributes({ clientKeys, sharedKeys })
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
})
