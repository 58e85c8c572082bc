/**
 * Which try of a message runs, by its id: a node is not told. The epoch is the process and how many times the link has delivered the
 * message to it: a retry is the same object, a new delivery another one. The queue does not count a try that met an outage; here it counts.
 * A parked message is tried again out of the store, another object too: no new delivery, unless a try of it had succeeded.
 */
import { isMillraceError } from '../../../model/errors.ts'
import type { Message } from '../../../model/message.ts'
import { ParkedDelivery } from '../../../engine/parking/parked-lane.ts'
import type { Work } from '../../../engine/queue/work.ts'

export interface Try {
  readonly epoch: string
  readonly attempt: number
  readonly start: number
  readonly storeStart: number
}

interface Known {
  message: WeakRef<Message>
  readonly deliveries: number
  readonly start: number
  attempt: number
  /** Tries of this delivery that met an outage, or were taken back to be parked. */
  uncounted: number
  hasSucceeded: boolean
  /** Of its first try out of the store; 0 before. */
  storeStart: number
  /** The try that runs is out of the store. */
  isOutOfTheStore: boolean
}

const PROCESS = `${process.pid}-${Date.now()}`
/** What is older is settled, or another process has it by now. */
const KNOWN_TO_EACH = 100_000
/**
 * In two generations, the older one forgotten as a whole: the first key of a map is looked for behind all that was deleted, so that taking the
 * oldest out for each message took up to 0.3 ms.
 */
let [younger, older] = [new Map<string, Known>(), new Map<string, Known>()]
let starts = 0
let storeStarts = 0

export function noteTry(work: Work): void {
  const { message, attempt } = work
  const before = knownOf(message.id)
  const isParked = before !== undefined && !before.hasSucceeded && isOutOfTheStore(work)
  if (isParked && before.message.deref() !== message) {
    before.message = new WeakRef(message)
    // Whoever took it back to park it counted no try.
    if (attempt === before.attempt) before.uncounted++
  }
  const isSame = before?.message.deref() === message
  const noted =
    isSame && before
      ? before
      : {
          message: new WeakRef(message),
          deliveries: (before?.deliveries ?? 0) + 1,
          start: before?.start ?? ++starts,
          attempt,
          uncounted: 0,
          hasSucceeded: false,
          storeStart: 0,
          isOutOfTheStore: false,
        }
  noted.attempt = attempt
  noted.isOutOfTheStore = isOutOfTheStore(work)
  if (noted.isOutOfTheStore && noted.storeStart === 0) noted.storeStart = ++storeStarts
  // Into the younger: what waits through an outage is tried again and again, and is known to the end.
  if (!younger.has(message.id) && younger.size >= KNOWN_TO_EACH) [younger, older] = [new Map<string, Known>(), younger]
  younger.set(message.id, noted)
  watch(work, noted)
}

function watch(work: Work, noted: Known): void {
  const [branch, end] = [work.branch.bind(work), work.end.bind(work)]
  let open = 1
  let hasFailed = false
  work.branch = (count) => {
    open += count
    branch(count)
  }
  work.end = (error) => {
    if (isMillraceError(error) && error.isOutage) noted.uncounted++
    hasFailed ||= error !== undefined
    // One that was cut off before has its error already: its end is heard by nobody.
    if (--open === 0 && !hasFailed && !isCutOff(work)) noted.hasSucceeded = true
    end(error)
  }
}

function isOutOfTheStore(work: Work): boolean {
  return 'delivery' in work && work.delivery instanceof ParkedDelivery
}

function isCutOff(work: Work): boolean {
  return 'error' in work && work.error !== undefined
}

export function tryOf(id: string): Try {
  const found = knownOf(id)
  if (found === undefined) throw new Error(`message ${id} runs and was handed to no rule engine`)
  const { deliveries, attempt, uncounted, start } = found
  const storeStart = found.isOutOfTheStore ? found.storeStart : 0
  return { epoch: `${PROCESS}.${deliveries}`, attempt: attempt + uncounted, start, storeStart }
}

function knownOf(id: string): Known | undefined {
  return younger.get(id) ?? older.get(id)
}
