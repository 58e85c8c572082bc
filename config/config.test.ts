import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { configText, settingsPage } from './print.ts'
import { readConfig } from './read.ts'
import { SETTINGS } from './settings.ts'

test('an empty environment gives every default, frozen', () => {
  const config = readConfig({})
  for (const [key, setting] of Object.entries(SETTINGS)) {
    assert.equal(config[key as keyof typeof config], setting.defaultValue, key)
  }
  assert.ok(Object.isFrozen(config))
})

test('the environment overrides a default', () => {
  const config = readConfig({ HTTP_BIND_PORT: '0', DEMO: 'false', DURABILITY: 'process-death' })
  assert.equal(config.httpBindPort, 0)
  assert.equal(config.demo, false)
  assert.equal(config.durability, 'process-death')
})

test('a bad value is refused with the name, the value and what is allowed', () => {
  assert.throws(
    () => readConfig({ HTTP_BIND_PORT: '70000' }),
    /HTTP_BIND_PORT="70000" is not allowed: a whole number from 0 to 65535/,
  )
  assert.throws(() => readConfig({ DEMO: 'yes' }), /DEMO="yes" is not allowed: true or false/)
  assert.throws(() => readConfig({ DURABILITY: 'maybe' }), /one of power-cut, process-death/)
  assert.throws(() => readConfig({ DATA_DIR: '' }), /DATA_DIR/)
})

test('a bad secret is refused without being shown', () => {
  assert.throws(
    () => readConfig({ JWT_TOKEN_SIGNING_KEY: 'hunter2' }),
    (error: Error) => error.message.includes('JWT_TOKEN_SIGNING_KEY') && !error.message.includes('hunter2'),
  )
})

test('a slip in a name is refused with the nearest known name, a foreign name is not', () => {
  assert.throws(() => readConfig({ HTTP_BIND_PROT: '1' }), /did you mean HTTP_BIND_PORT/)
  readConfig({ HOME: 'x', MQTT_URL: 'mqtt://elsewhere' })
})

test('contradictions name both settings', () => {
  assert.throws(() => readConfig({ HTTP_BIND_PORT: '1883' }), /HTTP_BIND_PORT and MQTT_BIND_PORT/)
  assert.throws(
    () => readConfig({ JWT_TOKEN_EXPIRATION_TIME: '1000', JWT_REFRESH_TOKEN_EXPIRATION_TIME: '900' }),
    /must outlive/,
  )
})

test('a call that may outlast its rule node is a contradiction', () => {
  assert.throws(
    () => readConfig({ RULE_NODE_TIMEOUT_MS: '16000' }),
    /OUTBOUND_TIMEOUT_MS is 15000.*RULE_NODE_TIMEOUT_MS \(16000\).*at most 14000/,
  )
  readConfig({ RULE_NODE_TIMEOUT_MS: '16000', OUTBOUND_TIMEOUT_MS: '14000' })
})

test('what may not be called is named by address, network or name', () => {
  const { outboundDeniedAddresses } = readConfig({
    OUTBOUND_DENIED_ADDRESSES: '8.8.8.8, 2001:4860::/32,*.example.org,meta',
  })
  assert.deepEqual(outboundDeniedAddresses, ['8.8.8.8', '2001:4860::/32', '*.example.org', 'meta'])
  for (const bad of ['8.8.8', '8.8.8.8/33', 'a*.b', 'http://a.b', 'a..b', '*'])
    assert.throws(() => readConfig({ OUTBOUND_DENIED_ADDRESSES: bad }), /OUTBOUND_DENIED_ADDRESSES/, bad)
})

test('a process with some of the roles is refused where what it shares is in its own data folder', () => {
  const roles = { MILLRACE_ROLES: 'engine, api' }
  assert.throws(() => readConfig(roles), /set LINK=jetstream and DATABASE_ENTITIES_TYPE=postgres and DATABASE_TS_TYPE/)
  const shared = { LINK: 'jetstream', DATABASE_ENTITIES_TYPE: 'postgres', DATABASE_TS_TYPE: 'sql' }
  assert.deepEqual(readConfig({ ...roles, ...shared }).roles, ['engine', 'api'])
  assert.throws(() => readConfig({ MILLRACE_ROLES: 'engine,edge' }), /one or more of transport, engine, api/)
})

