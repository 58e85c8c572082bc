import assert from 'node:assert/strict'
import { test } from 'node:test'
import { certificateIdOf, childKey, childOf, credentialKey, isToken, mqttLoginOf } from './credential-keys.ts'

const login = { type: 'MQTT_LOGIN', clientId: 'c"1', userName: 'u\u0000', password: 'ß' } as const

test('a login is found again in its key, a token is its own', () => {
  assert.deepEqual(mqttLoginOf(credentialKey(login) ?? ''), login)
  assert.equal(credentialKey({ type: 'ACCESS_TOKEN', token: 'T' }), 'T')
  assert.equal(mqttLoginOf('T'), undefined)
})

test('a token that looks like a login is nobody’s', () => {
  assert.equal(credentialKey({ type: 'ACCESS_TOKEN', token: credentialKey(login) ?? '' }), undefined)
})

test('a certificate is found by the hash of its Base64 text, and by nothing else', () => {
  const key =
    credentialKey({
      type: 'X509_CERTIFICATE',
      certificate: Buffer.from('certificate'),
      authorities: [],
      clientAddress: '',
    }) ?? ''
  // printf Y2VydGlmaWNhdGU= | openssl dgst -sha3-256
  assert.equal(certificateIdOf(key), '0988059d88967c6f08576b77775028547416724a9c4ddc617c0fd25a581cbbd9')
  assert.deepEqual([isToken(key), mqttLoginOf(key), childOf(key)], [false, undefined, undefined])
  assert.equal(credentialKey({ type: 'ACCESS_TOKEN', token: key }), undefined)
  for (const other of ['T', credentialKey(login) ?? '', childKey('t', 'd')])
    assert.equal(certificateIdOf(other), undefined)
})
