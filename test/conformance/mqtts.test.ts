/** MQTT over TLS by real clients: mosquitto_pub and MQTT.js, with a token and with a certificate, which is replaced while it is connected. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { connectAsync } from 'mqtt'
import { createAuthority } from '../support/certificates.ts'
import { DEMO_TOKEN, RestClient, login } from '../support/clients.ts'
import { requireTool } from '../support/require-tool.ts'
import { startMillrace } from '../support/start-millrace.ts'
import { eventually } from './wait.ts'

const TOPIC = 'v1/devices/me/telemetry'
const run = promisify(execFile)

interface Device {
  readonly id: { readonly id: string }
}

test(
  'devices come over TLS alone, by token or certificate; a replaced certificate is cut off',
  { timeout: 600_000 },
  async (context) => {
    if (!requireTool(context, 'mosquitto_pub')) return
    const authority = await createAuthority(context)
    const server = await authority.issue(['127.0.0.1'])
    const millrace = await startMillrace({
      environment: {
        MQTT_ENABLED: 'false',
        MQTT_SSL_ENABLED: 'true',
        MQTT_SSL_BIND_PORT: '0',
        MQTT_SSL_PEM_CERT: server.certFile,
        MQTT_SSL_PEM_KEY: server.keyFile,
        DEVICE_CONNECTIVITY_MQTTS_CA_ROOT_CERT: authority.caFile,
      },
    })
    context.after(() => millrace.stop())
    assert.equal(millrace.ports['mqtt'], undefined)
    const signer = await fetch(`${millrace.url}/api/device-connectivity/mqtts/certificate/download`)
    assert.deepEqual([signer.status, await signer.text()], [200, await readFile(authority.caFile, 'utf8')])
    const port = millrace.ports['mqtts'] ?? 0
    const tenant = new RestClient(millrace, await login(millrace))
    const first = await authority.issue(['pump'])
    const device = await tenant.expect<Device>('POST', '/api/device', { name: 'pump' })
    const certify = async (certFile: string) =>
      tenant.expect('POST', '/api/device/credentials', {
        ...(await tenant.expect<object>('GET', `/api/device/${device.id.id}/credentials`)),
        credentialsType: 'X509_CERTIFICATE',
        credentialsId: null,
        credentialsValue: await readFile(certFile, 'utf8'),
      })
    await certify(first.certFile)

    const publish = (payload: string, ...more: readonly string[]) =>
      run('mosquitto_pub', [
        ...['--cafile', authority.caFile, '-h', '127.0.0.1', '-p', String(port), '-q', '1', '-t', TOPIC, '-m', payload],
        ...more,
      ])
    const byCertificate = ['--cert', first.certFile, '--key', first.keyFile]
    await publish('{"byToken":1}', '-u', DEMO_TOKEN)
    await publish('{"byCertificate":1}', ...byCertificate, '-u', DEMO_TOKEN)
    const latest = () =>
      tenant.call('GET', `/api/plugins/telemetry/DEVICE/${device.id.id}/values/timeseries?keys=byCertificate`)
    await eventually(latest, ({ text }) => text.includes('"value":"1"'))
    await assert.rejects(
      run('mosquitto_pub', ['-h', '127.0.0.1', '-p', String(port), '-u', DEMO_TOKEN, '-t', TOPIC, '-m', '{}']),
    )

    const makers = await authority.subordinate()
    const made = await makers.issue(['made'])
    await tenant.expect('POST', '/api/deviceProfile', {
      name: 'of a maker',
      type: 'DEFAULT',
      transportType: 'DEFAULT',
      provisionType: 'X509_CERTIFICATE_CHAIN',
      profileData: {
        provisionConfiguration: {
          type: 'X509_CERTIFICATE_CHAIN',
          provisionDeviceSecret: await readFile(makers.caFile, 'utf8'),
          certificateRegExPattern: '(.*)',
          allowCreateNewDevicesByX509Certificate: true,
        },
      },
    })
    await assert.rejects(publish('{"a":1}', '--cert', made.certFile, '--key', made.keyFile), /not authori[sz]ed/i)
    const chain = join(authority.folder, 'chain.pem')
    await writeFile(chain, [await readFile(made.certFile, 'utf8'), await readFile(makers.caFile, 'utf8')])
    await publish('{"a":1}', '--cert', chain, '--key', made.keyFile)
    const born = await tenant.expect<{ type: string }>('GET', '/api/tenant/devices?deviceName=made')
    assert.equal(born.type, 'of a maker')

    const client = await connectAsync(`mqtts://127.0.0.1:${port}`, {
      ca: await readFile(authority.caFile),
      cert: await readFile(first.certFile),
      key: await readFile(first.keyFile),
      protocolVersion: 5,
      reconnectPeriod: 0,
    })
    const cut = new Promise<void>((resolve) => client.once('close', () => resolve()))
    const before = performance.now()
    await certify((await authority.issue(['pump'])).certFile)
    await cut
    assert.ok(performance.now() - before < 5000)
    await assert.rejects(publish('{"byCertificate":2}', ...byCertificate), /not authori[sz]ed/i)
  },
)
