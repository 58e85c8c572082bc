/** Holds what a reader sees of a device against its journal. */
import type { Journal } from './journal.ts'

/** A point as read back: `ts` of the store. */
export interface ReadPoint<Value = number> {
  readonly ts: number
  readonly value: Value
}

export interface ReadSeries {
  /** In the order of their times. */
  readonly n: readonly ReadPoint[]
  readonly text: readonly ReadPoint<string>[]
  readonly latest: ReadPoint | undefined
}

export interface Verdict {
  readonly sent: number
  readonly acknowledged: number
  /** Publishes and posts that carried what was acknowledged. */
  readonly acknowledgedMessages: number
  readonly refused: number
  readonly unknown: number
  readonly found: number
  readonly lost: number
  readonly duplicated: number
  readonly outOfOrder: number
  /** Never sent, or not as it was sent. */
  readonly foreign: number
  /** The first few findings, for people. */
  readonly findings: readonly string[]
}

const MAX_FINDINGS = 20

export function judge(read: readonly { readonly journal: Journal; readonly series: ReadSeries }[]): Verdict {
  const total = { found: 0, lost: 0, duplicated: 0, outOfOrder: 0, foreign: 0 }
  const sums = { sent: 0, acknowledged: 0, acknowledgedMessages: 0, refused: 0, unknown: 0 }
  const findings: string[] = []
  for (const { journal, series } of read) {
    const note = (kind: Exclude<keyof typeof total, 'found'>, text: string): void => {
      total[kind]++
      if (findings.length < MAX_FINDINGS) findings.push(`${kind}: ${journal.device.name} ${text}`)
    }
    total.found += judgePoints(journal, series.n, note)
    judgeNeighbours(series, journal.device.isBare !== true, note)
    for (const outcome of ['acknowledged', 'refused', 'unknown'] as const) sums[outcome] += journal.count(outcome)
    sums.acknowledgedMessages += journal.acknowledgedMessages()
    sums.sent += journal.sent.length
    for (const text of journal.complaints) if (findings.length < MAX_FINDINGS) findings.push(text)
  }
  return { ...sums, ...total, findings }
}

type Note = (kind: 'lost' | 'duplicated' | 'outOfOrder' | 'foreign', text: string) => void

/** Returns how many values are there. */
function judgePoints(journal: Journal, points: readonly ReadPoint[], note: Note): number {
  const found = new Set<number>()
  const highestOf = new Map<number, number>()
  let highest = 0
  for (const { ts, value } of points) {
    const sent = journal.sent[value - 1]
    if (sent === undefined) {
      note('foreign', `value ${value} at ${ts} was never sent`)
      continue
    }
    if (found.has(value)) {
      note('duplicated', `value ${value} is there twice, again at ${ts}`)
      continue
    }
    // A value without an answer is bound to its own connection only: the device may have gone on before it arrived.
    const bound = sent.outcome === 'acknowledged' ? highest : (highestOf.get(sent.session) ?? 0)
    if (value < bound) note('outOfOrder', `value ${value} (${sent.outcome}) at ${ts} comes after ${bound}`)
    found.add(value)
    highest = Math.max(highest, value)
    highestOf.set(sent.session, Math.max(highestOf.get(sent.session) ?? 0, value))
  }
  for (const { value, outcome } of journal.sent) {
    if (outcome === 'acknowledged' && !found.has(value))
      note('lost', `value ${value} was acknowledged and is not there`)
  }
  return found.size
}

/** The keys of a message are saved together, and the latest value is the last of the history. */
function judgeNeighbours({ n, text, latest }: ReadSeries, hasText: boolean, note: Note): void {
  const texts = new Map(text.map(({ ts, value }) => [ts, value]))
  for (const { ts, value } of hasText ? n : []) {
    const beside = texts.get(ts)
    if (beside !== `value ${value}`) note('foreign', `value ${value} at ${ts} has beside it ${beside ?? 'nothing'}`)
  }
  const last = n.at(-1)
  if (last?.ts !== latest?.ts || last?.value !== latest?.value) {
    note('outOfOrder', `the latest value is ${describe(latest)}, the last of the history ${describe(last)}`)
  }
}

function describe(point: ReadPoint | undefined): string {
  return point === undefined ? 'absent' : `${point.value} at ${point.ts}`
}
