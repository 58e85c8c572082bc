/** The runs of a world: where its processes log them, and the judge that knows what each device sent. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises'
import { PROJECT_ROOT } from '../../support/start-millrace.ts'
import { CHILD_OF, RUN_LOG_PRELOAD, RunJudge, RunLog, type Run } from '../../support/run-log/index.ts'
import { slicesOf } from './followed-runs.ts'
import type { DeviceIdentity, Journal, SentValue } from './journal.ts'

export interface WatchedRuns {
  readonly log: RunLog
  /** For each process of the world. */
  readonly options: { readonly preload: readonly string[]; readonly environment: Readonly<Record<string, string>> }
  close(): Promise<void>
}

/** A full queue parks what is in process for longer, and runs it again from there: on a busy machine that would be everything in each world. */
const NEVER_CROWDED_MS = 3_600_000

export async function watchRuns(crowdingTimeoutMs = NEVER_CROWDED_MS): Promise<WatchedRuns> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-runs-'))
  const log = new RunLog(join(folder, 'runs'))
  return {
    log,
    options: {
      preload: [RUN_LOG_PRELOAD, join(PROJECT_ROOT, 'test', 'support', 'clock-offset.ts')],
      environment: { RUN_LOG: log.file, QUEUE_CROWDING_TIMEOUT_MS: String(crowdingTimeoutMs) },
    },
    close: () => rm(folder, { recursive: true, force: true }),
  }
}

export interface RunCircumstances {
  readonly partitionsMove: boolean
  /** An engine hears of a new world's chain a little later: until then it runs the one before it, which logs nothing. */
  readonly isNewWorld: boolean
}

/**
 * What was logged since it was read last, behind what was read `before`; with `limitMs` it waits for the children of what was acknowledged,
 * which run a little later.
 */
export async function takeRuns(
  log: RunLog | undefined,
  journals: readonly Journal[],
  limitMs = 0,
  before: readonly Run[] = [],
): Promise<readonly Run[] | undefined> {
  if (log === undefined) return undefined
  const parents = journals.filter(makesChildren)
  const ran = new Map(parents.flatMap(({ device: { deviceId } }) => [emptyOf(deviceId), emptyOf(CHILD_OF + deviceId)]))
  const runs: Run[] = []
  const take = (added: readonly Run[]): void => {
    for (const run of added) {
      ran.get(run.deviceId)?.add(run.value)
      runs.push(run)
    }
  }
  take(before)
  for (const deadline = performance.now() + limitMs; ; await delay(POLL_MS)) {
    for await (const added of slicesOf(log)) take(added)
    if (performance.now() >= deadline || !parents.some((journal) => lacksChild(journal, ran))) return runs
  }
}

const POLL_MS = 200
/** The lines to the servers run through this process: a world stands still while it judges at one go. */
const SLICE_RUNS = 2_000

function emptyOf(deviceId: string): readonly [string, Set<number>] {
  return [deviceId, new Set()]
}

function makesChildren({ device }: Journal): boolean {
  return device.isBare !== true
}

/** Of what ran, a child of something acknowledged has not. */
function lacksChild({ device, sent }: Journal, ran: ReadonlyMap<string, ReadonlySet<number>>): boolean {
  const [own, children] = [ran.get(device.deviceId), ran.get(CHILD_OF + device.deviceId)]
  return sent.some(
    ({ value, outcome }) => outcome === 'acknowledged' && own?.has(value) === true && children?.has(value) !== true,
  )
}

/** Runs of the devices of one round, held against what these sent: no try twice, no value twice, first runs in order. */
export async function judgeRuns(
  runs: readonly Run[] | undefined,
  journals: readonly Journal[],
  circumstances: RunCircumstances,
): Promise<readonly string[]> {
  if (runs === undefined) return []
  const byDevice = new Map(journals.map((journal) => [journal.device.deviceId, journal]))
  const judge = new RunJudge({
    timesSent: (deviceId, value) => timesSent(byDevice, deviceId, value),
    // Of a value without an answer the device does not know when it arrives: only its own connection has an order.
    mayComeAfter: (deviceId, value, highest) => isUnbound(byDevice.get(deviceId), value, highest),
    partitionsMove: circumstances.partitionsMove,
  })
  for (let from = 0; from < runs.length; from += SLICE_RUNS) {
    judge.take(runs.slice(from, from + SLICE_RUNS).filter(({ deviceId }) => byDevice.has(deviceId)))
    await nextTurn()
  }
  const missing = missingOf(journals, circumstances, ({ deviceId }, value) => judge.has(deviceId, value))
  return [...judge.verdict().findings, ...missing.map((text) => `lost: ${text} was acknowledged and never ran`)]
}

/** The message that a node enqueued for each value: one, however often its parent was tried, and delivered once or more by its id. */
export function judgeChildren(
  runs: readonly Run[] | undefined,
  journals: readonly Journal[],
  circumstances: RunCircumstances,
): readonly string[] {
  if (runs === undefined) return []
  const parents = journals.filter(makesChildren)
  const devices = new Set(parents.map(({ device }) => CHILD_OF + device.deviceId))
  const idsOf = new Map<string, Set<string>>()
  for (const { deviceId, value, id } of runs) {
    if (!devices.has(deviceId)) continue
    const place = `${deviceId} ${value}`
    idsOf.set(place, (idsOf.get(place) ?? new Set()).add(id))
  }
  const doubled = [...idsOf].flatMap(([place, ids]) => (ids.size > 1 ? [`${ids.size} children: ${place}`] : []))
  const has = ({ deviceId }: DeviceIdentity, value: number): boolean => idsOf.has(`${CHILD_OF}${deviceId} ${value}`)
  const missing = missingOf(parents, circumstances, has)
  return [
    ...doubled.slice(0, MAX_MISSING),
    ...missing.map((text) => `child lost: ${text} was acknowledged and its child never ran`),
  ]
}

function timesSent(journals: ReadonlyMap<string, Journal>, deviceId: string, value: number): number {
  return journals.get(deviceId)?.sent[value - 1] === undefined ? 0 : 1
}

const MAX_MISSING = 10

function missingOf(
  journals: readonly Journal[],
  { isNewWorld }: RunCircumstances,
  has: (device: DeviceIdentity, value: number) => boolean,
): string[] {
  const missing = journals.flatMap(({ device, sent }) => {
    const hasRun = ({ value }: SentValue): boolean => has(device, value)
    const first = isNewWorld ? Math.max(0, sent.findIndex(hasRun)) : 0
    return sent
      .slice(first)
      .filter((value) => value.outcome === 'acknowledged' && !hasRun(value))
      .map(({ value }) => `value ${value} of ${device.name}`)
  })
  return missing.slice(0, MAX_MISSING)
}

function isUnbound(journal: Journal | undefined, value: number, highest: number): boolean {
  const [late, before] = [journal?.sent[value - 1], journal?.sent[highest - 1]]
  if (late === undefined || before === undefined) return false
  return late.session !== before.session && (late.outcome !== 'acknowledged' || before.outcome !== 'acknowledged')
}
