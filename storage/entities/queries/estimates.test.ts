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

test('a count that was used often is asked for again, and nobody waits for it or for its failure', async () => {
  const estimates = new Estimates()
  const uses = async (times: number, ask: () => Promise<number>): Promise<number> => {
    let count = 0
    for (let use = 0; use < times; use++) count = await estimates.of('devices', ask)
    return count
  }
  assert.equal(await uses(1, () => Promise.resolve(1)), 1)
  const asked: ((count: number) => void)[] = []
  const slow = () => new Promise<number>((resolve) => asked.push(resolve))
  assert.equal(await uses(150, slow), 1)
  assert.equal(asked.length, 1)
  asked[0]?.(2)
  await new Promise(setImmediate)
  assert.equal(await uses(1, slow), 2)
  let failures = 0
  const failing = () => Promise.reject(new Error(`failure ${++failures}`))
  assert.equal(await uses(250, failing), 2)
  assert.ok(failures > 1, 'asked again')
})
