/** The pool while an operator changes it, and while its threads and sandbox processes are ended: real threads, real processes. */
import assert from 'node:assert/strict'
import { readFileSync, readdirSync } from 'node:fs'
import { after, describe, test } from 'node:test'
import { systemClock } from '../../../model/system-clock.ts'
import { createWorkerAdmin } from '../../workers/admin.ts'
import type { CompiledScript } from '../script.ts'
import { createJavaScriptWorkers, type JavaScriptWorkers } from './javascript-workers.ts'
import { outcomesOf, scriptMessage } from './testkit.ts'

const opened: JavaScriptWorkers[] = []
after(async () => {
  for (const workers of opened) await workers.close()
})

function open(options: { readonly threads: number; readonly minThreads?: number; readonly idleTimeoutMs?: number }) {
  const workers = createJavaScriptWorkers({
    clock: systemClock,
    memoryLimitMb: 16,
    timeoutMs: 1000,
    queueBound: 100_000,
    ...options,
  })
  opened.push(workers)
  const compile = (body: string, tenantId = 'tenant'): Promise<CompiledScript<'filter'>> =>
    workers.compile({ language: 'JS', kind: 'filter', body, tenantId, ownerId: `node of ${tenantId}` })
  return { workers, admin: createWorkerAdmin([workers]), compile }
}

/** Ids of the sandbox processes of this process. */
function sandboxes(): readonly number[] {
  return readdirSync('/proc/self/task')
    .flatMap((thread) => kernelText(`self/task/${thread}/children`).trim().split(' '))
    .filter((pid) => pid !== '' && kernelText(`${pid}/cmdline`).includes('sandbox-process'))
    .map(Number)
}

function kernelText(name: string): string {
  try {
    return readFileSync(`/proc/${name}`, 'utf8')
  } catch {
    return '' // It has ended meanwhile.
  }
}

/** Waits for what has no event of its own: an end of another process. */
async function eventually(what: string, holds: () => boolean): Promise<void> {
  const until = performance.now() + 120_000
  while (!holds()) {
    if (performance.now() > until) throw new Error(`${what} did not happen in 120 s`)
    await new Promise((resolve) => setImmediate(resolve))
  }
}

describe('a pool that is changed while it runs', () => {
  test('loses, repeats and reorders no message, whatever is changed and however often', async () => {
    const { admin, compile } = open({ threads: 1 })
    const script = await compile('return msg % 3 === 0')
    let stop = false
    let sent = 0
    const feed = async (): Promise<void> => {
      while (!stop) {
        const first = sent
        sent += 700
        const messages = Array.from({ length: 700 }, (_, index) => scriptMessage(String(first + index)))
        const outcomes = await outcomesOf(script, messages)
        assert.deepEqual(
          outcomes,
          messages.map((_, index) => (first + index) % 3 === 0),
        )
      }
    }
    const feeds = [feed(), feed(), feed()]
    for (const change of [
      { threads: 3 },
      { batchMessages: 7, concurrentTasks: 4 },
      { timeoutMs: 700, memoryLimitMb: 24 },
      { threads: 1, queueBound: 90_000 },
      { batchMessages: 512, idleTimeoutMs: 1000 },
      { threads: 2 },
    ])
      await admin.resize('javascript', change)
    stop = true
    await Promise.all(feeds)
    const { settings, work, waiting, running } = admin.pool('javascript')
    assert.equal(work.totals.messages, sent)
    assert.deepEqual([work.totals.errors, work.totals.refused, waiting, running], [0, 0, 0, 0])
    assert.deepEqual(settings, {
      threads: 2,
      minThreads: 2,
      idleTimeoutMs: 1000,
      concurrentTasks: 4,
      queueBound: 90_000,
      batchMessages: 512,
      memoryLimitMb: 24,
      timeoutMs: 700,
    })
  })

  test('holds to a new time limit and a new queue bound at once', async () => {
    const { admin, compile } = open({ threads: 1 })
    const script = await compile('if (msg.loop) for (;;);\nreturn true')
    await admin.resize('javascript', { timeoutMs: 50, queueBound: 100 })
    assert.deepEqual(await outcomesOf(script, [scriptMessage('{"loop":1}')]), [
      'script stopped after 50 ms (line 1, column 15)',
    ])
    assert.deepEqual(await outcomesOf(script, new Array(101).fill(scriptMessage('{}'))), [
      ...new Array<string>(101).fill('script queue holds 0 messages, at most 100 are allowed'),
    ])
    const { totals } = admin.pool('javascript').work
    assert.deepEqual([totals.timeouts, totals.refused, totals.errors], [1, 101, 1])
  })

  test('is left as it was by a change that is refused', async () => {
    const { admin } = open({ threads: 1 })
    const before = admin.pool('javascript').settings
    await assert.rejects(admin.resize('javascript', { threads: 0 }), { code: 'workers.SETTING' })
    await assert.rejects(admin.resize('other', {}), {
      code: 'workers.UNKNOWN_POOL',
      message: "there is no worker pool 'other': there are javascript",
    })
    assert.deepEqual(admin.pool('javascript').settings, before)
    await admin.resize('javascript', { threads: 2 })
    assert.equal(admin.pool('javascript').settings.threads, 2)
  })

  test('ends threads, with their processes, that had nothing to do', async () => {
    const before = sandboxes().length
    const { workers, compile } = open({ threads: 3, minThreads: 1, idleTimeoutMs: 20 })
    const script = await compile('for (var i = 0; i < 1e5; i++);\nreturn true')
    await outcomesOf(script, [scriptMessage('{}')])
    const many = outcomesOf(script, new Array(5000).fill(scriptMessage('{}')))
    await eventually('a second thread', () => workers.figures().threads > 1)
    await many
    await eventually('the end of all but one thread', () => workers.figures().threads === 1)
    await eventually('the end of their processes', () => sandboxes().length <= before + 1)
    assert.deepEqual(await outcomesOf(script, [scriptMessage('{}')]), [true])
  })
})

