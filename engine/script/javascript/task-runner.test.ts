import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Clock } from '../../../model/clock.ts'
import { isMillraceError } from '../../../model/errors.ts'
import { createJavaScriptWorkers } from './javascript-workers.ts'
import type { CompiledScript } from '../script.ts'
import type { SandboxAnswer, SandboxRequest } from './protocol.ts'
import type { SandboxPool } from './task-runner.ts'
import { handClock, outcomesOf, scriptMessage } from './testkit.ts'

type Serve = (data: readonly string[], tenantId: string) => SandboxAnswer | Promise<SandboxAnswer>

/** A pool that answers without a sandbox; it hears the data of each batch. */
function poolOf(serve: Serve, clock: Clock): SandboxPool {
  return {
    threads: 1,
    async run(request: SandboxRequest) {
      if (request.type === 'compile') return { answer: { type: 'compiled' }, runMs: 0, usedMs: 0 }
      const startedAt = clock.monotonic()
      const [head = '', ...rest] = request.batch.split('\n')
      const lengths = JSON.parse(head) as number[]
      const data: string[] = []
      let offset = 0
      lengths.forEach((length, index) => {
        if (index % 3 === 0) data.push(rest.join('\n').slice(offset, offset + length))
        offset += length
      })
      const answer = await serve(data, request.tenantId)
      // No call takes no time at all.
      const runMs = clock.monotonic() - startedAt + 0.01
      return { answer, runMs, usedMs: runMs }
    },
    close: () => Promise.resolve(),
  }
}

function allTrue(data: readonly string[]): SandboxAnswer {
  return { type: 'ran', outcomes: JSON.stringify(data.map(() => true)), count: data.length }
}

/** The data of a message that shows that a script is quick: until then it has one task under way at a time. */
const PROOF = '"proof"'

async function proven(compiling: Promise<CompiledScript<'filter'>>): Promise<CompiledScript<'filter'>> {
  const script = await compiling
  assert.deepEqual(await outcomesOf(script, [scriptMessage(PROOF)]), [true])
  return script
}

function workersOf(serve: Serve, threads = 1) {
  const clock = handClock()
  const workers = createJavaScriptWorkers(
    { clock, threads, memoryLimitMb: 16, timeoutMs: 100, queueBound: 100_000 },
    () => poolOf(serve, clock),
  )
  const compile = (tenantId: string) =>
    workers.compile({ language: 'JS', kind: 'filter', body: 'return true', tenantId, ownerId: 'node' })
  return { clock, workers, compile }
}

describe('a sandbox that dies', () => {
  test('is tried again message by message; the one that kills it alone is blamed and its script put aside', async () => {
    const batches: string[] = []
    const { clock, workers, compile } = workersOf((data) => {
      batches.push(data.join())
      return data.includes('"kill"') ? { type: 'died', reason: 'killed' } : allTrue(data)
    })
    const script = await compile('tenant')
    const outcomes = await outcomesOf(
      script,
      ['1', '2', '"kill"', '4'].map((data) => scriptMessage(data)),
    )
    assert.deepEqual(batches, ['1,2,"kill",4', '1', '2,"kill",4', '2', '"kill",4', '"kill"'])
    assert.deepEqual(outcomes, [
      true,
      true,
      'script was put aside, it broke its sandbox: killed',
      'script invocation is blocked due to maximum error count 3',
    ])
    assert.equal(workers.figures().deaths, 4)
    clock.advance(60_000)
    assert.deepEqual(await outcomesOf(script, [scriptMessage('5')]), [true])
  })

  test('once, for a reason outside of the script, costs no message', async () => {
    let deaths = 0
    const { compile } = workersOf((data) => (deaths++ === 0 ? { type: 'died', reason: 'killed' } : allTrue(data)))
    assert.deepEqual(await outcomesOf(await compile('tenant'), [scriptMessage('1'), scriptMessage('2')]), [true, true])
  })

  test('a thread that ends under a task, which no script can bring about, costs no message', async () => {
    const asked: string[] = []
    const { workers, compile } = workersOf((data) => {
      asked.push(data.join())
      if (asked.length === 1) throw new Error('thread ended')
      return allTrue(data)
    })
    const outcomes = await outcomesOf(await compile('tenant'), [scriptMessage('1'), scriptMessage('2')])
    assert.deepEqual(
      [outcomes, asked],
      [
        [true, true],
        ['1,2', '1,2'],
      ],
    )
    assert.equal(workers.figures().errors, 0)
  })

  test('a pool that loses the task fails its messages, retryable', async () => {
    const { compile } = workersOf(() => {
      throw new Error('thread ended')
    })
    const errors: Error[] = []
    const script = await compile('tenant')
    await script.runBatch([scriptMessage('1')], {
      value: () => assert.fail('no value'),
      error: (_, error) => errors.push(error),
    })
    assert.deepEqual(
      errors.map((error) => isMillraceError(error) && [error.code, error.kind]),
      [['script.POOL_UNAVAILABLE', 'retryable']],
    )
  })
})

