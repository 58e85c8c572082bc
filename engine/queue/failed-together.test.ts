/** Many lanes that failed at the same moment are due at the same moment: their tries must not fill a turn. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock, SeededRandom } from '../actor/testkit.ts'
import { message, SimulatedDisk } from '../link/testkit.ts'
import { openParking } from '../parking/testkit.ts'
import { createQueue } from './queue.ts'
import { MemoryLink } from './testkit.ts'
import type { Work } from './work.ts'

const LANES = 1000

interface Try {
  readonly atMs: number
  readonly tenantId: string
}

/** All messages fail. `packs` and `tries` are what was handed out since they were last emptied. */
async function failingQueue() {
  const clock = new ManualClock()
  const opening = openParking(new SimulatedDisk(clock, new SeededRandom(1)), clock, { maxInProcess: 100_000 })
  await clock.advance(100)
  const { parking } = await opening
  const link = new MemoryLink()
  const packs: number[] = []
  const tries: Try[] = []
  createQueue({
    link,
    clock,
    parking,
    processor: {
      process: (pack: readonly Work[]) => {
        packs.push(pack.length)
        for (const work of pack) {
          tries.push({ atMs: clock.monotonic(), tenantId: work.message.tenantId })
          work.end(new Error('no'))
        }
      },
    },
    settings: { pauseBetweenRetriesMs: 1000, maxPauseBetweenRetriesMs: 5000, retries: Infinity },
  })
  return { clock, link, parking, packs, tries }
}

test('issue-8: a thousand lanes that failed together are tried again in parts, each once', async () => {
  const { clock, link, packs, tries } = await failingQueue()
  for (let device = 1; device <= LANES; device++) link.publish(message({ device, data: 'bad' }))
  await clock.settle()
  packs.length = tries.length = 0
  await clock.advance(1100)
  assert.equal(tries.length, LANES)
  assert.ok(Math.max(...packs) <= 128, `${Math.max(...packs)} were tried in one turn`)
})

test('issue-8: a thousand parked lanes that are due together begin a few at a time, all of them soon', async () => {
  const { clock, link, parking, tries } = await failingQueue()
  for (let device = 1; device <= LANES; device++) link.publish(message({ device, data: 'bad' }))
  await clock.advance(3500)
  assert.equal(parking.figures().lanes, LANES)
  for (let round = 1; round <= 3; round++) {
    tries.length = 0
    await clock.advance(5000)
    const at = new Map<number, number>()
    for (const { atMs } of tries) at.set(Math.floor(atMs / 10), (at.get(Math.floor(atMs / 10)) ?? 0) + 1)
    assert.equal(tries.length, LANES, `round ${round}`)
    assert.ok(Math.max(...at.values()) <= 64, `${Math.max(...at.values())} began within 10 ms`)
    assert.ok((tries.at(-1)?.atMs ?? 0) - (tries[0]?.atMs ?? 0) < 1000, 'some waited long')
  }
})

test('issue-8: while parked lanes begin a few at a time, tenants take turns, however many they are', async () => {
  const { clock, link, tries } = await failingQueue()
  const tenants = 100
  for (let device = 1; device <= LANES; device++)
    link.publish(message({ device, tenantId: `tenant ${device % tenants}`, data: 'bad' }))
  await clock.advance(3500)
  tries.length = 0
  await clock.advance(5000)
  assert.equal(tries.length, LANES)
  const first = new Set(tries.slice(0, 2 * tenants).map(({ tenantId }) => tenantId))
  assert.equal(first.size, tenants)
})
