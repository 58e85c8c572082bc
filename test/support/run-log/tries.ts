/**
 * Which try of a message runs, by its id: a node is not told. The epoch is the process and how many times the link has delivered the
 * message to it: a retry is the same object, a new delivery another one. The queue does not count a try that met an outage; here it counts.
 */
import { isMillraceError } from '../../../model/errors.ts'
import type { Message } from '../../../model/message.ts'
import type { Work } from '../../../engine/queue/work.ts'

export interface Try {
  readonly epoch: string
  readonly attempt: number
  readonly start: number
}

interface Known {
  readonly message: WeakRef<Message>
  readonly deliveries: number
  readonly start: number
  attempt: number
  /** Tries of this delivery that met an outage. */
  outages: number
}

const PROCESS = `${process.pid}-${Date.now()}`
/** What is older is settled, or another process has it by now. */
const MAX_KNOWN = 200_000
const known = new Map<string, Known>()
let starts = 0

export function noteTry(work: Work): void {
  const { message, attempt } = work
  const before = known.get(message.id)
  const isSame = before?.message.deref() === message
  const noted =
    isSame && before
      ? before
      : {
          message: new WeakRef(message),
          deliveries: (before?.deliveries ?? 0) + 1,
          start: before?.start ?? ++starts,
          attempt,
          outages: 0,
        }
  noted.attempt = attempt
  // Behind all others: what waits through an outage is tried again and again, and is known to the end.
  known.delete(message.id)
  known.set(message.id, noted)
  if (known.size > MAX_KNOWN) forgetOldest()
  const end = work.end.bind(work)
  work.end = (error) => {
    if (isMillraceError(error) && error.isOutage) noted.outages++
    end(error)
  }
}

export function tryOf(id: string): Try {
  const found = known.get(id)
  if (found === undefined) throw new Error(`message ${id} runs and was handed to no rule engine`)
  const { deliveries, attempt, outages, start } = found
  return { epoch: `${PROCESS}.${deliveries}`, attempt: attempt + outages, start }
}

function forgetOldest(): void {
  const [oldest] = known.keys()
  if (oldest !== undefined) known.delete(oldest)
}
