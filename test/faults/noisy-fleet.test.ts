/**
 * A hostile fleet beside devices that behave: 500 connections that never end what they begin, 10,000 reconnects a minute, rubbish, clients
 * that never read, datagrams of strangers. `NOISY_P99=1` compares latencies too, which needs a machine that is otherwise idle.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { z } from 'zod'
import { login, RestClient } from '../support/clients.ts'
import { FLOOR_MS, pacedPosts, type PacedPosts } from '../support/paced-posts.ts'
import { startMillrace } from '../support/start-millrace.ts'

const SECONDS = Number(process.env['NOISY_SECONDS'] ?? 6)
const COMPARES_P99 = process.env['NOISY_P99'] === '1'
const WARM_UP_SECONDS = COMPARES_P99 ? 20 : 1
const DEVICES = 20
const HEALTHY: PacedPosts = { name: 'HEALTHY', devices: DEVICES, seconds: SECONDS, rate: 200 }
/** What a hostile fleet may cost in memory, beside what any load costs. */
const MAX_GROWTH_MIB = 150
/** Bytes of an answer to each byte of a stranger's datagram: what is asked by another's address is no weapon (RFC 7252, 11.3). */
const MAX_AMPLIFICATION = 1.5

const Counts = z.object({
  ...{ opened: z.number(), reconnects: z.number(), rubbish: z.number(), datagrams: z.number() },
  ...{ answeredBytes: z.number(), askedBytes: z.number(), pushedBytes: z.number() },
})

test('a hostile fleet leaves devices that behave their rate, and amplifies nothing', async (context) => {
  const millrace = await startMillrace()
  context.after(() => millrace.stop())
  const rest = new RestClient(millrace, await login(millrace))
  for (let device = 0; device < DEVICES; device++) await rest.createDevice(`healthy ${device}`, `HEALTHY_${device}`)
  await rest.createDevice('hostile', 'HOSTILE')
  await pacedPosts(millrace, { ...HEALTHY, seconds: WARM_UP_SECONDS })
  const alone = await pacedPosts(millrace, HEALTHY)
  const before = await residentMiB(millrace.pid)
  const hostile = new Worker(join(import.meta.dirname, '..', 'support', 'hostile-fleet.ts'), {
    workerData: { ...millrace.ports, token: 'HOSTILE' },
  })
  await once(hostile, 'online')
  const beside = await pacedPosts(millrace, HEALTHY)
  const after = await residentMiB(millrace.pid)
  hostile.postMessage('end')
  const told: readonly unknown[] = await once(hostile, 'message')
  const counts = Counts.parse(told[0])
  await hostile.terminate()
  const again = await pacedPosts(millrace, { ...HEALTHY, seconds: 1 })
  context.diagnostic(JSON.stringify({ alone, beside, counts, residentMiB: { before, after } }))
  assert.ok(counts.reconnects > 100 * SECONDS, 'the hostile fleet hardly ran')
  assert.equal(beside.refused + again.refused, 0, 'devices that behave were refused')
  assert.ok(beside.acknowledged >= 0.9 * alone.acknowledged, `${beside.acknowledged} of ${alone.acknowledged} alone`)
  assert.ok(
    counts.answeredBytes > 0 && counts.answeredBytes <= MAX_AMPLIFICATION * counts.askedBytes,
    `strangers sent ${counts.askedBytes} bytes and got ${counts.answeredBytes}`,
  )
  assert.ok(after - before < MAX_GROWTH_MIB, `${before} MiB before, ${after} MiB after`)
  const isLate = beside.p99Ms > Math.max(FLOOR_MS, 2 * alone.p99Ms)
  assert.ok(!COMPARES_P99 || !isLate, `p99 ${beside.p99Ms} ms, alone ${alone.p99Ms} ms`)
})

async function residentMiB(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Math.round(Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]) / 1024)
}
