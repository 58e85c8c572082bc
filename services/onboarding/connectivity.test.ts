import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { describe, test } from 'node:test'
import type { CredentialsType, DeviceCredentials } from '../../model/entities.ts'
import type { JsonObject } from '../../model/json.ts'
import { connectivityCommands, connectivityDefaults, type Connected } from './connectivity.ts'

const BASE = 'http://127.0.0.1:8080'

function credentialsOf(credentialsType: CredentialsType, id: string, value: string | null = null): DeviceCredentials {
  return {
    ...{ id: 'c', createdTime: 0, version: 1, tenantId: 't', deviceId: 'd' },
    ...{ credentialsType, credentialsId: id, credentialsValue: value },
  }
}

function commands(change: Partial<Connected> = {}): JsonObject {
  return connectivityCommands({
    credentials: credentialsOf('ACCESS_TOKEN', 'token'),
    profile: { transportType: 'DEFAULT', profileData: {} },
    settings: connectivityDefaults(BASE, {}),
    baseUrl: BASE,
    ...change,
  })
}

const every = Object.fromEntries(
  ['http', 'https', 'mqtt', 'mqtts', 'coap', 'coaps'].map((protocol, index) => [
    protocol,
    { enabled: true, host: 'iot.example.org', port: String(1000 + index) },
  ]),
)

describe('commands for devices', () => {
  test('are of what is open: HTTP, MQTT and CoAP where nobody said else', () => {
    const mqtt = 'mosquitto_pub -d -q 1 -h 127.0.0.1 -p 1883 -t v1/devices/me/telemetry -u token -m "{temperature:25}"'
    const inDocker = mqtt.replace('127.0.0.1', 'host.docker.internal')
    assert.deepEqual(commands(), {
      http: {
        http: 'curl -v -X POST http://127.0.0.1:8080/api/v1/token/telemetry --header Content-Type:application/json --data "{temperature:25}"',
      },
      mqtt: {
        mqtt,
        docker: {
          mqtt: `docker run --rm -it --add-host=host.docker.internal:host-gateway eclipse-mosquitto ${inDocker}`,
        },
      },
      coap: {
        coap: 'coap-client -v 6 -m POST -t "application/json" -e "{temperature:25}" coap://127.0.0.1:5683/api/v1/token/telemetry',
      },
    })
  })

  test('name the ports that MQTT and CoAP are served at', () => {
    const text = JSON.stringify(commands({ settings: connectivityDefaults(BASE, { mqtt: 2883, coap: 6683 }) }))
    assert.ok(text.includes('-h 127.0.0.1 -p 2883 -t') && text.includes('coap://127.0.0.1:6683/'))
  })

  test('have each protocol that the administrator opened, by what the device presents', () => {
    const all = commands({ settings: every })
    assert.deepEqual(Object.keys(all), ['http', 'mqtt', 'coap'])
    assert.ok(JSON.stringify(all).includes('coaps://iot.example.org:1005/api/v1/token/telemetry'))
    assert.ok(JSON.stringify(all).includes(`${BASE}/api/device-connectivity/mqtts/certificate/download`))
    const basic = credentialsOf('MQTT_BASIC', 'x', '{"clientId":"c","userName":"u","password":"p w"}')
    const ofBasic = commands({ settings: every, credentials: basic })
    assert.deepEqual(Object.keys(ofBasic), ['mqtt', 'coap'])
    assert.ok(JSON.stringify(ofBasic).includes("-i c -u u -P 'p w'"))
    const x509 = commands({ settings: every, credentials: credentialsOf('X509_CERTIFICATE', 'x', 'y') })
    assert.deepEqual(x509, { mqtt: { mqtts: 'Check documentation' }, coap: { coaps: 'Check documentation' } })
  })

  test('are of the profile: its transport and its topic', () => {
    const profileData = { transportConfiguration: { type: 'MQTT', deviceTelemetryTopic: 'my/topic' } }
    const ofMqtt = commands({ settings: every, profile: { transportType: 'MQTT', profileData } })
    assert.deepEqual(Object.keys(ofMqtt), ['mqtt'])
    assert.ok(JSON.stringify(ofMqtt).includes('-t my/topic'))
    const lwm2m = commands({ profile: { transportType: 'LWM2M', profileData: {} } })
    assert.deepEqual(lwm2m, { lwm2m: 'Check documentation' })
  })

  test('run nothing that a token says to whoever copies them', () => {
    const token = `x'; echo stolen; $(echo stolen) "`
    const { mqtt } = commands({ credentials: credentialsOf('ACCESS_TOKEN', token) })
    assert.ok(typeof mqtt === 'object' && mqtt !== null && 'mqtt' in mqtt && typeof mqtt.mqtt === 'string')
    const shown = execFileSync('/bin/sh', ['-c', `mosquitto_pub() { printf '%s|' "$@"; }; ${mqtt.mqtt}`]).toString()
    assert.ok(shown.includes(`|-u|${token}|`), shown)
  })
})
