/**
 * Messages that do not fail and stay: the queue fills up, what is in process for long is parked, with all behind it, and tried again out of the
 * store of parked lanes.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { RestClient, login } from '../../support/clients.ts'
import { figure } from '../../support/figure.ts'
import { SLOWNESS } from '../../support/slowness.ts'
import { replaceRootChain } from './chain-faults.ts'
import { requireOne, type Fault } from './fault.ts'
import { GLUTTON_TOKEN } from './resource-faults.ts'
import type { Shape, World } from './world.ts'

const CROWDING_TIMEOUT_MS = 500
/** Several times as long: whatever is in process when the queue is full is given back. */
const NODE_HOLDS_MS = 2_000
const WITHIN_MS = 240_000 * SLOWNESS
/** The device that fills the queue has one, and those that are judged the others. */
const FEWEST_LANES = 4
/** Values in a post, and posts at once: a slow machine shall bring them faster than the node lets them go. */
const PACK = 500
const AT_ONCE = 4
const PAUSE_MS = 100

/** Lanes that were parked since the start of the engines that run; those of one that does not answer are not known. */
export async function parkedLanes({ engines }: Pick<World, 'engines'>): Promise<number> {
  const name = 'millrace_parked_parked_originators_total'
  const counts = await Promise.allSettled(engines.map(({ process }) => figure(process, name)))
  return counts.reduce((sum, count) => sum + (count.status === 'fulfilled' ? count.value : 0), 0)
}

/** One device fills the queue that all share, until lanes are parked: its values have no number, so no log has them. */
async function fillQueue(world: World, url: string): Promise<void> {
  const before = await parkedLanes(world)
  const deadline = performance.now() + WITHIN_MS
  for (let packs = 0; (await parkedLanes(world)) - before <= FEWEST_LANES; packs += AT_ONCE) {
    if (performance.now() > deadline) throw new Error('hardly anything was parked')
    const posts = Array.from({ length: AT_ONCE }, (_, index) => fillWith(url, packs + index))
    // Refused: it is full, and so is what waits before it.
    if (!(await Promise.all(posts)).every((isTaken) => isTaken)) await delay(PAUSE_MS)
  }
}

async function fillWith(url: string, pack: number): Promise<boolean> {
  const began = 1_600_000_000_000 + pack * PACK
  const points = Array.from({ length: PACK }, (_, index) => `{"ts":${began + index},"values":{"fill":1}}`)
  const body = `[${points.join(',')}]`
  const response = await fetch(`${url}/api/v1/${GLUTTON_TOKEN}/telemetry`, { method: 'POST', body })
  await response.arrayBuffer()
  return response.status === 200
}

function slowNode(shape: Shape): Fault {
  return {
    name: 'a node that holds messages until a full queue parks them',
    row: 'Q5',
    shape,
    crowdingTimeoutMs: CROWDING_TIMEOUT_MS,
    // What waits in a chain that is the root no more has nowhere to go on.
    losesChildren: true,
    holdMs: [1_000, 3_000],
    inject: async (world, random) => {
      const { api, runLog } = world
      const drawn = { isLogged: runLog !== undefined }
      const rest = new RestClient(api.process, await login(api.process))
      await replaceRootChain(rest, 'with a node that holds messages', { ...drawn, holdMs: NODE_HOLDS_MS })
      await fillQueue(world, requireOne(world.transports, random).address.url)
      return async () => void (await replaceRootChain(rest, 'without it', drawn))
    },
  }
}

export const CROWDING_FAULTS: readonly Fault[] = [slowNode('production'), slowNode('embedded')]