test('a password in an address is never shown', () => {
  const addresses = {
    DATABASE_URL: 'postgres://me:hunter2@db/millrace',
    NATS_URL: 'nats://a:hunter2@n1,nats://a:hunter2@n2',
  }
  readConfig(addresses)
  const text = configText(addresses)
  assert.ok(text.includes('postgres://me:********@db/millrace') && !text.includes('hunter2'))
  for (const [name, address] of Object.entries({
    NATS_URL: 'nats://hunter2@n1',
    DATABASE_URL: 'postgres://db/millrace?user=me&password=hunter2',
  }))
    assert.ok(!configText({ [name]: address }).includes('hunter2'), name)
  assert.throws(
    () => readConfig({ DATABASE_URL: 'mysql://me:hunter2@db/millrace' }),
    (error: Error) => !error.message.includes('hunter2'),
  )
})

test('a password that makes the address unreadable is not shown either', () => {
  const passwords = ['hun/ter2', 'hun@ter2', 'hun,ter2', 'hun#ter2', 'hun:ter2', 'hun?ter2', 'hun\nter2']
  for (const password of passwords) {
    for (const [name, address] of Object.entries({
      DATABASE_URL: `postgres://me:${password}@db/millrace`,
      QUESTDB_URL: `https://me:${password}@db:9000`,
      NATS_URL: `nats://me:${password}@n1,tls://me:${password}@n2`,
    })) {
      assert.doesNotMatch(configText({ [name]: address }), /ter2|hun/, `${name} ${password}`)
      try {
        readConfig({ [name]: address })
      } catch (error) {
        assert.doesNotMatch(String(error), /ter2|hun/, `${name} ${password}`)
      }
    }
  }
})

test('two logins for one server, half a client certificate, and an authority without TLS are contradictions', () => {
  const contradictions: [Record<string, string>, RegExp][] = [
    [{ NATS_TLS_CERT_FILE: 'a.pem' }, /NATS_TLS_CERT_FILE and NATS_TLS_KEY_FILE belong together/],
    [{ NATS_TLS_KEY_FILE: 'a.key' }, /NATS_TLS_CERT_FILE and NATS_TLS_KEY_FILE belong together/],
    [{ NATS_CREDS_FILE: 'a.creds', NATS_URL: 'nats://a:b@n1' }, /NATS_CREDS_FILE and the login in NATS_URL/],
    [{ QUESTDB_TOKEN: 'abc', QUESTDB_URL: 'https://a:b@q' }, /QUESTDB_TOKEN and the login in QUESTDB_URL/],
    [{ QUESTDB_TLS_CA_FILE: 'ca.pem' }, /QUESTDB_TLS_CA_FILE is for TLS, and QUESTDB_URL has none/],
  ]
  for (const [environment, message] of contradictions) assert.throws(() => readConfig(environment), message)
  assert.ok(!configText({ QUESTDB_TOKEN: 'hunter2' }).includes('hunter2'))
  assert.throws(() => readConfig({ NATS_URL: 'ws://n1' }), /NATS_URL="ws:\/\/n1" is not allowed/)
})

test('the printed configuration shows every setting, its source, and no secret', () => {
  const secret = Buffer.alloc(64, 7).toString('base64')
  const text = configText({ JWT_TOKEN_SIGNING_KEY: secret, HTTP_BIND_PORT: '9090', MQTT_BIND_PORT: 'x' })
  for (const setting of Object.values(SETTINGS)) assert.ok(text.includes(setting.name), setting.name)
  assert.match(text, /HTTP_BIND_PORT=9090 .*\[environment\]/)
  assert.match(text, /MQTT_BIND_PORT=x \(not allowed/)
  assert.ok(!text.includes(secret))
})

test('the reference page of the settings is the one the schema makes', async () => {
  const page = await readFile(join(import.meta.dirname, '..', 'docs', 'reference', 'settings.md'), 'utf8')
  assert.equal(page, settingsPage(), 'run `npm run docs`')
})
