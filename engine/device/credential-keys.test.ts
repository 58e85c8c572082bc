import assert from 'node:assert/strict'
import { test } from 'node:test'
import { credentialKey, mqttLoginOf } from './credential-keys.ts'

const login = { type: 'MQTT_LOGIN', clientId: 'c"1', userName: 'u\u0000', password: 'ß' } as const

test('a login is found again in its key, a token is its own', () => {
  assert.deepEqual(mqttLoginOf(credentialKey(login) ?? ''), login)
  assert.equal(credentialKey({ type: 'ACCESS_TOKEN', token: 'T' }), 'T')
  assert.equal(mqttLoginOf('T'), undefined)
})

test('a token that looks like a login is nobody’s', () => {
  assert.equal(credentialKey({ type: 'ACCESS_TOKEN', token: credentialKey(login) ?? '' }), undefined)
})
