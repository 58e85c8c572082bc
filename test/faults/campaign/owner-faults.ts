/**
 * K2: the one owner of all partitions stands still for long, one that never heard of it takes them all, and then the first goes on as if
 * nothing had been. That an owner which falls silent is found out is the matter of `SIGSTOP of an engine for 30 s`.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { requireOne, type Fault } from './fault.ts'
import type { Member } from './member.ts'

const POLL_MS = 50
const WITHIN_MS = 60_000

const ownerStopped: Fault = {
  name: 'SIGSTOP of the owner of all partitions for 30 s',
  row: 'K2',
  shape: 'production',
  holdMs: [30_000, 30_000],
  inject: async ({ engines }, random) => {
    const owner = requireOne(engines, random)
    const others = engines.filter((engine) => engine !== owner)
    const all = (await Promise.all(engines.map(ownedPartitions))).reduce((sum, owned) => sum + owned, 0)
    await Promise.all(others.map((engine) => engine.stop()))
    await owns(owner, all)
    owner.pause()
    await Promise.all(others.map((engine) => engine.restart()))
    return async () => {
      // Else the owner would go on with what is its own, and the round would be no evidence.
      const taken = (await Promise.all(others.map(ownedPartitions))).reduce((sum, owned) => sum + owned, 0)
      owner.resume()
      if (taken < all) throw new Error(`others took ${taken} of ${all} partitions while their owner stood still`)
    }
  },
}

async function owns(engine: Member, partitions: number): Promise<void> {
  const deadline = performance.now() + WITHIN_MS
  while ((await ownedPartitions(engine)) < partitions) {
    if (performance.now() > deadline) throw new Error(`${engine.name} does not own all ${partitions} partitions`)
    await delay(POLL_MS)
  }
}

async function ownedPartitions(engine: Member): Promise<number> {
  const text = await (await fetch(`${engine.process.url}/metrics`)).text()
  return Number(/^millrace_link_owned_partitions (\d+)$/m.exec(text)?.[1] ?? Number.NaN)
}

export const OWNER_FAULTS: readonly Fault[] = [ownerStopped]
