/** Runs faults in worlds, one world a shape (and one a disk of its own), and reads everything back once more at the end. */
import type { StoreServer } from '../../support/servers/index.ts'
import { seededRandom, type SeededRandom } from '../../support/seeded-random.ts'
import { CHAIN_FAULTS } from './chain-faults.ts'
import { CLOCK_FAULTS } from './clock-faults.ts'
import { CROWDING_FAULTS } from './crowding-faults.ts'
import { openEmbeddedWorld } from './embedded-world.ts'
import { NO_FAULT, type Fault } from './fault.ts'
import { Fleet } from './fleet.ts'
import type { Journal } from './journal.ts'
import { LINE_FAULTS } from './line-faults.ts'
import { OWNER_FAULTS } from './owner-faults.ts'
import { PAIR_FAULTS } from './pair-faults.ts'
import { PROCESS_FAULTS } from './process-faults.ts'
import { openProductionWorld, type SmallDisk } from './production-world.ts'
import { RESOURCE_FAULTS } from './resource-faults.ts'
import type { Pace } from './paced-load.ts'
import { readBack } from './reading.ts'
import { measureTopRate, runRound, type RoundResult, type RoundSettings } from './round.ts'
import { mountSmallDisk, unmountSmallDisk } from './small-disk.ts'
import { STORE_FAULTS } from './store-faults.ts'
import { judge } from './verdict.ts'
import type { World } from './world.ts'

export const ALL_FAULTS: readonly Fault[] = [
  ...PROCESS_FAULTS,
  ...OWNER_FAULTS,
  ...LINE_FAULTS,
  ...PAIR_FAULTS,
  ...RESOURCE_FAULTS,
  ...CHAIN_FAULTS,
  ...CLOCK_FAULTS,
  ...STORE_FAULTS,
  ...CROWDING_FAULTS,
]

export interface Stage {
  readonly world: World
  readonly fleet: Fleet
  readonly journals: Journal[]
  close(): Promise<void>
}

/** A world for such faults; a sentence when this machine does not allow it. */
export async function openStage(
  { shape, onSmallDisk, smallDiskOf = 'nats', crowdingTimeoutMs }: Fault,
  seed: number,
): Promise<Stage | string> {
  const diskOf = shape === 'embedded' ? shape : smallDiskOf
  const disk = onSmallDisk === true ? mountSmallDisk(DISK_MIB[diskOf]) : undefined
  if (disk !== undefined && 'refusal' in disk) return disk.refusal
  const free = (): void => {
    if (disk !== undefined) unmountSmallDisk(disk.folder)
  }
  let world: World | undefined
  try {
    const smallDisk = disk === undefined ? undefined : { folder: disk.folder, of: smallDiskOf }
    world = await openWorld({ shape, seed, smallDisk, crowdingTimeoutMs })
    const fleet = await Fleet.open(world)
    const opened = world
    return {
      world,
      fleet,
      journals: [],
      close: async () => {
        await opened.close()
        free()
      },
    }
  } catch (error) {
    await world?.close()
    free()
    throw error
  }
}

/**
 * An empty PostgreSQL takes 60, and QuestDB sets 16 aside for each column. The embedded shape has all of what packs bring on its one disk, which
 * must not be full before it is filled: nobody would make room then.
 */
const DISK_MIB: Readonly<Record<StoreServer | 'embedded', number>> = {
  nats: 64,
  postgres: 192,
  questdb: 768,
  embedded: 512,
}

interface WorldOptions {
  readonly shape: World['shape']
  readonly seed: number
  readonly smallDisk: SmallDisk | undefined
  readonly crowdingTimeoutMs: number | undefined
}

function openWorld({ shape, seed, smallDisk, crowdingTimeoutMs }: WorldOptions): Promise<World> {
  if (shape === 'embedded') {
    const environment = smallDisk === undefined ? {} : SHORT_RETENTION
    return openEmbeddedWorld({ smallDisk: smallDisk?.folder, crowdingTimeoutMs, environment })
  }
  if (smallDisk === undefined) return openProductionWorld({ shape, seed, crowdingTimeoutMs })
  return openProductionWorld({ shape, seed, smallDisk, crowdingTimeoutMs, environment: SMALL_PARTITIONS })
}

/** What is processed would take half of the disk. */
const SHORT_RETENTION = { LINK_RETENTION_MIB: '16' }
/** NATS sets the room of each partition aside. */
const SMALL_PARTITIONS = { NATS_MAX_PARTITION_MIB: '16', TB_QUEUE_RE_MAIN_PARTITIONS: '2' }

/** A round of its own chance: its number and the campaign's seed repeat it. */
export function randomOfRound(seed: number, round: number): SeededRandom {
  return seededRandom((seed * 1_009 + round) % 2 ** 31)
}

export async function runOn(
  stage: Stage,
  fault: Fault,
  random: SeededRandom,
  load: Partial<Pick<RoundSettings, 'pace' | 'minLoadMs'>> = {},
): Promise<RoundResult> {
  const { result, journals } = await runRound(fault, stage.world, stage.fleet, random, {
    isNewWorld: stage.journals.length === 0,
    ...load,
  })
  stage.journals.push(...journals)
  return result
}

/** What its load came to, as a round without a fault, and what each device had acknowledged. */
export async function measureOn(stage: Stage): Promise<{ readonly result: RoundResult; readonly pace: Pace }> {
  const { verdict, journals, pace, ...figures } = await measureTopRate(stage.world, stage.fleet)
  stage.journals.push(...journals)
  const none = { recoveredFromInjectionMs: 0, recoveredFromHealMs: 0, readableMs: 0, longestSilenceMs: 0 }
  return { result: { ...verdict, ...none, ...figures, fault: NO_FAULT }, pace }
}

/** What came late over what was right at the end of its round shows here. */
export async function readAllAgain({ fleet, journals }: Stage): Promise<readonly string[]> {
  const findings: string[] = []
  for (let index = 0; index < journals.length; index += 16) {
    findings.push(...judge(await readBack(fleet, journals.slice(index, index + 16), 30_000)).findings)
  }
  return findings
}
