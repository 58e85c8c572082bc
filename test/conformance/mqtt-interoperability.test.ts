/**
 * The checks of the interoperability suite of Eclipse Paho that mean something to an endpoint of devices, each with bytes of its own
 * against the real program. Those that do not apply, and why: `docs/internals/devices.md`.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { IConnackPacket, IConnectPacket, Packet } from 'mqtt-packet'
import { RawClient } from '../../transports/mqtt/testkit.ts'
import { RestClient, login } from '../support/clients.ts'
import { SLOWNESS } from '../support/slowness.ts'
import { startMillrace, type RunningMillrace } from '../support/start-millrace.ts'
import { eventually } from './wait.ts'

const TELEMETRY = 'v1/devices/me/telemetry'
const ATTRIBUTES = 'v1/devices/me/attributes'
const IN_FLIGHT = 4
/** Of the flags of CONNECT. */
const CLEAN = 2
const VERSIONS = [4, 5] as const
const SUBSCRIPTION = { qos: 1, nl: false, rap: false, rh: 0 } as const
const SUBSCRIBE = { cmd: 'subscribe', messageId: 900 } as const

describe('an MQTT endpoint of devices', { timeout: 600_000 * SLOWNESS }, () => {
  let millrace: RunningMillrace
  let tenant: RestClient
  const clients: RawClient[] = []

  before(async () => {
    millrace = await startMillrace({ environment: { MQTT_MSG_QUEUE_SIZE_PER_DEVICE_LIMIT: String(IN_FLIGHT) } })
    tenant = new RestClient(millrace, await login(millrace))
  })
  after(async () => {
    for (const { socket } of clients) socket.destroy()
    await millrace.stop()
  })

  interface Connected {
    readonly client: RawClient
    readonly connack: IConnackPacket
  }
  const connect = async (token: string, version: 4 | 5, change: Partial<IConnectPacket> = {}): Promise<Connected> => {
    const client = await RawClient.open(millrace.ports['mqtt'] ?? 0, version)
    clients.push(client)
    const { clean = true, ...others } = change
    const bytes = client.bytes(client.connectPacket(token, { clientId: token, ...others }))
    // The library writes no empty client id with it.
    if (!clean) bytes[bytes.indexOf('MQTT') + 5] = (bytes[bytes.indexOf('MQTT') + 5] ?? 0) & ~CLEAN
    client.socket.write(bytes)
    await client.received(1)
    // What was missed may have come with it.
    const connack = client.packets.shift()
    assert.ok(connack?.cmd === 'connack')
    return { client, connack }
  }
  let devices = 0
  const newDevice = async (): Promise<{ token: string; path: string }> => {
    const token = `interoperability ${++devices}`
    return { token, path: `/api/plugins/telemetry/DEVICE/${await tenant.createDevice(token, token)}` }
  }
  const stored = (path: string, keys: string, wanted: (text: string) => boolean) =>
    eventually(
      async () => (await tenant.call('GET', `${path}/values/timeseries?keys=${keys}`)).text,
      wanted,
      60_000 * SLOWNESS,
    )
  const subscribed = async (client: RawClient, topics: readonly string[], qos: 0 | 1 | 2 = 1) => {
    const before = client.packets.length
    client.send({ ...SUBSCRIBE, subscriptions: topics.map((topic) => ({ ...SUBSCRIPTION, topic, qos })) })
    const suback = (await client.received(before + 1))[before]
    assert.ok(suback?.cmd === 'suback')
    return suback.granted
  }
  const share = (path: string, values: object) => tenant.expect('POST', `${path}/SHARED_SCOPE`, values)
  const pushes = ({ packets }: RawClient) => packets.filter((packet) => packet.cmd === 'publish')
  const code = (packet: Packet | undefined) => (packet !== undefined && 'reasonCode' in packet ? packet.reasonCode : 0)
  /** What it was told at the end; undefined: nothing. */
  const ended = async (client: RawClient): Promise<number | undefined> => {
    await client.end()
    const last = client.packets.at(-1)
    return last?.cmd === 'disconnect' ? last.reasonCode : undefined
  }
  /** All that was sent to it so far is here. */
  const caughtUp = async (client: RawClient) => {
    const before = client.packets.length
    client.send({ cmd: 'pingreq' })
    while (!client.packets.slice(before).some(({ cmd }) => cmd === 'pingresp'))
      await client.received(client.packets.length + 1)
  }

  for (const version of VERSIONS) {
    test(`basic: every quality of service goes up, and what is subscribed to comes down (level ${version})`, async () => {
      const { token, path } = await newDevice()
      const { client, connack } = await connect(token, version)
      assert.equal(connack.sessionPresent, false)
      assert.deepEqual(await subscribed(client, [ATTRIBUTES], 2), [1])
      client.packets.length = 0
      const { qos: _, ...publish } = client.publish(TELEMETRY, '{"c":3}', 3)
      client.send(client.publish(TELEMETRY, '{"a":1}'), client.publish(TELEMETRY, '{"b":2}', 2))
      client.send({ ...publish, qos: 2 })
      await client.received(2)
      client.send({ cmd: 'pubrel', messageId: 3 })
      await client.received(3)
      assert.deepEqual(
        client.packets.map(({ cmd, messageId }) => [cmd, messageId]),
        [
          ['puback', 2],
          ['pubrec', 3],
          ['pubcomp', 3],
        ],
      )
      await stored(path, 'a,b,c', (text) => !text.includes('null'))
      await share(path, { target: 1 })
      await client.received(4)
      const push = client.packets[3]
      assert.ok(push?.cmd === 'publish')
      assert.deepEqual([push.topic, push.payload.toString(), push.qos], [ATTRIBUTES, '{"target":1}', 1])
      client.send({ cmd: 'disconnect' })
      await client.end()
      assert.equal(client.packets.length, 4)
    })

    test(`retained messages: the flag is taken, nothing is retained (level ${version})`, async () => {
      const { token, path } = await newDevice()
      const { client, connack } = await connect(token, version)
      if (version === 5) assert.equal(connack.properties?.retainAvailable, false)
      client.send({ ...client.publish(ATTRIBUTES, '{"kept":1}', 1), retain: true })
      assert.equal(code((await client.received(1))[0]), 0)
      await share(path, { earlier: 1 })
      const second = await connect(token, version, { clientId: 'second' })
      await subscribed(second.client, [ATTRIBUTES])
      await caughtUp(second.client)
      assert.deepEqual(pushes(second.client), [])
    })

    test(`will message: taken, and never sent (level ${version})`, async () => {
      const { token, path } = await newDevice()
      const will = { topic: TELEMETRY, payload: Buffer.from('{"will":1}'), qos: 1, retain: false } as const
      const properties = version === 5 ? { properties: { willDelayInterval: 0 } } : {}
      const { client } = await connect(token, version, { will: { ...will, ...properties } })
      client.socket.destroy()
      const attributes = `${path}/values/attributes/SERVER_SCOPE?keys=lastDisconnectTime`
      await eventually(
        () => tenant.expect<unknown[]>('GET', attributes),
        (found) => found.length === 1,
        60_000 * SLOWNESS,
      )
      const next = await connect(token, version)
      next.client.send(next.client.publish(TELEMETRY, '{"later":1}', 1))
      await next.client.received(1)
      await stored(path, 'later', (text) => !text.includes('null'))
      assert.deepEqual(await tenant.expect('GET', `${path}/keys/timeseries`), ['later'])
    })

    test(`zero-length client id: accepted, and assigned one over MQTT 5 (level ${version})`, async () => {
      const { token } = await newDevice()
      for (const clean of [true, false]) {
        const { connack } = await connect(token, version, { clientId: '', clean })
        assert.deepEqual([connack.reasonCode ?? connack.returnCode, connack.sessionPresent], [0, false])
        if (version === 5) assert.match(connack.properties?.assignedClientIdentifier ?? '', /^[0-9a-f-]{36}$/)
      }
    })

    test(`overlapping subscriptions: a change comes once, on the last of them (level ${version})`, async () => {
      const { token, path } = await newDevice()
      const { client } = await connect(token, version)
      await subscribed(client, [ATTRIBUTES, 'v2/a', ATTRIBUTES, 'v2/a/j'])
      await share(path, { target: 1 })
      await client.received(2)
      await caughtUp(client)
      assert.deepEqual(
        pushes(client).map(({ topic }) => topic),
        ['v2/a/j'],
      )
    })

    test(`keep alive: silence ends the connection, a ping does not (level ${version})`, async () => {
      const [{ token }, other] = [await newDevice(), await newDevice()]
      const [silent, alive] = [
        await connect(token, version, { keepalive: 1 }),
        await connect(other.token, version, { keepalive: 30 }),
      ]
      assert.equal(await ended(silent.client), version === 5 ? 0x8d : undefined)
      await caughtUp(alive.client)
      assert.equal(alive.client.closed, false)
    })

    test(`subscribe failure and dollar topics: told for the one, the others are granted (level ${version})`, async () => {
      const { token } = await newDevice()
      const { client } = await connect(token, version)
      const refused = version === 5 ? 0x8f : 0x80
      assert.deepEqual(
        await subscribed(client, ['other/topic', ATTRIBUTES, '$SYS/#', '#', 'v1/devices/me/rpc/request/+']),
        [refused, 1, refused, refused, 1],
      )
      assert.deepEqual(await subscribed(client, ['$share/g/t']), [version === 5 ? 0x9e : 0x80])
    })

    test(`redelivery on reconnect: an open QoS 2 publish is stored once (level ${version})`, async () => {
      const { token, path } = await newDevice()
      const properties = version === 5 ? { properties: { sessionExpiryInterval: 60 } } : {}
      const first = await connect(token, version, { clean: false, ...properties })
      const publish = {
        ...first.client.publish(TELEMETRY, '{"ts":1700000000000,"values":{"once":1}}', 5),
        qos: 2,
      } as const
      first.client.send(publish)
      assert.equal((await first.client.received(1))[0]?.cmd, 'pubrec')
      first.client.socket.destroy()
      const second = await connect(token, version, { clean: false, ...properties })
      assert.equal(second.connack.sessionPresent, version > 3)
      second.client.send({ ...publish, dup: true })
      assert.equal((await second.client.received(1))[0]?.cmd, 'pubrec')
      second.client.send({ cmd: 'pubrel', messageId: 5 })
      assert.equal(code((await second.client.received(2))[1]), 0)
      await stored(path, 'once', (text) => !text.includes('null'))
    })
  }

  test('redelivery on reconnect: a push without PUBACK comes again, with DUP and its packet id', async () => {
    const { token, path } = await newDevice()
    const kept = { clean: false, properties: { sessionExpiryInterval: 60 } }
    const first = await connect(token, 5, kept)
    await subscribed(first.client, [ATTRIBUTES])
    await share(path, { target: 1 })
    await first.client.received(2)
    first.client.socket.destroy()
    const second = await connect(token, 5, kept)
    assert.equal(second.connack.sessionPresent, true)
    const [was, is] = [pushes(first.client)[0], (await second.client.received(1))[0]]
    assert.ok(is?.cmd === 'publish')
    assert.deepEqual([is.dup, is.messageId, is.payload.toString()], [true, was?.messageId, '{"target":1}'])
  })

  test('session expiry and offline messages: as long as the client says', async () => {
    const { token, path } = await newDevice()
    const keeping = (seconds: number, clean = false) => ({ clean, properties: { sessionExpiryInterval: seconds } })
    const come = async (change: Partial<IConnectPacket>) => {
      const { client, connack } = await connect(token, 5, change)
      return { client, isPresent: connack.sessionPresent, properties: connack.properties }
    }
    const first = await come(keeping(100_000))
    assert.deepEqual([first.isPresent, first.properties?.sessionExpiryInterval], [false, 3600])
    await subscribed(first.client, [ATTRIBUTES])
    first.client.send({ cmd: 'disconnect', reasonCode: 4 })
    await first.client.end()
    await share(path, { missed: 1 })
    await share(path, { missed: 2 })
    const second = await come(keeping(60))
    assert.equal(second.isPresent, true)
    const [missed] = await second.client.received(1)
    assert.ok(missed?.cmd === 'publish')
    assert.equal(missed.payload.toString(), '{"missed":2}')
    second.client.send({ cmd: 'disconnect', properties: { sessionExpiryInterval: 0 } })
    await second.client.end()
    assert.equal((await come(keeping(60))).isPresent, false)
    assert.equal((await come(keeping(60, true))).isPresent, false)
    // Until its second is over, each look at it would give it another one: so the look is a connection that wants none.
    const last = await come(keeping(1))
    last.client.socket.destroy()
    await last.client.end()
    await new Promise((resolve) => setTimeout(resolve, 2000 * SLOWNESS))
    assert.equal((await come({ clean: false })).isPresent, false)
  })

  test('flow control: neither side sends more than the other takes', async () => {
    const { token, path } = await newDevice()
    const { client, connack } = await connect(token, 5, { properties: { receiveMaximum: 2 } })
    assert.equal(connack.properties?.receiveMaximum, IN_FLIGHT)
    await subscribed(client, [ATTRIBUTES])
    for (let n = 1; n <= 4; n++) await share(path, { [`n${n}`]: n })
    await client.received(3)
    await caughtUp(client)
    assert.equal(pushes(client).length, 2)
    for (let n = 0; n < 2; n++) {
      const messageId = pushes(client)[n]?.messageId
      if (messageId !== undefined) client.send({ cmd: 'puback', messageId })
    }
    await client.received(6)
    assert.equal(new Set(pushes(client).map(({ messageId }) => messageId)).size, 4)
    // Publishes of QoS 2 count until they are released.
    for (let id = 1; id <= IN_FLIGHT + 1; id++) client.send({ ...client.publish(TELEMETRY, '{"a":1}', id), qos: 2 })
    assert.equal(await ended(client), 0x93)
    assert.equal(await connectRefused({ receiveMaximum: 0 }), undefined)
    assert.equal(await connectRefused({ maximumPacketSize: 0 }), undefined)
  })

  /** What a CONNECT that breaks the protocol is answered with; undefined: its end. */
  const connectRefused = async (properties: IConnectPacket['properties']) => {
    const client = await RawClient.open(millrace.ports['mqtt'] ?? 0, 5)
    clients.push(client)
    // The library writes no 0: made of a 1.
    const bytes = client.bytes(client.connectPacket('nobody', { properties: { receiveMaximum: 1 } }))
    const at = bytes.indexOf(Buffer.from([0x21, 0, 1]))
    const isSize = properties?.maximumPacketSize === 0
    const property = isSize ? Buffer.from([0x27, 0, 0, 0, 0]) : Buffer.from([0x21, 0, 0])
    const body = Buffer.concat([
      bytes.subarray(2, at - 1),
      Buffer.from([property.length]),
      property,
      bytes.subarray(at + 3),
    ])
    client.socket.write(Buffer.concat([Buffer.from([0x10, body.length]), body]))
    await client.end()
    return client.packets[0]?.cmd
  }

  test('maximum packet size: of both sides', async () => {
    const { token, path } = await newDevice()
    const { client, connack } = await connect(token, 5, { properties: { maximumPacketSize: 100 } })
    await subscribed(client, [ATTRIBUTES])
    await share(path, { large: 'x'.repeat(100) })
    await share(path, { small: 1 })
    await client.received(2)
    await caughtUp(client)
    assert.deepEqual(
      pushes(client).map(({ payload }) => payload.toString()),
      ['{"small":1}'],
    )
    const most = connack.properties?.maximumPacketSize ?? 0
    client.socket.write(Buffer.from([0x30, 0x80 | (most & 0x7f), 0x80 | ((most >> 7) & 0x7f), most >> 14]))
    assert.equal(await ended(client), 0x95)
  })

  test('server keep alive: told where the client wants none', async () => {
    const { token } = await newDevice()
    const without = await connect(token, 5, { keepalive: 0 })
    assert.equal(without.connack.properties?.serverKeepAlive, 400)
    assert.equal((await connect(token, 5, { keepalive: 120 })).connack.properties?.serverKeepAlive, undefined)
  })

  test('request and response, user properties, payload format, expiry: taken with what they come with', async () => {
    const { token, path } = await newDevice()
    const asked = { requestResponseInformation: true, requestProblemInformation: false, userProperties: { a: 'b' } }
    const { client, connack } = await connect(token, 5, { properties: asked })
    assert.equal(connack.properties?.responseInformation, undefined)
    const properties = [
      { responseTopic: 'answers/here', correlationData: Buffer.from('334') },
      { userProperties: { a: ['2', '3'], c: '3' } },
      { payloadFormatIndicator: true, contentType: 'application/json' },
      { messageExpiryInterval: 1 },
    ]
    properties.forEach((each, n) => {
      client.send({ ...client.publish(TELEMETRY, `{"p${n}":${n}}`, n + 1), properties: each })
    })
    for (const packet of await client.received(properties.length)) assert.equal(code(packet), 0)
    await stored(path, 'p0,p1,p2,p3', (text) => !text.includes('null'))
  })

  test('topic alias: of the client, and none of the server', async () => {
    const { token, path } = await newDevice()
    const { client, connack } = await connect(token, 5, { properties: { topicAliasMaximum: 10 } })
    assert.equal(connack.properties?.topicAliasMaximum, 16)
    const properties = { topicAlias: 16 }
    client.send({ ...client.publish(TELEMETRY, '{"a":1}', 1), properties })
    client.send({ ...client.publish('', '{"b":2}', 2), properties })
    for (const packet of await client.received(2)) assert.equal(code(packet), 0)
    await stored(path, 'a,b', (text) => !text.includes('null'))
    await subscribed(client, [ATTRIBUTES])
    for (let n = 0; n < 2; n++) await share(path, { n })
    await client.received(5)
    for (const { topic, properties: sent } of pushes(client))
      assert.deepEqual([topic, sent?.topicAlias], [ATTRIBUTES, undefined])
  })

  test('subscription options and identifiers: options are taken, identifiers are not there', async () => {
    const { token } = await newDevice()
    const { client, connack } = await connect(token, 5)
    const { subscriptionIdentifiersAvailable, sharedSubscriptionAvailable } = connack.properties ?? {}
    assert.deepEqual([subscriptionIdentifiersAvailable, sharedSubscriptionAvailable], [false, false])
    client.send({ ...SUBSCRIBE, subscriptions: [{ topic: ATTRIBUTES, qos: 1, nl: true, rap: true, rh: 2 }] })
    const [suback] = await client.received(1)
    assert.deepEqual(suback?.cmd === 'suback' && suback.granted, [1])
    const subscriptions = [{ ...SUBSCRIPTION, topic: ATTRIBUTES }]
    client.send({ ...SUBSCRIBE, subscriptions, properties: { subscriptionIdentifier: 456_789 } })
    assert.equal(await ended(client), 0xa1)
    const second = await connect(token, 5)
    // Retain handling 3, which there is not.
    const bytes = second.client.bytes({ ...SUBSCRIBE, subscriptions })
    bytes[bytes.length - 1] = 0x31
    second.client.socket.write(bytes)
    assert.ok([0x81, 0x82].includes((await ended(second.client)) ?? 0))
  })

  test('unsubscribe: a code for each filter, and nothing more of those that were there', async () => {
    const { token, path } = await newDevice()
    const { client } = await connect(token, 5)
    await subscribed(client, [ATTRIBUTES])
    client.send({ cmd: 'unsubscribe', messageId: 4, unsubscriptions: [ATTRIBUTES, ATTRIBUTES, 'other/topic'] })
    const unsuback = (await client.received(2))[1]
    assert.deepEqual(unsuback?.cmd === 'unsuback' && unsuback.granted, [0, 0x11, 0x11])
    await share(path, { target: 1 })
    await caughtUp(client)
    assert.deepEqual(pushes(client), [])
  })
})
