import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DeviceCredentials } from '../../model/entities.ts'
import { connectivityDefaults, type Connected } from './connectivity.ts'
import { gatewayCompose } from './gateway-compose.ts'

const baseUrl = 'http://127.0.0.1:8080'

function connected(credentials: Pick<DeviceCredentials, 'credentialsType' | 'credentialsId' | 'credentialsValue'>) {
  const made: Connected = {
    credentials: { id: '', createdTime: 0, tenantId: '', deviceId: '', version: 1, ...credentials },
    profile: { transportType: 'DEFAULT', profileData: null },
    settings: connectivityDefaults(baseUrl, { mqtt: 2883 }),
    baseUrl,
  }
  return made
}

const TOKEN = { credentialsType: 'ACCESS_TOKEN', credentialsId: 'a "$x', credentialsValue: null } as const

test('a gateway in a container reaches the host by its name there, and logs in by its token', () => {
  const lines = gatewayCompose(connected(TOKEN))?.split('\n') ?? []
  for (const line of ['"TB_GW_HOST=host.docker.internal"', '"TB_GW_PORT=2883"', '"TB_GW_SECURITY_TYPE=accessToken"'])
    assert.ok(lines.includes(`      - ${line}`), line)
  // Neither YAML nor Compose reads anything in it.
  assert.ok(lines.includes('      - "TB_GW_ACCESS_TOKEN=a \\"$$x"'))
})

test('a gateway with a user name and a password is told both', () => {
  const credentialsValue = '{"clientId":null,"userName":"u","password":"p"}'
  const text = gatewayCompose(connected({ credentialsType: 'MQTT_BASIC', credentialsId: 'u', credentialsValue }))
  assert.match(text ?? '', /TB_GW_SECURITY_TYPE=usernamePassword"\n\s+- "TB_GW_USERNAME=u"\n\s+- "TB_GW_PASSWORD=p"\n/)
})

test('there is none by a certificate, nor where MQTT is closed', () => {
  const x509 = { credentialsType: 'X509_CERTIFICATE', credentialsId: 'h', credentialsValue: 'c' } as const
  assert.equal(gatewayCompose(connected(x509)), undefined)
  assert.equal(gatewayCompose({ ...connected(TOKEN), settings: {} }), undefined)
})
