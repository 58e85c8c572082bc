/**
 * How much memory does an idle MQTT session take? Resident memory of the process before and after 15,000 sessions of as many
 * devices, and the same for a bare `node:net` server that only accepts. The same once more over TLS, with fewer sessions.
 *
 *   node benchmarks/sessions/run.ts [--sessions 15000] [--tls-sessions 3000] [--runs 3]
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { createAuthority } from '../../test/support/certificates.ts'
import { RestClient, login } from '../../test/support/clients.ts'
import { startMillrace } from '../../test/support/start-millrace.ts'
import { BENCHMARKS, residentBytes, spread, writeResult } from '../lib/report.ts'

const { values } = parseArgs({
  options: {
    sessions: { type: 'string', default: '15000' },
    'tls-sessions': { type: 'string', default: '3000' },
    runs: { type: 'string', default: '3' },
  },
})
const sessions = Number(values.sessions)
const tlsSessions = Number(values['tls-sessions'])
const runs = Number(values.runs)
const SETTLE_MS = 3000
const TOKEN = 'IDLE_'

async function line(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new Error('no standard output')
  for await (const text of createInterface({ input: child.stdout })) return text
  throw new Error('the process ended without a line')
}

interface Held {
  readonly pid: number
  readonly port: number
  readonly kind: 'mqtt' | 'mqtts' | 'bare'
  readonly count: number
}

/** Bytes a session of the process: what its resident memory grew by. */
async function grown({ pid, port, kind, count }: Held): Promise<number> {
  await delay(SETTLE_MS)
  const before = residentBytes(pid)
  const holder = spawn(
    process.execPath,
    [join(BENCHMARKS, 'sessions', 'hold.ts'), String(port), String(count), kind, TOKEN],
    {
      stdio: ['pipe', 'pipe', 'inherit'],
    },
  )
  await line(holder)
  await delay(SETTLE_MS)
  const bytes = (residentBytes(pid) - before) / count
  holder.stdin?.end()
  await once(holder, 'exit')
  return Math.round(bytes)
}

async function ofMillrace(kind: 'mqtt' | 'mqtts', count: number, environment: Readonly<Record<string, string>> = {}) {
  const millrace = await startMillrace({ environment })
  try {
    const rest = new RestClient(millrace, await login(millrace))
    for (let first = 0; first < count; first += 100) {
      await Promise.all(
        Array.from({ length: 100 }, (_, index) =>
          rest.createDevice(`idle ${first + index}`, `${TOKEN}${first + index}`),
        ),
      )
    }
    return await grown({ pid: millrace.pid, port: millrace.ports[kind] ?? 0, kind, count })
  } finally {
    await millrace.stop()
  }
}

const authority = await createAuthority({ after: () => undefined })
const certificate = await authority.issue(['127.0.0.1'])
const overTls = {
  ...{ MQTT_SSL_ENABLED: 'true', MQTT_SSL_BIND_PORT: '0' },
  ...{ MQTT_SSL_PEM_CERT: certificate.certFile, MQTT_SSL_PEM_KEY: certificate.keyFile },
}

const mqtt: number[] = []
const mqtts: number[] = []
const bare: number[] = []
for (let run = 0; run < runs; run++) {
  mqtt.push(await ofMillrace('mqtt', sessions))
  mqtts.push(await ofMillrace('mqtts', tlsSessions, overTls))
  const server = spawn(process.execPath, [join(BENCHMARKS, 'sessions', 'bare-server.ts')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  try {
    const port = Number(await line(server))
    bare.push(await grown({ pid: server.pid ?? 0, port, kind: 'bare', count: sessions }))
  } finally {
    server.kill()
    await once(server, 'exit')
  }
  process.stderr.write(
    `an MQTT session ${mqtt.at(-1)} bytes, over TLS ${mqtts.at(-1)}, a bare socket ${bare.at(-1)} bytes\n`,
  )
}
const above = spread(mqtt.map((bytes, index) => bytes - (bare[index] ?? 0)))
await rm(authority.folder, { recursive: true })
writeResult(
  'sessions',
  `node benchmarks/sessions/run.ts --sessions ${sessions} --tls-sessions ${tlsSessions} --runs ${runs}`,
  {
    sessions,
    tlsSessions,
    bytesPerMqttSession: spread(mqtt),
    bytesPerMqttSessionOverTls: spread(mqtts),
    bytesPerBareSocket: spread(bare),
    bytesAboveBareSocket: above,
  },
)
