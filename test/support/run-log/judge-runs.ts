/**
 * Holds the log of runs against the rules: a message runs at most once for each of its tries, never after it was durably settled, a
 * value is not counted more often than its device sent it, and the messages of a device run in the order in which it sent them: for the first
 * time, and out of the store of parked lanes, which are parked whole and tried from their first message on.
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
  /** Of each message the first try that ran; most have no other. */
  readonly #firstTries = new Map<string, string>()
  readonly #laterTries = new Set<string>()
  /** The messages of each value of each device: mostly one. */
  readonly #idsOf = new Map<string, Map<number, Set<string> | string>>()
  readonly #settled = new Set<string>()
  readonly #highest = new Map<string, Run>()
  readonly #inEpoch = new Map<string, number>()
  /** Tried out of the store of parked lanes, by a process; and of these the last of each device. */
  readonly #parked = new Set<string>()
  readonly #highestParked = new Map<string, Run>()
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
    for (const id of this.#firstTries.keys()) this.#settled.add(id)
  }

  verdict(): RunVerdict {
    return { ...this.#counts, findings: this.#findings }
  }

  /** The values of a device that ran. */
  has(deviceId: string, value: number): boolean {
    return this.#idsOf.get(deviceId)?.has(value) === true
  }

  #takeOne(run: Run): void {
    const { id, epoch, attempt } = run
    this.#counts.runs++
    const aTry = `${epoch} ${attempt}`
    const first = this.#firstTries.get(id)
    if (first === undefined) this.#firstTries.set(id, aTry)
    else {
      this.#counts.repeated++
      const later = `${id} ${aTry}`
      if (first === aTry || this.#laterTries.has(later)) this.#find('doubled', run, 'the same try ran twice')
      this.#laterTries.add(later)
    }
    if (this.#rules.partitionsMove !== true && !epoch.endsWith('.1')) {
      this.#find('doubled', run, 'delivered twice to one process')
    }
    if (this.#settled.has(id)) this.#find('afterSettle', run, 'ran after it was durably settled')
    this.#judgeOrder(run)
    if (run.storeStart > 0) this.#judgeParkedOrder(run)
    this.#judgeCount(run)
  }

  #judgeCount(run: Run): void {
    const { id, deviceId, value } = run
    const values = this.#idsOf.get(deviceId) ?? new Map<number, Set<string> | string>()
    this.#idsOf.set(deviceId, values)
    const before = values.get(value)
    if (before === id || (before instanceof Set && before.has(id))) return
    if (before === undefined) values.set(value, id)
    else if (before instanceof Set) before.add(id)
    else values.set(value, new Set([before, id]))
    const count = before === undefined ? 1 : before instanceof Set ? before.size : 2
    const sent = this.#rules.timesSent(deviceId, value)
    if (count === sent + 1) this.#find('counted', run, `sent ${sent} times, counted ${count} times`)
  }

  /** Before the count: the first run of a value is the one that has a place in the order. */
  #judgeOrder(run: Run): void {
    const { id, deviceId, value, epoch } = run
    // What the device sent again is another message, behind those that it sent meanwhile.
    const ids = this.#idsOf.get(deviceId)?.get(value)
    const [first] = ids instanceof Set ? ids : [ids ?? id]
    if (first !== id) return
    if (this.#rules.isStrict === true) {
      const process = `${deviceId} ${epoch}`
      const before = this.#inEpoch.get(process) ?? 0
      if (value < before) this.#find('outOfOrder', run, `runs behind value ${before}, and the order is strict`)
      this.#inEpoch.set(process, Math.max(before, value))
    }
    if (ids !== undefined) return
    const highest = this.#highest.get(deviceId)
    if (highest === undefined || highest.value < value) return void this.#highest.set(deviceId, run)
    if (this.#mayComeAfter(run, highest) || startedBefore(run, highest)) return
    this.#find('outOfOrder', run, `runs for the first time behind value ${highest.value}`)
  }

  /** Whoever has the lane next begins with what is not done with: that is each process's own matter. */
  #judgeParkedOrder(run: Run): void {
    const { id, deviceId, value, storeStart } = run
    const place = `${deviceId} ${processOf(run)}`
    const own = `${place} ${id}`
    if (this.#parked.has(own)) return
    this.#parked.add(own)
    const highest = this.#highestParked.get(place)
    if (highest === undefined || highest.value < value) return void this.#highestParked.set(place, run)
    if (this.#mayComeAfter(run, highest) || storeStart < highest.storeStart) return
    this.#find('outOfOrder', run, `is tried out of the store of parked lanes behind value ${highest.value}`)
  }

  #mayComeAfter({ deviceId, value }: Run, highest: Run): boolean {
    return this.#rules.mayComeAfter?.(deviceId, value, highest.value) === true
  }

  #find(kind: Exclude<keyof RunVerdict, 'findings' | 'runs' | 'repeated'>, run: Run, text: string): void {
    this.#counts[kind]++
    if (this.#findings.length >= MAX_FINDINGS) return
    const { id, epoch, attempt, deviceId, value } = run
    this.#findings.push(`${kind}: value ${value} of ${deviceId} (message ${id}, ${epoch}, try ${attempt}): ${text}`)
  }
}

/**
 * Their order is that of their starts: the first try of the one ended before it came to the log (its script found no room, say), and what
 * ran is a retry, which may follow its successors. Seen where both started in one process.
 */
function startedBefore(run: Run, successor: Run): boolean {
  return processOf(run) === processOf(successor) && run.start < successor.start
}

function processOf({ epoch }: Run): string {
  return epoch.slice(0, epoch.lastIndexOf('.'))
}
