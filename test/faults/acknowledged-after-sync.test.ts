/**
 * Acknowledged means on the disk, on JetStream too: the system calls of nats-server are traced while devices send, and every answer
 * of 200 is held against the sync of the file that its message was written to.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { test, type TestContext } from 'node:test'
import { RestClient, login } from '../support/clients.ts'
import { requireTool } from '../support/require-tool.ts'
import { requireOwnServer } from '../support/servers/index.ts'
import { startProductionServers } from '../support/start-cluster.ts'
import { startMillrace } from '../support/start-millrace.ts'

const DEVICES = 8
const MESSAGES_EACH = 125

interface Answered {
  readonly marker: string
  /** Of the system's clock, ms: what strace tells too. */
  readonly at: number
}

test(
  'D4: a device is answered after NATS has synced the file with its message',
  { timeout: 600_000 },
  async (context) => {
    if (!requireOwnServer(context, 'nats', 'postgres', 'questdb') || !requireTool(context, 'strace')) return
    const servers = await startProductionServers({ nats: { syncInterval: 'always' } })
    context.after(() => servers.stop())
    const millrace = await startMillrace({ environment: servers.environment })
    context.after(() => millrace.kill())
    const rest = new RestClient(millrace, await login(millrace))
    const tokens = Array.from({ length: DEVICES }, (_, index) => `SYNCED_${index}`)
    await Promise.all(tokens.map((token) => rest.createDevice(token, token)))

    const trace = await startTrace(context, servers.nats.pid)
    const answered = (await Promise.all(tokens.map((token) => sendAll(millrace.url, token)))).flat()
    const calls = parseTrace(await trace.end())

    const early = answered.filter(({ marker, at }) => !isSyncedBefore(calls, marker, at))
    const syncs = calls.filter(({ kind }) => kind === 'sync').length
    context.diagnostic(`${answered.length} answers, ${early.length} before the sync; ${syncs} syncs`)
    assert.equal(answered.length, DEVICES * MESSAGES_EACH)
    assert.deepEqual(early, [])
  },
)

async function sendAll(url: string, token: string): Promise<Answered[]> {
  const answered: Answered[] = []
  for (let number = 1; number <= MESSAGES_EACH; number++) {
    const marker = `<${token}:${number}>`
    const response = await fetch(`${url}/api/v1/${token}/telemetry`, {
      method: 'POST',
      body: JSON.stringify({ marker }),
    })
    const at = performance.timeOrigin + performance.now()
    await response.arrayBuffer()
    assert.equal(response.status, 200)
    answered.push({ marker, at })
  }
  return answered
}

interface Trace {
  /** What was written since the start. */
  end(): Promise<string>
}

async function startTrace(context: TestContext, pid: number): Promise<Trace> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-trace-'))
  const file = join(folder, 'calls')
  const calls = 'trace=write,pwrite64,writev,pwritev,fsync,fdatasync'
  const strace = spawn(
    'strace',
    ['-f', '-y', '-ttt', '-T', '-s', '100000', '-e', calls, '-o', file, '-p', String(pid)],
    {
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  )
  const ended = once(strace, 'exit')
  context.after(async () => {
    strace.kill('SIGKILL')
    await rm(folder, { recursive: true, force: true })
  })
  for await (const line of createInterface({ input: strace.stderr })) if (line.includes('attached')) break
  return {
    end: async () => {
      strace.kill('SIGINT')
      await ended
      return readFile(file, 'utf8')
    },
  }
}

interface Call {
  readonly kind: 'write' | 'sync'
  readonly path: string
  readonly beganAt: number
  readonly endedAt: number
  readonly text: string
}

const LINE = /^(\d+) +(\d+\.\d+) (.*)$/
const COMPLETE = /^(p?write(?:64|v)?|fsync|fdatasync)\(\d+<([^>]*)>(.*)\) = \d+ <([\d.]+)>$/
const UNFINISHED = / <unfinished \.\.\.>$/
const RESUMED = /^<\.\.\. \w+ resumed>(.*)$/

/** Calls of several threads are interleaved: what one began, a later line of the same thread ends. */
function parseTrace(text: string): Call[] {
  const begun = new Map<string, { readonly at: number; readonly head: string }>()
  const calls: Call[] = []
  for (const line of text.split('\n')) {
    const [, thread = '', seconds = '', rest = ''] = LINE.exec(line) ?? []
    const at = Number(seconds) * 1_000
    if (UNFINISHED.test(rest)) {
      begun.set(thread, { at, head: rest.replace(UNFINISHED, '') })
      continue
    }
    const tail = RESUMED.exec(rest)?.[1]
    const start = tail === undefined ? undefined : begun.get(thread)
    const [, name = '', path = '', written = '', took = ''] = COMPLETE.exec((start?.head ?? '') + (tail ?? rest)) ?? []
    if (name === '') continue
    const beganAt = start?.at ?? at
    const kind = name.startsWith('f') ? 'sync' : 'write'
    calls.push({ kind, path, beganAt, endedAt: beganAt + Number(took) * 1_000, text: written })
  }
  return calls
}

function isSyncedBefore(calls: readonly Call[], marker: string, answeredAt: number): boolean {
  const write = calls.find(({ kind, path, text }) => kind === 'write' && path.endsWith('.blk') && text.includes(marker))
  if (write === undefined) return false
  return calls.some(
    ({ kind, path, beganAt, endedAt }) =>
      kind === 'sync' && path === write.path && beganAt >= write.endedAt && endedAt <= answeredAt,
  )
}
