import assert from 'node:assert/strict'
import { test } from 'node:test'
import { connectAsync, type MqttClient } from 'mqtt'
import { readConfig } from '../config/read.ts'
import { SETTINGS } from '../config/settings.ts'
import { OptionNumber, uintBytes } from './coap-messages/codec.ts'
import { TRANSPORTS } from './catalogue.ts'
import { RawClient } from './coap/testkit.ts'
import { testTransport, type TestDevice } from './contract.ts'

const DEVICES: Readonly<Record<string, () => TestDevice>> = {
  mqtt: mqttDevice,
  coap: coapDevice,
  lwm2m: lwm2mDevice,
  http_device_api: httpDevice,
}

for (const transport of TRANSPORTS) {
  const device = DEVICES[transport.name]
  assert.ok(device !== undefined, `there is no test device that speaks ${transport.label}`)
  testTransport(transport, device)
}

test('names are words, and each stands once', () => {
  const names = TRANSPORTS.map(({ name }) => name)
  assert.equal(new Set(names).size, names.length)
  for (const { name, figureNames } of TRANSPORTS) {
    for (const word of [name, ...figureNames]) assert.match(word, /^[a-z][a-z0-9_]*$/)
    assert.equal(new Set(figureNames).size, figureNames.length)
  }
})

test('what rises and falls is a gauge, everything else a counter whose name says so', () => {
  const gauges = TRANSPORTS.flatMap(({ figureNames }) => figureNames.filter((name) => !name.endsWith('_total')))
  assert.deepEqual(gauges, [
    'connections',
    'handshakes',
    'gateway_children',
    'sparkplug_birth_bytes',
    'kept_sessions',
    'kept_session_bytes',
    'waiting_kept_sessions',
    'topic_alias_bytes',
    'observers',
    'block_transfers',
    'clients',
    'observations',
    'waiting_renewals',
    'bootstrapping_clients',
    'waiting_polls',
  ])
})

test('every setting of a protocol is one of the configuration, under a name of its own', () => {
  const all = Object.values(SETTINGS).map(({ name }) => name)
  assert.equal(new Set(all).size, all.length)
  for (const { settings } of TRANSPORTS)
    for (const [key, setting] of Object.entries(settings))
      assert.equal(Object.entries(SETTINGS).find(([each]) => each === key)?.[1], setting)
})

test('a protocol that is off listens nowhere', () => {
  const listening = (environment: Record<string, string>) =>
    TRANSPORTS.map(({ listeners }) =>
      listeners(readConfig(environment)).map((at) => (at === 'http' ? at : `${at.name} ${at.port}`)),
    )
  const lwm2m = ['lwm2m 5685', 'lwm2m_bootstrap 5687']
  assert.deepEqual(listening({ MQTT_BIND_PORT: '1884' }), [['mqtt 1884'], ['coap 5683'], lwm2m, ['http']])
  assert.deepEqual(listening({ LWM2M_ENABLED_BS: 'false' })[2], ['lwm2m 5685'])
  // Processes that were given ports of their own before there was a bootstrap server go on side by side.
  assert.deepEqual(listening({ LWM2M_BIND_PORT: '5695' })[2], ['lwm2m 5695'])
  assert.deepEqual(listening({ LWM2M_BIND_PORT: '0' })[2], ['lwm2m 0', 'lwm2m_bootstrap 0'])
  const both = { LWM2M_BIND_PORT: '5695', LWM2M_BS_BIND_PORT: '5697' }
  assert.deepEqual(listening(both)[2], ['lwm2m 5695', 'lwm2m_bootstrap 5697'])
  const off = { MQTT_ENABLED: 'false', COAP_ENABLED: 'false', LWM2M_ENABLED: 'false' }
  assert.deepEqual(listening(off), [[], [], [], ['http']])
  assert.deepEqual(listening({ MQTT_SSL_ENABLED: 'true' })[0], ['mqtt 1883', 'mqtts 8883'])
  assert.deepEqual(listening({ MQTT_SSL_ENABLED: 'true', MQTT_ENABLED: 'false' })[0], ['mqtts 8883'])
})

test('no two listeners have one name, and none has one port', () => {
  const all = TRANSPORTS.flatMap(({ listeners }) => listeners(readConfig({ MQTT_SSL_ENABLED: 'true' })))
  const names = all.flatMap((at) => (at === 'http' ? [] : [at.name]))
  assert.deepEqual(names, [...new Set(names)])
  assert.ok(!names.includes('http'), 'it is the name of the HTTP server')
  assert.throws(
    () => readConfig({ MQTT_SSL_ENABLED: 'true', MQTT_SSL_BIND_PORT: '1883' }),
    /MQTT_BIND_PORT and MQTT_SSL_BIND_PORT are both 1883/,
  )
})

function httpDevice(): TestDevice {
  return {
    upload: async (port, token) => {
      const url = `http://127.0.0.1:${port}/api/v1/${token}/telemetry`
      return (await fetch(url, { method: 'POST', body: '{"a":1}' })).ok
    },
    close: () => Promise.resolve(),
  }
}

function mqttDevice(): TestDevice {
  let client: MqttClient | undefined
  return {
    upload: async (port, username) => {
      try {
        client = await connectAsync({ host: '127.0.0.1', port, username, reconnectPeriod: 0, protocolVersion: 4 })
      } catch {
        return false
      }
      const cut = new Promise<boolean>((resolve) => client?.once('close', () => resolve(false)))
      const stored = client.publishAsync('v1/devices/me/telemetry', '{"a":1}', { qos: 1 }).then(
        () => true,
        () => false,
      )
      return Promise.race([stored, cut])
    },
    close: async () => {
      await client?.endAsync(true)
    },
  }
}

function coapDevice(): TestDevice {
  let client: RawClient | undefined
  return {
    upload: async (port, token) => {
      client = await RawClient.open(port)
      client.send({ code: '0.02', path: `/api/v1/${token}/telemetry`, payload: '{"a":1}' })
      return (await client.message(0)).code.startsWith('2.')
    },
    close: () => {
      client?.close()
      return Promise.resolve()
    },
  }
}

/** Registers, and sends a value of its own accord. */
function lwm2mDevice(): TestDevice {
  let client: RawClient | undefined
  return {
    upload: async (port, token) => {
      client = await RawClient.open(port)
      const query = [`ep=${token}`, 'lwm2m=1.1', 'lt=60']
      const registered = await client.ask({ path: '/rd', query, payload: '</>;ct="110",</3/0>' })
      if (registered.code !== '2.01') return false
      const sent = client.messages.length
      const options = [{ number: OptionNumber.CONTENT_FORMAT, value: uintBytes(110) }]
      const id = client.send({ path: '/dp', options, payload: '[{"n":"/3/0/9","v":1}]' })
      for (let index = sent; ; index++) {
        const message = await client.message(index)
        if (message.id === id) return message.code.startsWith('2.')
      }
    },
    close: () => {
      client?.close()
      return Promise.resolve()
    },
  }
}
