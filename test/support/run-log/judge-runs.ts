/**
 * Holds the log of runs against the rules: a message runs at most once for each of its tries, never after it was durably settled, a
 * value is not counted more often than its device sent it, and the messages of a device run in the order in which it sent them.
 */
import type { Run } from './run-log.ts'

export interface RunRules {
  /** How many times the device sent the value: 1, and one for each time it sent it again. 0: never. */
  readonly timesSent: (deviceId: string, value: number) => number
  /**
   * The highest value that has to run before this one: absent means every lower one. A value without an answer is bound to its
   * own connection only.
   */
  readonly mayComeAfter?: (deviceId: string, value: number, highest: number) => boolean
  /** No successor of a failed message runs before it succeeds. */
  readonly isStrict?: boolean
  /** A process that lost a partition and has it again gets what is unsettled anew. */
  readonly partitionsMove?: boolean
}

export interface RunVerdict {
  readonly runs: number
  /** Runs of a message beyond its first: retries, and what was delivered again after a kill. */
  readonly repeated: number
  readonly doubled: number
  readonly afterSettle: number
  readonly counted: number
  readonly outOfOrder: number
  readonly findings: readonly string[]
}

const MAX_FINDINGS = 10

export class RunJudge {
  readonly #rules: RunRules
  readonly #tries = new Set<string>()
  readonly #idsOf = new Map<string, Set<string>>()
  readonly #settled = new Set<string>()
  readonly #seen = new Set<string>()
  readonly #highest = new Map<string, number>()
  readonly #inEpoch = new Map<string, number>()
  readonly #counts = { runs: 0, repeated: 0, doubled: 0, afterSettle: 0, counted: 0, outOfOrder: 0 }
  readonly #findings: string[] = []

  constructor(rules: RunRules) {
    this.#rules = rules
  }

  take(runs: readonly Run[]): void {
    for (const run of runs) this.#takeOne(run)
  }

  /** Every message that ran so far is settled, and the settle is durable. */
  settled(): void {
    for (const id of this.#seen) this.#settled.add(id)
  }

  verdict(): RunVerdict {
    return { ...this.#counts, findings: this.#findings }
  }

  /** The values of a device that ran. */
  has(deviceId: string, value: number): boolean {
    return this.#idsOf.has(`${deviceId} ${value}`)
  }

  #takeOne(run: Run): void {
    const { id, epoch, attempt } = run
    this.#counts.runs++
    const aTry = `${id} ${epoch} ${attempt}`
    if (this.#tries.has(aTry)) this.#find('doubled', run, 'the same try ran twice')
    this.#tries.add(aTry)
    if (this.#rules.partitionsMove !== true && !epoch.endsWith('.1')) {
      this.#find('doubled', run, 'delivered twice to one process')
    }
    if (this.#settled.has(id)) this.#find('afterSettle', run, 'ran after it was durably settled')
    if (this.#seen.has(id)) this.#counts.repeated++
    this.#seen.add(id)
    this.#judgeOrder(run)
    this.#judgeCount(run)
  }

  #judgeCount(run: Run): void {
    const place = `${run.deviceId} ${run.value}`
    const ids = this.#idsOf.get(place) ?? new Set()
    this.#idsOf.set(place, ids.add(run.id))
    const sent = this.#rules.timesSent(run.deviceId, run.value)
    if (ids.size === sent + 1) this.#find('counted', run, `sent ${sent} times, counted ${ids.size} times`)
  }

  /** Before the count: the first run of a value is the one that has a place in the order. */
  #judgeOrder(run: Run): void {
    const { id, deviceId, value, epoch } = run
    // What the device sent again is another message, behind those that it sent meanwhile.
    const [first] = this.#idsOf.get(`${deviceId} ${value}`) ?? [id]
    if (first !== id) return
    if (this.#rules.isStrict === true) {
      const process = `${deviceId} ${epoch}`
      const before = this.#inEpoch.get(process) ?? 0
      if (value < before) this.#find('outOfOrder', run, `runs behind value ${before}, and the order is strict`)
      this.#inEpoch.set(process, Math.max(before, value))
    }
    if (this.#idsOf.has(`${deviceId} ${value}`)) return
    const highest = this.#highest.get(deviceId) ?? 0
    if (value < highest && this.#rules.mayComeAfter?.(deviceId, value, highest) !== true) {
      this.#find('outOfOrder', run, `runs for the first time behind value ${highest}`)
    }
    this.#highest.set(deviceId, Math.max(highest, value))
  }

  #find(kind: Exclude<keyof RunVerdict, 'findings' | 'runs' | 'repeated'>, run: Run, text: string): void {
    this.#counts[kind]++
    if (this.#findings.length >= MAX_FINDINGS) return
    const { id, epoch, attempt, deviceId, value } = run
    this.#findings.push(`${kind}: value ${value} of ${deviceId} (message ${id}, ${epoch}, try ${attempt}): ${text}`)
  }
}
