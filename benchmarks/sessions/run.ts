/**
 * How much memory does an idle MQTT session take? Resident memory of the process before and after 15,000 sessions of as many
 * devices, and the same for a bare `node:net` server that only accepts.
 *
 *   node benchmarks/sessions/run.ts [--sessions 15000] [--runs 3]
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { RestClient, login } from '../../test/support/clients.ts'
import { startMillrace } from '../../test/support/start-millrace.ts'
import { BENCHMARKS, residentBytes, spread, writeResult } from '../lib/report.ts'

const { values } = parseArgs({
  options: { sessions: { type: 'string', default: '15000' }, runs: { type: 'string', default: '3' } },
})
const sessions = Number(values.sessions)
const runs = Number(values.runs)
const SETTLE_MS = 3000

async function line(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new Error('no standard output')
  for await (const text of createInterface({ input: child.stdout })) return text
  throw new Error('the process ended without a line')
}

/** Bytes a session of the process: what its resident memory grew by. */
async function grown(pid: number, port: number, kind: 'mqtt' | 'bare', token: string): Promise<number> {
  await delay(SETTLE_MS)
  const before = residentBytes(pid)
  const holder = spawn(
    process.execPath,
    [join(BENCHMARKS, 'sessions', 'hold.ts'), String(port), String(sessions), kind, token],
    {
      stdio: ['pipe', 'pipe', 'inherit'],
    },
  )
  await line(holder)
  await delay(SETTLE_MS)
  const bytes = (residentBytes(pid) - before) / sessions
  holder.stdin?.end()
  await once(holder, 'exit')
  return Math.round(bytes)
}

const mqtt: number[] = []
const bare: number[] = []
for (let run = 0; run < runs; run++) {
  const millrace = await startMillrace()
  try {
    const rest = new RestClient(millrace, await login(millrace))
    for (let first = 0; first < sessions; first += 100) {
      await Promise.all(
        Array.from({ length: 100 }, (_, index) => rest.createDevice(`idle ${first + index}`, `IDLE_${first + index}`)),
      )
    }
    mqtt.push(await grown(millrace.pid, millrace.ports['mqtt'] ?? 0, 'mqtt', 'IDLE_'))
  } finally {
    await millrace.stop()
  }
  const server = spawn(process.execPath, [join(BENCHMARKS, 'sessions', 'bare-server.ts')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  try {
    bare.push(await grown(server.pid ?? 0, Number(await line(server)), 'bare', ''))
  } finally {
    server.kill()
    await once(server, 'exit')
  }
  process.stderr.write(`an MQTT session ${mqtt.at(-1)} bytes, a bare socket ${bare.at(-1)} bytes\n`)
}
const above = spread(mqtt.map((bytes, index) => bytes - (bare[index] ?? 0)))
writeResult('sessions', `node benchmarks/sessions/run.ts --sessions ${sessions} --runs ${runs}`, {
  sessions,
  bytesPerMqttSession: spread(mqtt),
  bytesPerBareSocket: spread(bare),
  bytesAboveBareSocket: above,
})
