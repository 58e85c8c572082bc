import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { threadArguments } from '../../../model/thread-arguments.ts'
import { raw } from '../contract.ts'
import type { Durability } from '../../../disk/disk.ts'
import { openEmbeddedTimeSeries } from './store.ts'
import { freshDirectory, KILL_BOUNDS, KILL_DEVICES, killClock } from './testkit.ts'

const WRITER = fileURLToPath(new URL('./kill-writer.ts', import.meta.url))
const KILLS = 8
const seed = Number(process.env['TEST_SEED'] ?? Date.now() % 1_000_000)

/** Runs the writer until it has said `acknowledgements` numbers, kills it, and tells every number it said before it died. */
async function writeUntilKilled(
  directory: string,
  durability: Durability,
  first: number,
  acknowledgements: number,
): Promise<number[]> {
  const writer = spawn(process.execPath, [...threadArguments(), WRITER, directory, durability, String(first)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = once(writer, 'exit')
  const acknowledged: number[] = []
  for await (const line of createInterface({ input: writer.stdout })) {
    acknowledged.push(Number(line))
    if (acknowledged.length === acknowledgements) writer.kill('SIGKILL')
  }
  const [, signal] = (await exited) as [number | null, string | null]
  assert.equal(signal, 'SIGKILL', 'the writer died by itself')
  return acknowledged
}

for (const durability of ['power-cut', 'process-death'] as const) {
  test(`every acknowledged batch is there after kill -9, ${KILLS} times, ${durability} (TEST_SEED=${seed})`, async (t) => {
    const directory = freshDirectory(t)
    const acknowledged = new Set<number>()
    let slowestOpen = 0
    for (let kill = 0; kill < KILLS; kill++) {
      const first = kill * 1_000_000
      const length = 20 + ((seed * (kill + 7) * 7919) % 700)
      for (const number of await writeUntilKilled(directory, durability, first, length)) acknowledged.add(number)
      const opening = performance.now()
      const store = await openEmbeddedTimeSeries({ directory, durability, clock: killClock, ...KILL_BOUNDS })
      slowestOpen = Math.max(slowestOpen, performance.now() - opening)
      const found = await Promise.all(
        KILL_DEVICES.map(async (entityId) => {
          const { value } = await store.history(entityId, raw(['k'], { limit: 1_000_000 }))
          const latest = await store.latest(entityId, ['k'])
          const points = value.get('k') ?? []
          assert.equal(latest.value[0]?.ts, points[points.length - 1]?.ts, 'latest and history differ')
          assert.ok(points.every((point) => point.value === point.ts))
          return points.map((point) => point.ts)
        }),
      )
      await store.close()
      for (const times of found) {
        const present = new Set(times)
        assert.equal(present.size, times.length, 'a point is there twice')
        const lost = [...acknowledged].filter((number) => !present.has(number))
        assert.deepEqual(lost, [], `kill ${kill}: lost acknowledged batches`)
        // A group is kept whole or not at all: every device has the same.
        assert.deepEqual(times, found[0])
      }
    }
    const points = acknowledged.size * KILL_DEVICES.length
    t.diagnostic(`${KILLS} kills, ${points} points acknowledged, 0 lost, slowest open ${slowestOpen.toFixed(0)} ms`)
    assert.ok(acknowledged.size >= KILLS * 20)
  })
}