describe('tasks side by side', () => {
  test('deliver in the order of their messages, whichever ends first', async () => {
    const held: (() => void)[] = []
    const { compile } = workersOf(
      (data) => (data[0] === PROOF ? allTrue(data) : new Promise((resolve) => held.push(() => resolve(allTrue(data))))),
      2,
    )
    const script = await proven(compile('tenant'))
    const delivered: string[] = []
    const calls = ['first', 'second', 'third'].map((name) =>
      script.runBatch([scriptMessage('1')], {
        value: () => delivered.push(name),
        error: (_, error) => delivered.push(error.message),
      }),
    )
    assert.equal(held.length, 3)
    held[2]?.()
    held[1]?.()
    await new Promise((resolve) => setImmediate(resolve))
    assert.deepEqual(delivered, [])
    held[0]?.()
    for (const call of calls) await call
    assert.deepEqual(delivered, ['first', 'second', 'third'])
  })

  test('what a listener throws rejects its own call and no other', async () => {
    const { compile } = workersOf(allTrue)
    const script = await compile('tenant')
    const failing = script.runBatch([scriptMessage('1')], {
      value() {
        throw new Error('listener failed')
      },
      error: () => undefined,
    })
    const other = outcomesOf(script, [scriptMessage('2')])
    await assert.rejects(Promise.resolve(failing), /listener failed/)
    assert.deepEqual(await other, [true])
  })
})

describe('turns', () => {
  test('tenants alternate, however much one of them has waiting', async () => {
    const served: string[] = []
    const { compile } = workersOf(async (data, tenantId) => {
      served.push(tenantId)
      return allTrue(data)
    })
    const [loud, quiet] = [await compile('loud'), await compile('quiet')]
    const many = outcomesOf(loud, new Array(512 * 6).fill(scriptMessage('1')))
    const few = outcomesOf(quiet, [scriptMessage('1')])
    await Promise.all([many, few])
    assert.ok(served.includes('quiet') && served.indexOf('quiet') <= 3, `served ${served.join()}`)
  })

  test('a tenant with slow tasks leaves the other slots free', async () => {
    const held = new Map<string, (() => void)[]>()
    const { clock, compile } = workersOf(
      (data, tenantId) =>
        data[0] === PROOF
          ? allTrue(data)
          : new Promise((resolve) => {
              const waiting = held.get(tenantId) ?? []
              waiting.push(() => resolve(allTrue(data)))
              held.set(tenantId, waiting)
            }),
      2,
    )
    const slow = await proven(compile('slow'))
    const release = async (): Promise<void> => {
      for (const resolve of held.get('slow')?.splice(0) ?? []) resolve()
      await new Promise((resolve) => setImmediate(resolve))
    }
    const all = outcomesOf(slow, new Array(512 * 12).fill(scriptMessage('1')))
    assert.equal(held.get('slow')?.length, 4)
    clock.advance(500)
    await release()
    assert.equal(held.get('slow')?.length, 1)
    for (let round = 0; round < 12; round++) await release()
    assert.equal((await all).length, 512 * 12)
  })
})
