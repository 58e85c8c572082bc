/** Messages that go on later: kept durably meanwhile, where the pack does not wait for them. */
import type { Message } from '../../model/message.ts'
import type { PublishReceipt } from '../link/link.ts'
import type { NodeIdentity } from './capabilities.ts'

export interface DeferredMessage {
  /** Where it goes on is in its resumption. */
  readonly message: Message
  /** Unix ms. */
  readonly at: number
  readonly node: NodeIdentity
  /** Of the message as the log delivered it: its partition keeps it. */
  readonly originatorId: string
}

export interface Deferral {
  /** Told when it is durable. */
  defer(deferred: DeferredMessage, receipt: PublishReceipt): void
}
