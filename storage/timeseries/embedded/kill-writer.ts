/**
 * The process that `kill.test.ts` kills: writes one batch after the other, several in flight, and says the number of each on
 * standard output once it is acknowledged.
 */
import { writeSync } from 'node:fs'
import type { Durability } from '../../../disk/disk.ts'
import { openEmbeddedTimeSeries } from './store.ts'
import { KILL_BOUNDS, KILL_DEVICES, killClock } from './testkit.ts'

const [, , directory = '', durability = 'power-cut', first = '0'] = process.argv
const IN_FLIGHT = 4

const store = await openEmbeddedTimeSeries({
  directory,
  durability: durability as Durability,
  clock: killClock,
  ...KILL_BOUNDS,
})
let next = Number(first)

async function writeForEver(): Promise<never> {
  for (;;) {
    const number = next++
    const point = { key: 'k', ts: number, type: 'LONG', value: number } as const
    await store.write(
      KILL_DEVICES.map((entityId) => ({
        entityId,
        points: [point],
        sequence: number,
        ttlSeconds: 0,
        history: true,
        latest: true,
      })),
    )
    writeSync(1, `${number}\n`)
  }
}

await Promise.all(Array.from({ length: IN_FLIGHT }, writeForEver))
