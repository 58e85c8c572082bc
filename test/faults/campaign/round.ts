/** One round: load, fault, heal, recovery, and what is there in the end. */
import { setTimeout as delay } from 'node:timers/promises'
import type { Run } from '../../support/run-log/index.ts'
import type { SeededRandom } from '../../support/seeded-random.ts'
import { parkedLanes } from './crowding-faults.ts'
import { evidenceOf } from './evidence.ts'
import type { Fault } from './fault.ts'
import type { Fleet } from './fleet.ts'
import { FollowedRuns } from './followed-runs.ts'
import type { Journal } from './journal.ts'
import { judgeChildren, judgeRuns, takeRuns } from './runs.ts'
import { rateOf, sizeOf, startPacedLoad, type Pace, type Progress, type Rate } from './paced-load.ts'
import { holds, isMissing, readBack, whenReadable } from './reading.ts'
import { SLOWNESS } from '../../support/slowness.ts'
import { startSteadyLoad } from './steady-load.ts'
import { judge, type Verdict } from './verdict.ts'
import type { World } from './world.ts'

export interface RoundResult extends Verdict {
  readonly fault: string
  /** From the injection, and from the heal, to the first acknowledgement of something new on every device. */
  readonly recoveredFromInjectionMs: number
  readonly recoveredFromHealMs: number
  /** From the heal until all that was acknowledged before it is readable. */
  readonly readableMs: number
  /** Longest time of a device without an acknowledgement. */
  readonly longestSilenceMs: number
  /** From the first value sent to the last outcome, and from there until everything was read and judged. */
  readonly loadMs: number
  readonly judgedMs: number
  /** Offered by the load in the background; absent where there was none. */
  readonly valuesPerSecond?: number
  readonly messagesPerSecond?: number
  /** Of the engines that ran at its end, as far as they counted them. */
  readonly parkedLanes?: number
}

export interface RoundSettings {
  readonly devices: number
  /** Until a device that does not recover, or a value that is not readable, is a finding. */
  readonly limitMs: number
  /** The first round of its world. */
  readonly isNewWorld: boolean
  /** Of a load in the background; absent: none. */
  readonly pace?: Pace | undefined
  /** The load lasts at least so long, some of it before the fault. */
  readonly minLoadMs: number
}

const ROUND_SETTINGS: RoundSettings = {
  devices: 16,
  limitMs: 90_000 * SLOWNESS,
  isNewWorld: false,
  minLoadMs: 0,
}
/** Each device has this many acknowledgements before anything happens. */
const WARM = 3
/** Of a load in the background. */
const PACED_DEVICES = 32

export async function runRound(
  fault: Fault,
  world: World,
  fleet: Fleet,
  random: SeededRandom,
  settings: Partial<RoundSettings> = {},
): Promise<{ readonly result: RoundResult; readonly journals: readonly Journal[] }> {
  const { devices, limitMs, isNewWorld, pace, minLoadMs } = { ...ROUND_SETTINGS, ...settings }
  const journals = await fleet.devices(devices)
  const background = pace === undefined ? [] : await fleet.pacedDevices(PACED_DEVICES)
  const parkedBefore = await parkedLanes(world)
  const began = performance.now()
  const load = startSteadyLoad(journals, world.addresses, random)
  const followed = world.runLog === undefined ? undefined : new FollowedRuns(world.runLog)
  const paced = startPacedLoad(background, world.addresses, pace, followed && progressOf(followed, pace))
  let injectedAt: number
  let healedAt: number
  let endedAt: number
  let readable: Promise<number>
  let isRecovered: boolean
  let ranMeanwhile: readonly Run[] | undefined
  try {
    const isWarm = await holds(limitMs, () => journals.every((journal) => journal.count('acknowledged') >= WARM))
    if (!isWarm) throw new Error(`the load did not get under way before "${fault.name}": ${stuck(journals, began)}`)
    await delay(random.between(0, 1_000 + minLoadMs / 2))
    injectedAt = performance.now()
    const heal = await fault.inject(world, random)
    await delay(random.between(...fault.holdMs))
    const before = journals.flatMap((journal) => {
      const value = journal.lastAcknowledged()
      return value === undefined ? [] : [{ journal, value }]
    })
    await heal()
    healedAt = performance.now()
    readable = whenReadable(fleet, before, limitMs)
    isRecovered = await holds(limitMs, () =>
      journals.every((one) => one.firstAcknowledgementSince(healedAt) !== undefined),
    )
    await delay(Math.max(500, began + minLoadMs - performance.now()))
  } finally {
    await Promise.all([load.end(), paced.end()])
    endedAt = performance.now()
    // Else it would go on reading, and keep this process, when the round is over for an error.
    ranMeanwhile = await followed?.end()
  }
  const readableMs = await readable
  const all = [...journals, ...background]
  const read = await readBack(fleet, all, limitMs)
  const verdict = judge(read)
  const findings = [...verdict.findings]
  if (!isRecovered) findings.push(`no acknowledgement within ${limitMs} ms: ${stuck(journals, healedAt)}`)
  const circumstances = { partitionsMove: world.shape !== 'embedded', isNewWorld }
  const runs = await takeRuns(world.runLog, all, fault.losesChildren === true ? 0 : limitMs, ranMeanwhile)
  findings.push(...(await judgeRuns(runs, all, circumstances)))
  if (fault.losesChildren !== true) findings.push(...judgeChildren(runs, all, circumstances))
  const missing = read.filter(({ journal, series }) => isMissing(journal, series)).map(({ journal }) => journal)
  if (missing.length > 0) findings.push(...(await evidenceOf(world, missing)))
  for (const member of world.members) if (!member.isAsWanted) findings.push(`${member.name} ended by itself`)
  const firsts = journals.flatMap((journal) => journal.firstAcknowledgementSince(healedAt) ?? [])
  const recovered = isRecovered ? Math.max(...firsts) : healedAt + limitMs
  const result: RoundResult = {
    ...verdict,
    findings,
    fault: fault.name,
    recoveredFromInjectionMs: Math.round(recovered - injectedAt),
    recoveredFromHealMs: Math.round(recovered - healedAt),
    readableMs: Math.round(readableMs),
    longestSilenceMs: Math.round(Math.max(...journals.map((journal) => journal.longestSilence(began)))),
    loadMs: Math.round(endedAt - began),
    judgedMs: Math.round(performance.now() - endedAt),
    parkedLanes: Math.max(0, (await parkedLanes(world)) - parkedBefore),
    ...(pace === undefined ? {} : rounded(rateOf(background, pace))),
  }
  return { result, journals: all }
}

