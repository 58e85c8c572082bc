/** One round: load, fault, heal, recovery, and what is there in the end. */
import { setTimeout as delay } from 'node:timers/promises'
import type { Run } from '../../support/run-log/index.ts'
import type { SeededRandom } from '../../support/seeded-random.ts'
import { evidenceOf } from './evidence.ts'
import type { Fault } from './fault.ts'
import type { Fleet } from './fleet.ts'
import type { Journal, SentValue } from './journal.ts'
import { judgeChildren, judgeRuns, takeRuns } from './runs.ts'
import { startPacedLoad } from './paced-load.ts'
import { SLOWNESS } from '../../support/slowness.ts'
import { startSteadyLoad } from './steady-load.ts'
import { judge, type ReadSeries, type Verdict } from './verdict.ts'
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
  /** Offered by the load in the background; absent where there was none. */
  readonly messagesPerSecond?: number
}

export interface RoundSettings {
  readonly devices: number
  /** Until a device that does not recover, or a value that is not readable, is a finding. */
  readonly limitMs: number
  /** The first round of its world. */
  readonly isNewWorld: boolean
  /** Messages a second of a load in the background; 0: none. */
  readonly messagesPerSecond: number
}

const POLL_MS = 100
const ROUND_SETTINGS: RoundSettings = {
  devices: 16,
  limitMs: 90_000 * SLOWNESS,
  isNewWorld: false,
  messagesPerSecond: 0,
}
/** Each device has this many acknowledgements before anything happens. */
const WARM = 3
/** Of a load in the background. */
const PACED_DEVICES = 32
const FARTHEST_POLL_MS = 2_000

export async function runRound(
  fault: Fault,
  world: World,
  fleet: Fleet,
  random: SeededRandom,
  settings: Partial<RoundSettings> = {},
): Promise<{ readonly result: RoundResult; readonly journals: readonly Journal[] }> {
  const { devices, limitMs, isNewWorld, messagesPerSecond } = { ...ROUND_SETTINGS, ...settings }
  const journals = await fleet.devices(devices)
  const background = messagesPerSecond > 0 ? await fleet.pacedDevices(PACED_DEVICES) : []
  const began = performance.now()
  const load = startSteadyLoad(journals, world.addresses, random)
  const paced = startPacedLoad(background, world.addresses, messagesPerSecond)
  let injectedAt: number
  let healedAt: number
  let readable: Promise<number>
  let isRecovered: boolean
  try {
    const isWarm = await holds(limitMs, () => journals.every((journal) => journal.count('acknowledged') >= WARM))
    if (!isWarm) throw new Error(`the load did not get under way before "${fault.name}": ${stuck(journals, began)}`)
    await delay(random.between(0, 1_000))
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
    await delay(500)
  } finally {
    await Promise.all([load.end(), paced.end()])
  }
  const readableMs = await readable
  const all = [...journals, ...background]
  const read = await readBack(fleet, all, limitMs)
  const verdict = judge(read)
  const findings = [...verdict.findings]
  if (!isRecovered) findings.push(`no acknowledgement within ${limitMs} ms: ${stuck(journals, healedAt)}`)
  const circumstances = { partitionsMove: world.shape !== 'embedded', isNewWorld }
  const runs = await takeRuns(world.runLog, all, fault.losesChildren === true ? 0 : limitMs)
  findings.push(...judgeRuns(runs, all, circumstances))
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
    ...(messagesPerSecond > 0 ? { messagesPerSecond: Math.round(messagesPerSecond) } : {}),
  }
  return { result, journals: all }
}

/** Reads until everything acknowledged is there, or the time is over: then what is missing is lost. */
export async function readBack(
  fleet: Fleet,
  journals: readonly Journal[],
  limitMs: number,
): Promise<{ readonly journal: Journal; readonly series: ReadSeries }[]> {
  return Promise.all(
    journals.map(async (journal) => {
      let series: ReadSeries | undefined
      let failure: unknown
      const isThere = async (): Promise<boolean> => {
        try {
          series = await fleet.series(journal)
        } catch (error) {
          failure = error // A store that is not back yet: asked again, and thrown when it never came.
          return false
        }
        return !isMissing(journal, series)
      }
      await holds(limitMs, isThere, FARTHEST_POLL_MS)
      if (series === undefined) throw new Error(`${journal.device.name} can not be read`, { cause: failure })
      return { journal, series }
    }),
  )
}

/** Something that was acknowledged is not there. */
function isMissing({ sent }: Journal, { n }: ReadSeries): boolean {
  const found = new Set(n.map(({ value }) => value))
  return sent.some(({ value, outcome }) => outcome === 'acknowledged' && !found.has(value))
}

async function whenReadable(
  fleet: Fleet,
  before: readonly { readonly journal: Journal; readonly value: SentValue }[],
  limitMs: number,
): Promise<number> {
  const began = performance.now()
  await Promise.all(
    before.map(({ journal, value }) =>
      holds(limitMs, async () => {
        try {
          return (await fleet.newest(journal)) >= value.value
        } catch {
          return false // Not readable is what is being measured.
        }
      }),
    ),
  )
  return performance.now() - began
}

/** Whether the condition came true in time; asked less and less often where `farthestMs` is more than the first pause. */
async function holds(
  limitMs: number,
  condition: () => boolean | Promise<boolean>,
  farthestMs = POLL_MS,
): Promise<boolean> {
  const deadline = performance.now() + limitMs
  for (let pauseMs = POLL_MS; !(await condition()); pauseMs = Math.min(2 * pauseMs, farthestMs)) {
    if (performance.now() > deadline) return false
    await delay(pauseMs)
  }
  return true
}

function stuck(journals: readonly Journal[], since: number): string {
  return journals
    .filter((journal) => journal.firstAcknowledgementSince(since) === undefined)
    .map(({ device }) => `${device.name} (${device.protocol})`)
    .join(', ')
}

export interface TopRate {
  readonly messagesPerSecond: number
  /** Of what was sent meanwhile. */
  readonly verdict: Verdict
  readonly journals: readonly Journal[]
}

const MEASURE_MS = 5_000

/** What the world acknowledges when devices send as fast as they can, for a few seconds; judged as every load is. */
export async function measureTopRate(world: World, fleet: Fleet): Promise<TopRate> {
  const journals = await fleet.pacedDevices(PACED_DEVICES)
  const acknowledged = (): number => journals.reduce((sum, journal) => sum + journal.count('acknowledged'), 0)
  const load = startPacedLoad(journals, world.addresses, Infinity)
  // Of the chain that the world is measured with: an engine may still have the one before it.
  const runs: Run[] = []
  await holds(ROUND_SETTINGS.limitMs, () => {
    runs.push(...(world.runLog?.next() ?? []))
    const ran = new Set(runs.map(({ deviceId }) => deviceId))
    return journals.every(({ device }) => ran.has(device.deviceId))
  })
  const [before, began] = [acknowledged(), performance.now()]
  await delay(MEASURE_MS)
  const messagesPerSecond = ((acknowledged() - before) * 1_000) / (performance.now() - began)
  await load.end()
  const verdict = judge(await readBack(fleet, journals, ROUND_SETTINGS.limitMs))
  const circumstances = { partitionsMove: world.shape !== 'embedded', isNewWorld: true }
  runs.push(...((await takeRuns(world.runLog, journals)) ?? []))
  const findings = [...verdict.findings, ...judgeRuns(runs, journals, circumstances)]
  return { messagesPerSecond, verdict: { ...verdict, findings }, journals }
}
