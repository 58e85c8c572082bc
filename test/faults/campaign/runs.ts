/** The runs of a world: where its processes log them, and the judge that knows what each device sent. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PROJECT_ROOT } from '../../support/start-millrace.ts'
import { RUN_LOG_PRELOAD, RunJudge, RunLog } from '../../support/run-log/index.ts'
import type { Journal, SentValue } from './journal.ts'

export interface WatchedRuns {
  readonly log: RunLog
  /** For each process of the world. */
  readonly options: { readonly preload: readonly string[]; readonly environment: Readonly<Record<string, string>> }
  close(): Promise<void>
}

export async function watchRuns(): Promise<WatchedRuns> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-runs-'))
  const log = new RunLog(join(folder, 'runs'))
  return {
    log,
    options: {
      preload: [RUN_LOG_PRELOAD, join(PROJECT_ROOT, 'test', 'support', 'clock-offset.ts')],
      environment: { RUN_LOG: log.file },
    },
    close: () => rm(folder, { recursive: true, force: true }),
  }
}

export interface RunCircumstances {
  readonly partitionsMove: boolean
  /** An engine hears of a new world's chain a little later: until then it runs the one before it, which logs nothing. */
  readonly isNewWorld: boolean
}

/** Runs of the devices of one round, held against what these sent: no try twice, no value twice, first runs in order. */
export function judgeRuns(
  log: RunLog | undefined,
  journals: readonly Journal[],
  { partitionsMove, isNewWorld }: RunCircumstances,
): readonly string[] {
  if (log === undefined) return []
  const byDevice = new Map(journals.map((journal) => [journal.device.deviceId, journal]))
  const judge = new RunJudge({
    timesSent: (deviceId, value) => (byDevice.get(deviceId)?.sent[value - 1] === undefined ? 0 : 1),
    // Of a value without an answer the device does not know when it arrives: only its own connection has an order.
    mayComeAfter: (deviceId, value, highest) => isUnbound(byDevice.get(deviceId), value, highest),
    partitionsMove,
  })
  judge.take(log.next().filter(({ deviceId }) => byDevice.has(deviceId)))
  const missing = journals.flatMap(({ device, sent }) => {
    const hasRun = ({ value }: SentValue): boolean => judge.has(device.deviceId, value)
    const first = isNewWorld ? Math.max(0, sent.findIndex(hasRun)) : 0
    return sent
      .slice(first)
      .filter((value) => value.outcome === 'acknowledged' && !hasRun(value))
      .map(({ value }) => `lost: value ${value} of ${device.name} was acknowledged and never ran`)
  })
  return [...judge.verdict().findings, ...missing.slice(0, 10)]
}

function isUnbound(journal: Journal | undefined, value: number, highest: number): boolean {
  const [late, before] = [journal?.sent[value - 1], journal?.sent[highest - 1]]
  if (late === undefined || before === undefined) return false
  return late.session !== before.session && (late.outcome !== 'acknowledged' || before.outcome !== 'acknowledged')
}