describe('a sandbox process that is killed', () => {
  test('costs no message: what ran in it is tried again, in order', async () => {
    const mine = new Set(sandboxes())
    const { workers, compile } = open({ threads: 1 })
    const script = await compile('for (var i = 0; i < 20000; i++);\nreturn msg % 2 === 0')
    const messages = Array.from({ length: 30_000 }, (_, index) => scriptMessage(String(index)))
    const outcomes = outcomesOf(script, messages)
    for (let kill = 1; kill <= 3; kill++) {
      await eventually('a process', () => workers.figures().running > 0 && sandboxes().some((pid) => !mine.has(pid)))
      for (const pid of sandboxes()) {
        if (mine.has(pid)) continue
        process.kill(pid, 'SIGKILL')
        mine.add(pid)
      }
      await eventually('its death', () => workers.figures().deaths >= kill || workers.figures().running === 0)
    }
    assert.deepEqual(
      await outcomes,
      messages.map((_, index) => index % 2 === 0),
    )
    assert.ok(workers.figures().deaths >= 1)
  })

  test('Q3: a message that kills it every time fails alone and is blamed, its neighbours and other tenants are served', async () => {
    // What a thread and its process take to start: a neighbour may have to wait for some.
    const startingAt = performance.now()
    await outcomesOf(await open({ threads: 1 }).compile('return true'), [scriptMessage('{}')])
    const startMs = performance.now() - startingAt
    const { workers, admin, compile } = open({ threads: 2 })
    // Overflows the heap in one leap, which ends the process and not the isolate.
    const poison = await compile('if (msg === "poison") new Array(5e7).fill(1);\nreturn true', 'hostile')
    const neighbour = await compile('return true', 'neighbour')
    const startedAt = performance.now()
    const bad = outcomesOf(
      poison,
      ['1', '"poison"', '3'].map((data) => scriptMessage(data)),
    )
    const good = outcomesOf(neighbour, new Array(1000).fill(scriptMessage('{}')))
    assert.ok((await good).every((outcome) => outcome === true))
    const neighbourMs = performance.now() - startedAt
    const [first, second, third] = await bad
    assert.equal(first, true)
    assert.match(String(second), /^script was put aside, it broke its sandbox|^script exceeded its memory limit/)
    assert.ok(third === true || third === 'script invocation is blocked due to maximum error count 3', String(third))
    assert.ok(
      neighbourMs < Math.max(5000, 5 * startMs),
      `the neighbour waited ${neighbourMs} ms, a start takes ${startMs} ms`,
    )
    assert.equal(workers.figures().threads, 2)
    const script = admin.pool('javascript').busiestScripts.find(({ tenantId }) => tenantId === 'hostile')
    assert.ok(script !== undefined && script.work.totals.errors >= 1)
  })
})

describe('the breaker of a rule node', () => {
  const ENDLESS = 'for (;;);'

  test('stays open when the node is deployed once more as it was, and closed when its script was changed', async () => {
    const { workers, admin, compile } = open({ threads: 1 })
    await workers.resize({ timeoutMs: 30 })
    const script = await compile(ENDLESS)
    await outcomesOf(script, new Array(3).fill(scriptMessage('{}')))
    const same = await compile(ENDLESS)
    script.close()
    assert.deepEqual(await outcomesOf(same, [scriptMessage('{}')]), [
      'script invocation is blocked due to maximum error count 3',
    ])
    const changed = await compile('return true')
    same.close()
    assert.deepEqual(await outcomesOf(changed, [scriptMessage('{}')]), [true])
    assert.equal(admin.pool('javascript').breakersOpen, 0)
  })

  test('is shown first, with the time until its trial', async () => {
    const { workers, admin, compile } = open({ threads: 1 })
    await workers.resize({ timeoutMs: 30 })
    const busy = await compile('return true', 'busy')
    const endless = await compile(ENDLESS, 'hostile')
    await outcomesOf(endless, new Array(3).fill(scriptMessage('{}')))
    await outcomesOf(endless, new Array(500).fill(scriptMessage('{}')))
    await outcomesOf(busy, new Array(2000).fill(scriptMessage('{}')))
    const [first, second] = admin.pool('javascript').busiestScripts
    assert.equal(first?.tenantId, 'hostile')
    assert.equal(first?.breaker.state, 'open')
    assert.ok(first !== undefined && first.breaker.retryInMs > 50_000 && first.breaker.retryInMs <= 60_000)
    assert.deepEqual([first?.work.totals.timeouts, first?.work.totals.blocked], [3, 500])
    assert.equal(second?.breaker.state, 'closed')
  })
})
