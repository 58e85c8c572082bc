/** One registered client, as those see it who want something of it. */
import type { CoapAnswer } from '../coap-messages/message.ts'
import type { ReadBody } from '../coap-messages/requests.ts'
import type { OperationContext } from './call-params.ts'
import type { Path, ValueRecord } from './codecs/records.ts'
import type { ResourceModel } from './core-models.ts'
import type { ClientObservations, ObservedAnswer } from './observations.ts'
import type { Operation } from './operation.ts'
import type { Registration } from './registrations.ts'

export interface ReachedClient {
  readonly registration: Registration
  readonly context: OperationContext
  readonly observations: ClientObservations
  /** One request after another. Rejects as `CoapRequests.ask` does, TOO_MANY_REQUESTS. */
  ask(operation: Operation): Promise<ObservedAnswer>
  /** A resource in blocks. Rejects as `ask` does, and as `read`. */
  push(path: Path, read: ReadBody): Promise<CoapAnswer>
  /** `silent`: later perhaps. `refused`: asked again it would be the same. */
  attempt(operation: Operation): Promise<ObservedAnswer | 'silent' | 'refused'>
  /** By `observationKey`. Undefined where it was not observed. Rejects as `ask` does. */
  endObservation(key: string): Promise<CoapAnswer | undefined>
  /** Undefined where nobody knows the resource. */
  modelAt(path: Path): ResourceModel | undefined
  /** Rejects as `decoded` throws. */
  recordsOf(answer: CoapAnswer, path: Path): Promise<readonly ValueRecord[]>
  /** Stores what the profile names of it. Rejects where it is refused. */
  store(records: readonly ValueRecord[]): Promise<void>
  /** Counts it, and says in the log what nobody expects. */
  failed(error: unknown): void
}
