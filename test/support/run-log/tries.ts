/**
 * Which try of a message runs, by its id: a node is not told. The epoch is the process and how many times the link has delivered the
 * message to it: a retry is the same object, a new delivery another one.
 */
import type { Message } from '../../../model/message.ts'

export interface Try {
  readonly epoch: string
  readonly attempt: number
}

interface Known {
  readonly message: WeakRef<Message>
  readonly deliveries: number
  readonly attempt: number
}

const PROCESS = `${process.pid}-${Date.now()}`
const known = new Map<string, Known>()

export function noteTry(message: Message, attempt: number): void {
  const before = known.get(message.id)
  const isSame = before?.message.deref() === message
  const deliveries = (before?.deliveries ?? 0) + (isSame ? 0 : 1)
  known.set(message.id, { message: isSame && before ? before.message : new WeakRef(message), deliveries, attempt })
}

export function tryOf(id: string): Try {
  const found = known.get(id)
  if (found === undefined) throw new Error(`message ${id} runs and was handed to no rule engine`)
  return { epoch: `${PROCESS}.${found.deliveries}`, attempt: found.attempt }
}
