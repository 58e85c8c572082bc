import assert from 'node:assert/strict'
import { test } from 'node:test'
import { threadArguments } from './thread-arguments.ts'

test('a thread preloads what its process does, and gets no other argument of it', () => {
  const ofProcess = ['--no-node-snapshot', '--import', './a.mjs', '--test', '--import=./b.mjs']
  const quiet = '--disable-warning=ExperimentalWarning'
  assert.deepEqual(threadArguments(ofProcess), [quiet, '--import', './a.mjs', '--import=./b.mjs'])
  assert.deepEqual(threadArguments([]), [quiet])
})
