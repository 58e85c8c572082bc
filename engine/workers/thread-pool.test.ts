import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { after, before, describe, test } from 'node:test'
import { createThreadPool, type ThreadPool } from './thread-pool.ts'

type Task = 'answer' | 'throw' | 'exit' | 'hold'

describe('thread pool', () => {
  let folder = ''
  let pool: ThreadPool<Task, string>
  const open = (queueBound: number) =>
    createThreadPool<Task, string>({
      entry: pathToFileURL(join(folder, 'entry.mjs')),
      threads: 1,
      queueBound,
      workerData: 'handed in',
    })

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'thread-pool-'))
    const piscina = import.meta.resolve('piscina')
    await writeFile(
      join(folder, 'entry.mjs'),
      `import { workerData } from ${JSON.stringify(piscina)}
       export default (task) => {
         if (task === 'throw') throw new Error('task failed')
         if (task === 'exit') process.exit(3)
         return task === 'hold' ? new Promise((resolve) => setTimeout(resolve, 50, 'held')) : workerData
       }`,
    )
    pool = open(10)
  })
  after(async () => {
    await pool.close()
    await rm(folder, { recursive: true })
  })

  test('answers a task with what the entry returns', async () => {
    assert.equal(await pool.run('answer'), 'handed in')
  })

  test('a task that throws is rejected with its text and the thread serves the next', async () => {
    await assert.rejects(pool.run('throw'), { code: 'workers.TASK_LOST', message: 'worker task was lost: task failed' })
    assert.equal(await pool.run('answer'), 'handed in')
  })

  test('a thread that ends under a task rejects it and is replaced', async () => {
    await assert.rejects(pool.run('exit'), { code: 'workers.TASK_LOST', kind: 'retryable' })
    assert.equal(await pool.run('answer'), 'handed in')
  })

  test('a full queue refuses more tasks', async () => {
    const small = open(1)
    await small.run('answer')
    const results = await Promise.allSettled([
      small.run('hold'),
      small.run('hold'),
      small.run('answer'),
      small.run('answer'),
    ])
    const refused = results.filter((result) => result.status === 'rejected')
    assert.ok(refused.length >= 1 && refused.length <= 2, `${refused.length} refused`)
    await small.close()
  })

  test('closing lets tasks under way end, refuses later ones and may be repeated', async () => {
    const own = open(10)
    const running = own.run('hold')
    const closing = own.close()
    await assert.rejects(own.run('answer'), { code: 'workers.POOL_CLOSED' })
    await closing
    assert.equal(await running, 'held')
    await own.close()
  })
})
