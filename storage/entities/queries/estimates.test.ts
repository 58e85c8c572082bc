import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { Estimates } from './estimates.ts'

test('a count is known by a name of any length, and the name is not kept', async () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const megabytes = (): number => {
    collect()
    return process.memoryUsage().heapUsed / 2 ** 20
  }
  const estimates = new Estimates()
  const nameOf = (number: number): string => JSON.stringify({ value: `${'x'.repeat(2 ** 20)}${number}` })
  const before = megabytes()
  for (let number = 0; number < 40; number++) await estimates.of(nameOf(number), () => Promise.resolve(number))
  assert.ok(megabytes() - before < 10)
  for (let number = 0; number < 40; number++)
    assert.equal(await estimates.of(nameOf(number), () => Promise.reject(new Error('asked again'))), number)
})
