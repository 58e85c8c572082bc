/** Reading back what was sent, until it is there or the time is over. */
import { setTimeout as delay } from 'node:timers/promises'
import type { Fleet } from './fleet.ts'
import type { Journal, SentValue } from './journal.ts'
import type { ReadSeries } from './verdict.ts'

const POLL_MS = 100
const FARTHEST_POLL_MS = 2_000
/** Devices that are read side by side: more would take the processor from the server that answers. */
const READERS = 8
/** What came late over another connection may be the newest though all is there: everything is read now and then. */
const READ_ALL_EACH_MS = 15_000

/** What reads devices. */
export type Reader = Pick<Fleet, 'newest' | 'series'>

/** Reads until everything acknowledged is there, or the time is over: then what is missing is lost. */
export async function readBack(
  fleet: Reader,
  journals: readonly Journal[],
  limitMs: number,
): Promise<{ readonly journal: Journal; readonly series: ReadSeries }[]> {
  const found = new Map<Journal, ReadSeries>()
  const failures = new Map<Journal, unknown>()
  let open = journals
  let readAllAt = performance.now() + READ_ALL_EACH_MS
  const isThere = async (): Promise<boolean> => {
    const missing: Journal[] = []
    const readsAll = performance.now() >= readAllAt
    if (readsAll) readAllAt = performance.now() + READ_ALL_EACH_MS
    await forEachOf(open, async (journal) => {
      try {
        if (!readsAll && (await isBehind(fleet, journal))) return void missing.push(journal)
        const series = await fleet.series(journal)
        found.set(journal, series)
        if (isMissing(journal, series) || hasGrown(series)) missing.push(journal)
      } catch (error) {
        failures.set(journal, error) // A store that is not back yet: asked again, and thrown when it never came.
        missing.push(journal)
      }
    })
    open = missing
    return open.length === 0
  }
  if (!(await holds(limitMs, isThere, FARTHEST_POLL_MS))) {
    readAllAt = 0
    await isThere()
  }
  return journals.map((journal) => {
    const series = found.get(journal)
    if (series !== undefined) return { journal, series }
    throw new Error(`${journal.device.name} can not be read`, { cause: failures.get(journal) })
  })
}

async function forEachOf<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  const left = items.values()
  const reader = async (): Promise<void> => {
    for (const item of left) await work(item)
  }
  await Promise.all(Array.from({ length: READERS }, reader))
}

/** A backlog is still run: the device's last value is not there, and reading all others would hold it up. */
async function isBehind(fleet: Reader, journal: Journal): Promise<boolean> {
  return (await fleet.newest(journal)) < (journal.lastAcknowledged()?.value ?? 0)
}

/** What has no answer still came in when the latest value was read, behind the history. That stays so where it is not read again in time. */
function hasGrown({ n, latest }: ReadSeries): boolean {
  return latest !== undefined && latest.ts > (n.at(-1)?.ts ?? -Infinity)
}

/** Something that was acknowledged is not there. */
export function isMissing({ sent }: Journal, { n }: ReadSeries): boolean {
  const found = new Set(n.map(({ value }) => value))
  return sent.some(({ value, outcome }) => outcome === 'acknowledged' && !found.has(value))
}

export async function whenReadable(
  fleet: Reader,
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
export async function holds(
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
