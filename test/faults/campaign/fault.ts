/** A fault: what it does to a world, and how that ends. */
import type { SeededRandom } from '../../support/seeded-random.ts'
import type { StoreServer } from '../../support/servers/index.ts'
import type { Shape, World } from './world.ts'

export interface Fault {
  /** A sentence's subject, such as `SIGKILL of an engine`; unique with the shape. */
  readonly name: string
  /** The row of the reliability table that it is evidence for. */
  readonly row: string
  readonly shape: Shape
  /** Needs a disk of its own below the data. */
  readonly onSmallDisk?: boolean
  /** Whose data is on it, where it is a server's; NATS where nothing is said. */
  readonly smallDiskOf?: StoreServer
  /** Its world parks what is in process for longer while its queue is full; absent: nothing is parked for that. */
  readonly crowdingTimeoutMs?: number
  /** Messages that a node enqueued may end without having run: they are not judged. */
  readonly losesChildren?: boolean
  /** Between injection and heal, ms, by chance. */
  readonly holdMs: readonly [number, number]
  /** Resolves when the fault is there, with what ends it: that resolves when the broken is whole again, if not yet at work. */
  inject(world: World, random: SeededRandom): Promise<Heal>
}

export type Heal = () => Promise<void>

/** Of a round that measures its world. */
export const NO_FAULT = 'no fault, as fast as is acknowledged'

export function requireOne<Item>(items: readonly Item[], random: SeededRandom): Item {
  if (items.length === 0) throw new Error('the world has none of what the fault is about')
  return random.pick(items)
}
