/**
 * What one client is observed for (RFC 7641). A notification is acknowledged once its values are durable, so that a client that asked for it
 * sends again what was lost.
 */
import type { CoapRequests } from '../coap-messages/requests.ts'
import type { CoapAnswer, OutgoingRequest, Peer } from '../coap-messages/message.ts'
import type { Path } from './codecs/records.ts'

/** `undone`: it is to come again. */
export type Kept = 'stored' | 'undone'

export interface ObservedAnswer extends CoapAnswer {
  /** A notification that is newer came before it (RFC 7641, 3.4): what this one says is not so any more. */
  readonly isOvertaken?: true
}

export interface ObservationsOptions {
  readonly requests: CoapRequests
  readonly peer: () => Peer
  readonly limit: number
  readonly monotonic: () => number
  /** Does not reject. */
  readonly keep: (answer: CoapAnswer, path: Path, request: OutgoingRequest) => Promise<Kept>
}

/** One that the client may know nothing of any more. */
export interface DoubtfulObservation {
  /** As `observationKey` has it. */
  readonly key: string
  readonly path: Path
  readonly request: OutgoingRequest
}

interface Observation extends DoubtfulObservation {
  readonly token: Buffer
  isDoubtful: boolean
  /** Of the last notification. */
  sequence: number | undefined
  heardAt: number
  id: number | undefined
  state: Kept | 'pending'
}

/** RFC 7641, 3.4. */
const HALF = 2 ** 23
const FRESH_MS = 128_000

export class ClientObservations {
  private readonly options: ObservationsOptions
  private readonly byKey = new Map<string, Observation>()
  private isAnyDoubtful = false

  constructor(options: ObservationsOptions) {
    this.options = options
  }

  get keys(): readonly string[] {
    return [...this.byKey.keys()]
  }

  has(key: string): boolean {
    return this.byKey.has(key)
  }

  get isFull(): boolean {
    return this.byKey.size >= this.options.limit
  }

  /** The client may have forgotten them all. Notifications count until each is asked for again. */
  doubt(): void {
    for (const observation of this.byKey.values()) observation.isDoubtful = true
    this.isAnyDoubtful = this.byKey.size > 0
  }

  /** Of those that are left to ask for. Undefined where none is. */
  get doubtful(): DoubtfulObservation | undefined {
    // Asked for with each word of the client, long after the last doubt.
    if (!this.isAnyDoubtful) return undefined
    for (const observation of this.byKey.values()) if (observation.isDoubtful) return observation
    this.isAnyDoubtful = false
    return undefined
  }

  /** Asks, in the place of an observation of the same; the answer is the caller's to store where it is not overtaken. Rejects as `ask` does. */
  async begin(key: string, path: Path, request: OutgoingRequest): Promise<ObservedAnswer> {
    const { requests, peer, monotonic } = this.options
    this.forget(key)
    const token = requests.newToken()
    const observation: Observation = {
      ...{ key, path, token, request, sequence: undefined, heardAt: monotonic() },
      ...{ id: undefined, state: 'stored', isDoubtful: false },
    }
    this.byKey.set(key, observation)
    requests.watch(token, peer, (answer, id, acknowledge) => this.notified(observation, answer, id, acknowledge))
    let isObserved = false
    try {
      const answer = await requests.ask(peer(), { ...request, observe: 0 }, token)
      const { observe } = answer
      isObserved = answer.code === '2.05' && observe !== undefined
      if (!isObserved || observe === undefined) return answer
      if (!isNewer(observation, observe, monotonic())) return { ...answer, isOvertaken: true }
      observation.sequence = observe
      return answer
    } finally {
      if (!isObserved) this.drop(observation)
    }
  }

  /**
   * Asks for one again, as `begin`. A client that knows it still hears that nobody wants it twice when it sends the next notification. Undefined
   * where it was let go or asked for meanwhile. Where this rejects, it stays doubtful.
   */
  async renew({ key, path, request }: DoubtfulObservation): Promise<ObservedAnswer | undefined> {
    const before = this.byKey.get(key)
    if (before?.isDoubtful !== true) return undefined
    try {
      return await this.begin(key, path, request)
    } catch (error) {
      this.byKey.set(key, before)
      throw error
    }
  }

  /** Undefined where it was not observed. Rejects as `ask` does: it is over all the same. */
  async end(key: string): Promise<CoapAnswer | undefined> {
    const observation = this.byKey.get(key)
    if (observation === undefined) return undefined
    this.drop(observation)
    const { requests, peer } = this.options
    return requests.ask(peer(), { ...observation.request, observe: 1 }, observation.token)
  }

  /** The client is not told: it hears that nobody wants a notification when it sends the next. */
  forget(key: string): void {
    const observation = this.byKey.get(key)
    if (observation !== undefined) this.drop(observation)
  }

  close(): void {
    for (const observation of [...this.byKey.values()]) this.drop(observation)
  }

  private drop(observation: Observation): void {
    this.options.requests.unwatch(observation.token)
    const { key } = observation
    if (this.byKey.get(key) === observation) this.byKey.delete(key)
  }

  private notified(
    observation: Observation,
    answer: CoapAnswer,
    id: number,
    acknowledge: (isKnown: boolean) => void,
  ): void {
    if (!answer.code.startsWith('2.') || answer.observe === undefined) {
      this.drop(observation)
      return acknowledge(true)
    }
    if (observation.id === id && observation.state !== 'undone') {
      // It comes again: the acknowledgement was lost, or is not due yet.
      if (observation.state === 'stored') acknowledge(true)
      return
    }
    const now = this.options.monotonic()
    if (observation.id !== id && !isNewer(observation, answer.observe, now)) return acknowledge(true)
    Object.assign(observation, { id, sequence: answer.observe, heardAt: now, state: 'pending' })
    void this.options.keep(answer, observation.path, observation.request).then((kept) => {
      if (observation.id === id) observation.state = kept
      if (kept === 'stored') acknowledge(true)
    })
  }
}

function isNewer({ sequence, heardAt }: Observation, next: number, now: number): boolean {
  if (sequence === undefined || now > heardAt + FRESH_MS) return true
  return (sequence < next && next - sequence < HALF) || (sequence > next && sequence - next > HALF)
}
