/**
 * K2: the one owner of all partitions stands still for long, one that never heard of it takes them all, and then the first goes on as if
 * nothing had been. That an owner which falls silent is found out is the matter of `SIGSTOP of an engine for 30 s`.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { figure } from '../../support/figure.ts'
import { requireOne, type Fault } from './fault.ts'
import type { Member } from './member.ts'

const POLL_MS = 50
const WITHIN_MS = 180_000

const ownerStopped: Fault = {
  name: 'SIGSTOP of the owner of all partitions for 30 s',
  row: 'K2',
  shape: 'production',
  holdMs: [30_000, 30_000],
  inject: async ({ engines }, random) => {
    const owner = requireOne(engines, random)
    const others = engines.filter((engine) => engine !== owner)
    const all = await ownedPartitions(engines)
    await Promise.all(others.map((engine) => engine.stop()))
    await owns(owner, all)
    owner.pause()
    await Promise.all(others.map((engine) => engine.restart()))
    return async () => {
      // Else the owner would go on with what is its own, and the round would be no evidence.
      const taken = await ownedPartitions(others).finally(() => owner.resume())
      if (taken < all) throw new Error(`others took ${taken} of ${all} partitions while their owner stood still`)
    }
  },
}

async function owns(engine: Member, partitions: number): Promise<void> {
  const deadline = performance.now() + WITHIN_MS
  while ((await ownedPartitions([engine])) < partitions) {
    if (performance.now() > deadline) throw new Error(`${engine.name} does not own all ${partitions} partitions`)
    await delay(POLL_MS)
  }
}

async function ownedPartitions(engines: readonly Member[]): Promise<number> {
  const owned = await Promise.all(engines.map(({ process }) => figure(process, 'millrace_link_owned_streams')))
  return owned.reduce((sum, count) => sum + count, 0)
}

export const OWNER_FAULTS: readonly Fault[] = [ownerStopped]