/** Of its pace a device may have so much open: more than the longest fault holds up. */
const OPEN_SECONDS = 40
/** Of a world that is measured: what it holds, and no backlog. */
const OPEN_MESSAGES = 4
/** Of devices that send one value a message: between two looks at the log they shall not run dry. */
const FEWEST_OPEN = 500

function progressOf(followed: FollowedRuns, pace: Pace | undefined): Progress {
  return {
    ranOf: (deviceId) => followed.ranOf(deviceId),
    mostOpen: (size) =>
      Math.max(FEWEST_OPEN, pace === undefined ? OPEN_MESSAGES * size : OPEN_SECONDS * (pace.get(size) ?? 0)),
  }
}

function stuck(journals: readonly Journal[], since: number): string {
  return journals
    .filter((journal) => journal.firstAcknowledgementSince(since) === undefined)
    .map(({ device }) => `${device.name} (${device.protocol})`)
    .join(', ')
}

function rounded({ valuesPerSecond, messagesPerSecond }: Rate): Rate {
  return { valuesPerSecond: Math.round(valuesPerSecond), messagesPerSecond: Math.round(messagesPerSecond) }
}

export interface TopRate extends Rate {
  /** Of what was sent meanwhile. */
  readonly verdict: Verdict
  readonly journals: readonly Journal[]
  readonly pace: Pace
  readonly loadMs: number
  readonly judgedMs: number
}

/** New processes compile what they run: a rate of their first seconds would make half of it easy to hold. */
const WARM_UP_MS = 5_000
const MEASURE_MS = 5_000

/**
 * What the world acknowledges and runs when devices send as fast as they can, for a few seconds; judged as every load is. A backlog that
 * grows meanwhile is no rate that it holds: a device goes on when what it sent has run. The rate is what ran, or all of it over the time
 * until it could be read, whichever is more.
 */
export async function measureTopRate(world: World, fleet: Fleet): Promise<TopRate> {
  const journals = await fleet.pacedDevices(PACED_DEVICES)
  const loadedAt = performance.now()
  if (world.runLog === undefined) throw new Error('a world is measured by its log of runs')
  const followed = new FollowedRuns(world.runLog)
  const load = startPacedLoad(journals, world.addresses, undefined, progressOf(followed, undefined))
  const done = (): number[] =>
    journals.map((journal) => Math.min(journal.count('acknowledged'), followed.ranOf(journal.device.deviceId)))
  // Of the chain that the world is measured with: an engine may still have the one before it.
  await holds(ROUND_SETTINGS.limitMs, () => done().every((count) => count > 0))
  await delay(WARM_UP_MS)
  const [before, began] = [done(), performance.now()]
  await delay(MEASURE_MS)
  const seconds = (performance.now() - began) / 1_000
  const rates = done().map((count, index) => (count - (before[index] ?? 0)) / seconds)
  await load.end()
  const endedAt = performance.now()
  const ranBefore = await followed.end()
  const verdict = judge(await readBack(fleet, journals, ROUND_SETTINGS.limitMs))
  const stored = paceOf(
    journals,
    journals.map((journal) => (1_000 * journal.count('acknowledged')) / (performance.now() - loadedAt)),
  )
  const circumstances = { partitionsMove: world.shape !== 'embedded', isNewWorld: true }
  const runs = await takeRuns(world.runLog, journals, 0, ranBefore)
  const findings = [...verdict.findings, ...(await judgeRuns(runs, journals, circumstances))]
  const ranMeanwhile = paceOf(journals, rates)
  const isFaster = rateOf(journals, ranMeanwhile).valuesPerSecond > rateOf(journals, stored).valuesPerSecond
  const pace = isFaster ? ranMeanwhile : stored
  return {
    ...rounded(rateOf(journals, pace)),
    verdict: { ...verdict, findings },
    journals,
    pace,
    loadMs: Math.round(endedAt - loadedAt),
    judgedMs: Math.round(performance.now() - endedAt),
  }
}

/** The mean of the devices that send alike. */
function paceOf(journals: readonly Journal[], rates: readonly number[]): Pace {
  const groups = Map.groupBy(rates.entries(), ([index]) => {
    const journal = journals[index]
    return journal === undefined ? 1 : sizeOf(journal)
  })
  return new Map(
    [...groups].map(([size, group]) => [size, group.reduce((sum, [, rate]) => sum + rate, 0) / group.length]),
  )
}
