/** HTTPS without a proxy, by real clients: REST, WebSocket and a device; a certificate renewed while all of it goes on. */
import assert from 'node:assert/strict'
import { on, once } from 'node:events'
import { copyFile, readFile } from 'node:fs/promises'
import { request } from 'node:https'
import { test } from 'node:test'
import type { TLSSocket } from 'node:tls'
import { WebSocket } from 'ws'
import { DEMO_ACCESS_TOKEN, DEMO_LOGINS } from '../../services/seed.ts'
import { createAuthority } from '../support/certificates.ts'
import { startMillrace } from '../support/start-millrace.ts'
import { eventually } from './wait.ts'

interface Answer {
  readonly status: number | undefined
  readonly text: string
  /** In the certificate that was shown. */
  readonly name: string
}

test(
  'REST, WebSocket and devices over TLS; a renewed certificate ends nothing',
  { timeout: 600_000 },
  async (context) => {
    const authority = await createAuthority(context)
    const files = await authority.issue(['first.example', '127.0.0.1'])
    const millrace = await startMillrace({
      environment: { SSL_ENABLED: 'true', SSL_PEM_CERT: files.certFile, SSL_PEM_KEY: files.keyFile },
    })
    context.after(() => millrace.stop())
    const ca = await readFile(authority.caFile)
    const port = millrace.ports['http'] ?? 0
    const call = (method: string, path: string, body?: object, token?: string): Promise<Answer> =>
      new Promise((resolve, reject) => {
        const headers = {
          'content-type': 'application/json',
          ...(token === undefined ? {} : { 'x-authorization': `Bearer ${token}` }),
        }
        const sent = request({ host: '127.0.0.1', port, path, method, headers, ca, agent: false }, (response) => {
          const name = String((response.socket as TLSSocket).getPeerCertificate().subject.CN)
          let text = ''
          response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
          response.on('end', () => resolve({ status: response.statusCode, text, name }))
        })
        sent.on('error', reject)
        sent.end(body === undefined ? '' : JSON.stringify(body))
      })

    const { email: username, password } = DEMO_LOGINS.tenantAdministrator
    const { token } = JSON.parse((await call('POST', '/api/auth/login', { username, password })).text) as {
      token: string
    }
    const devices = await call('GET', '/api/tenant/devices?pageSize=1&page=0', undefined, token)
    const [device] = (JSON.parse(devices.text) as { data: { id: { id: string } }[] }).data
    assert.ok(device !== undefined)

    const socket = new WebSocket(`wss://127.0.0.1:${port}/api/ws?token=${token}`, { ca })
    await once(socket, 'open')
    const frameWith = async (text: string): Promise<void> => {
      for await (const [frame] of on(socket, 'message')) if (String(frame).includes(text)) return
    }
    const first = frameWith('overTls')
    const command = { type: 'TIMESERIES', cmdId: 1, entityType: 'DEVICE', entityId: device.id.id, keys: 'overTls' }
    socket.send(JSON.stringify({ cmds: [command] }))
    await first
    const shown = frameWith('"17"')
    const send = (value: number) => call('POST', `/api/v1/${DEMO_ACCESS_TOKEN}/telemetry`, { overTls: value })
    assert.deepEqual(await send(17), { status: 200, text: '', name: 'first.example' })
    await shown

    const next = await authority.issue(['second.example', '127.0.0.1'])
    await copyFile(next.certFile, files.certFile)
    await copyFile(next.keyFile, files.keyFile)
    await eventually(
      () => call('GET', '/health'),
      ({ name }) => name === 'second.example',
    )
    const shownToo = frameWith('"18"')
    assert.equal((await send(18)).status, 200)
    await shownToo
    assert.equal(socket.readyState, WebSocket.OPEN)
    socket.close()
  },
)

test('a start whose certificate can not be read says so in one sentence', { timeout: 600_000 }, async () => {
  await assert.rejects(
    startMillrace({ environment: { SSL_ENABLED: 'true', SSL_PEM_CERT: '/nowhere/server.pem' } }),
    /SSL_PEM_CERT=\/nowhere\/server\.pem can not be used: ENOENT/,
  )
})
