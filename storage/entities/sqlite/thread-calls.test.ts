import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { ThreadCalls } from './thread-calls.ts'

/** What comes to the thread kills it. */
const DIES = "require('node:worker_threads').parentPort.on('message', () => { throw new Error('it died') })"

// Where a rejection were left unheard, it would fail the test.
test('a thread that dies while it is closed fails the close alone', async () => {
  const calls = new ThreadCalls(new Worker(DIES, { eval: true }), () => assert.fail('it was closed'))
  await assert.rejects(calls.close(), { code: 'entities.CLOSED' })
  await new Promise((resolve) => setImmediate(resolve))
})
