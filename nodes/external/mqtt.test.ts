import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import mqttClient from 'mqtt'
import type { JsonObject } from '../../model/json.ts'
import { createNode, runNode, testContext, testMessage } from '../testkit.ts'
import { skipWithoutMosquitto, startMosquitto } from '../../test/support/mosquitto.ts'
import { mqtt } from './mqtt.ts'
import { outsideContext } from './testkit.ts'

const DEFAULTS = mqtt.defaultConfiguration
const message = testMessage({ data: '{"t":22.5}', metadata: { place: 'hall' } })

/** What the node opens with that configuration. */
async function opened(configuration: JsonObject) {
  const context = testContext()
  const node = await createNode(mqtt, { ...DEFAULTS, host: 'broker.example', ...configuration }, context)
  context.fakes.outbound.answers.mqtt = () => undefined
  return { node, context, settings: context.fakes.outbound.opened[0]?.settings as Record<string, unknown> }
}

test('a message is published when the broker confirms it', async () => {
  const { node, context } = await opened({ topicPattern: 'in/${place}/$[t]', retainedMessage: true })
  assert.equal(context.fakes.outbound.opened[0]?.isReady, true)
  const [result] = await runNode(node, message)
  assert.deepEqual(result?.emissions[0]?.relations, ['Success'])
  assert.deepEqual(context.fakes.outbound.calls, [{ topic: 'in/hall/22.5', payload: '{"t":22.5}', retain: true }])
  await node.close?.()
  assert.equal(context.fakes.outbound.opened[0]?.isClosed, true)
})

test('what is no topic fails its message, before a broker ends the connection of all others', async () => {
  const { node, context } = await opened({ topicPattern: '$[topic]' })
  for (const topic of ['', 'a/#', '+/a', 'a\0', 'é'.repeat(32_768)]) {
    const [result] = await runNode(node, testMessage({ data: JSON.stringify({ topic }) }))
    assert.deepEqual(result?.emissions[0]?.relations, ['Failure'])
    assert.match(result?.emissions[0]?.message.metadata['error'] ?? '', / a topic/)
  }
  assert.deepEqual(context.fakes.outbound.calls, [])
  await runNode(node, testMessage({ data: JSON.stringify({ topic: 'é'.repeat(32_767) }) }))
  assert.equal(context.fakes.outbound.calls.length, 1)
})

test('a broker that is away at the start is tried again; what the broker refuses is a Failure', async () => {
  const context = testContext()
  context.fakes.outbound.failure = new Error('away')
  await assert.rejects(createNode(mqtt, { ...DEFAULTS, host: 'broker.example' }, context), /away/)
  assert.equal(context.fakes.outbound.opened[0]?.isClosed, true)
  const { node, context: other } = await opened({})
  other.fakes.outbound.answers.mqtt = () => assert.fail('refused')
  const [result] = await runNode(node, message)
  assert.deepEqual(result?.emissions[0]?.relations, ['Failure'])
  assert.match(result?.emissions[0]?.message.metadata['error'] ?? '', /^class AssertionError: refused/)
})

test('the client id is random, as it is said, or with the name of the process; too long a one is refused', async () => {
  assert.match(String((await opened({})).settings['clientId']), /^[0-9a-f]{23}$/)
  assert.equal((await opened({ clientId: 'a' })).settings['clientId'], 'a')
  assert.equal((await opened({ clientId: 'a', appendClientIdSuffix: true })).settings['clientId'], 'a_test-process')
  await assert.rejects(opened({ clientId: 'x'.repeat(24), protocolVersion: 'MQTT_3_1' }), /clientId/)
  await opened({ clientId: 'x'.repeat(256) })
  await assert.rejects(opened({ clientId: 'x'.repeat(257) }), /clientId/)
})

test('an old configuration without a version speaks MQTT 3.1', () => {
  assert.deepEqual(mqtt.upgrade?.({ topicPattern: 'a' }, 0), {
    ...{ topicPattern: 'a', parseToPlainText: false, protocolVersion: 'MQTT_3_1' },
  })
  assert.deepEqual(mqtt.upgrade?.({ protocolVersion: 'MQTT_5' }, 1), { protocolVersion: 'MQTT_5' })
})

const skip = skipWithoutMosquitto()

describe('with a real broker', { skip }, async () => {
  if (skip !== false) return
  const broker = await startMosquitto({ user: 'node', password: 'secret' })
  after(() => broker.close())
  const login = { username: 'node', password: 'secret' }
  const target = { host: '127.0.0.1', port: broker.port, credentials: { type: 'basic', ...login } }

  for (const protocolVersion of ['MQTT_3_1', 'MQTT_3_1_1', 'MQTT_5'])
    test(`publishes over ${protocolVersion}`, async (t) => {
      const listener = await mqttClient.connectAsync(`mqtt://127.0.0.1:${broker.port}`, login)
      t.after(() => listener.endAsync(true))
      const got = new Promise<string[]>((resolve) => {
        listener.on('message', (topic, payload, { qos }) => resolve([topic, payload.toString(), String(qos)]))
      })
      await listener.subscribeAsync('in/#', { qos: 1 })
      const configuration = { ...DEFAULTS, ...target, protocolVersion, topicPattern: 'in/${place}' }
      const node = await createNode(mqtt, configuration, outsideContext())
      const [result] = await runNode(node, message)
      assert.deepEqual(result?.emissions[0]?.relations, ['Success'])
      assert.deepEqual(await got, ['in/hall', '{"t":22.5}', '1'])
      await node.close?.()
    })

  test('a wrong password is told without it; an internal address is refused', async () => {
    const wrong = { ...target, credentials: { ...target.credentials, password: 'not the secret' } }
    await assert.rejects(createNode(mqtt, { ...DEFAULTS, ...wrong }, outsideContext()), (error: Error) => {
      assert.doesNotMatch(error.message, /not the secret/)
      return /not authori[sz]ed/i.test(error.message)
    })
    const guarded = outsideContext({ allowedAddresses: [] })
    await assert.rejects(createNode(mqtt, { ...DEFAULTS, ...target }, guarded), /internal address/)
  })
})
