/** How the queue works, with what each number costs. */
export interface QueueSettings {
  /** Unsettled messages held in memory, waiting ones included, large ones by their weight; beyond it the rest stays in the link. */
  readonly maxHeld: number
  /** Messages of one originator that are in process at once. 1 is strict: the next starts when the last has settled. */
  readonly maxInFlightPerOriginator: number
  /** Tries after the first one; then the message is buried. 0: buried after its first failure. */
  readonly retries: number
  /** Before the first retry; doubled for each further one, up to the maximum. */
  readonly pauseBetweenRetriesMs: number
  readonly maxPauseBetweenRetriesMs: number
  /** A message that has not ended by then has failed; its late end is ignored. */
  readonly processingTimeoutMs: number
}

export const DEFAULT_QUEUE_SETTINGS: QueueSettings = {
  maxHeld: 20_000,
  maxInFlightPerOriginator: 256,
  retries: 10,
  pauseBetweenRetriesMs: 1000,
  maxPauseBetweenRetriesMs: 30_000,
  processingTimeoutMs: 30_000,
}
