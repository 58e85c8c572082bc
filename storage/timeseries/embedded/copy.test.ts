import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { long, raw, write } from '../contract.ts'
import { openEmbeddedTimeSeries } from './store.ts'
import { freshDirectory, killClock } from './testkit.ts'

for (const [name, bounds] of [
  ['in the log', {}],
  ['on their way into chunks', { logSoftBytes: 4096, logHardBytes: 16_384, segmentBytes: 2048, maxTailPoints: 100 }],
] as const) {
  test(`a copy made beside writes has every point acknowledged before it, ${name}`, async (t) => {
    const directory = freshDirectory(t)
    const settings = { durability: 'process-death', clock: killClock, ...bounds } as const
    const store = await openEmbeddedTimeSeries({ directory: join(directory, 'store'), ...settings })
    t.after(() => store.close())
    let acknowledged = 0
    let stopped = false
    const save = async (value: number): Promise<void> => {
      await store.write([{ ...write(`e${value % 7}`, [long('k', value, value)]), sequence: value }])
      acknowledged = value
    }
    for (let value = 1; value <= 3000; value++) await save(value)
    const writing = (async () => {
      while (!stopped) await save(acknowledged + 1)
    })()
    const before = acknowledged
    const copied = join(directory, 'copy')
    const highest = await store.copyTo(copied)
    const after = acknowledged + 1
    stopped = true
    await writing
    assert.ok(highest >= before && highest <= after, `${before}, ${highest}, ${after}`)
    const copy = await openEmbeddedTimeSeries({ directory: copied, ...settings })
    t.after(() => copy.close())
    const found: number[] = []
    for (let entity = 0; entity < 7; entity++) {
      const { value } = await copy.history(`e${entity}`, raw(['k'], { limit: 1_000_000 }))
      found.push(...(value.get('k') ?? []).map(({ ts }) => ts))
      const latest = (await copy.latest(`e${entity}`, ['k'])).value[0]?.ts ?? 0
      assert.ok(latest > before - 8, `latest of e${entity} is ${latest}`)
    }
    // What lies in the copy is what had been written at one moment: no gap.
    const sorted = found.toSorted((a, b) => a - b)
    assert.deepEqual(
      sorted,
      Array.from({ length: highest }, (_, index) => index + 1),
    )
  })
}

test('closing waits for a copy, and a copy needs a place of its own', async (t) => {
  const directory = freshDirectory(t)
  const settings = { durability: 'process-death', clock: killClock } as const
  const store = await openEmbeddedTimeSeries({ directory: join(directory, 'store'), ...settings })
  await store.write([write('e', [long('k', 1, 1)])])
  await assert.rejects(store.copyTo(join(directory, 'store')), /EEXIST/)
  const copying = store.copyTo(join(directory, 'copy'))
  await store.close()
  await copying
})
