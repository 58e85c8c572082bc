/** Requests to one client, one after another, and what it is observed for. One that does not answer, and one that refuses, are told apart. */
import { isMillraceError } from '../../model/errors.ts'
import { MessageErrors } from '../coap-messages/errors.ts'
import type { CoapAnswer, OutgoingRequest } from '../coap-messages/message.ts'
import type { CoapRequests, ReadBody } from '../coap-messages/requests.ts'
import { Format, type Path } from './codecs/records.ts'
import type { Lwm2mLimits } from './limits.ts'
import { ClientObservations, type DoubtfulObservation, type Kept, type ObservedAnswer } from './observations.ts'
import { Code, observationKey, outgoing, type Operation } from './operation.ts'
import type { Registration } from './registrations.ts'
import { RequestLine } from './request-line.ts'

export interface ExchangesOptions {
  readonly registration: Registration
  readonly requests: CoapRequests
  readonly limits: Pick<Lwm2mLimits, 'maxWaitingRequests' | 'maxObservations'>
  readonly monotonic: () => number
  /** The client said something. */
  readonly heard: () => void
  /** Stores what it said. Does not reject. */
  readonly keep: (answer: CoapAnswer, path: Path) => Promise<Kept>
  readonly failed: (error: unknown) => void
}

/** `silent`: later perhaps. `refused`: asked again it would be the same. */
export type Failed = 'silent' | 'refused'

const NOTHING = Buffer.alloc(0)

export class ClientExchanges {
  readonly observations: ClientObservations
  isEnded = false
  private readonly options: ExchangesOptions
  private readonly line: RequestLine

  constructor(options: ExchangesOptions) {
    const { registration, requests, limits, monotonic } = options
    this.options = options
    this.line = new RequestLine(limits.maxWaitingRequests)
    this.observations = new ClientObservations({
      ...{ requests, monotonic, peer: () => registration.address, limit: limits.maxObservations },
      keep: (answer, path, request) => this.keepWhole(answer, path, request),
    })
  }

  async ask(operation: Operation): Promise<ObservedAnswer> {
    const { requests, registration, heard } = this.options
    const request = outgoing(operation, registration.offer.rootPath)
    const answer = await this.line.run<ObservedAnswer>(() => {
      if (operation.observe === 0 && !this.observations.isFull)
        return this.observations.begin(observationKey(operation), operation.path, request)
      return requests.ask(registration.address, request)
    })
    heard()
    return answer
  }

  push(path: Path, read: ReadBody): Promise<CoapAnswer> {
    const { requests, registration } = this.options
    const operation = { code: Code.PUT, path, query: [], body: { format: Format.OPAQUE, bytes: NOTHING } }
    const request = outgoing(operation, registration.offer.rootPath)
    // One that registers anew is written to anew: blocks of both would come mixed.
    const readOn: ReadBody = (at, size) => (this.isEnded ? Promise.reject(MessageErrors.CLOSED()) : read(at, size))
    return this.line.run(() => requests.push(registration.address, request, readOn))
  }

  endObservation(key: string): Promise<CoapAnswer | undefined> {
    return this.line.run(() => this.observations.end(key))
  }

  attempt(operation: Operation): Promise<ObservedAnswer | Failed> {
    return this.attempted(() => this.ask(operation))
  }

  /** False where the client does not answer. */
  async renew(observation: DoubtfulObservation): Promise<boolean> {
    const answer = await this.attempted(() => this.line.run(() => this.observations.renew(observation)))
    if (answer === 'silent') return false
    if (answer === 'refused') this.observations.forget(observation.key)
    if (answer === 'refused' || answer === undefined) return true
    this.options.heard()
    if (answer.code === '2.05' && answer.isOvertaken !== true) await this.options.keep(answer, observation.path)
    return true
  }

  end(): void {
    this.isEnded = true
    this.line.close()
    this.observations.close()
  }

  /** What changes while it is told is asked for once more, or one that always changes would have the plan begin anew without end. */
  private async attempted<Answer>(ask: () => Promise<Answer>, isAgain = false): Promise<Answer | Failed> {
    try {
      return await ask()
    } catch (error) {
      this.options.failed(error)
      if (isOfTwoAnswers(error)) return isAgain ? 'refused' : this.attempted(ask, true)
      return isMillraceError(error) && error.kind === 'invalid' ? 'refused' : 'silent'
    }
  }

  private async keepWhole(first: CoapAnswer, path: Path, request: OutgoingRequest): Promise<Kept> {
    const { requests, registration, heard, keep, failed } = this.options
    heard()
    try {
      return await keep(await requests.whole(registration.address, request, first), path)
    } catch (error) {
      failed(error)
      // What it told is no more: it tells the change as well, once this is acknowledged (RFC 7641, 4.5.2).
      return isOfTwoAnswers(error) ? 'stored' : 'undone'
    }
  }
}

function isOfTwoAnswers(error: unknown): boolean {
  return isMillraceError(error) && error.code === 'coap.CHANGED_MEANWHILE'
}
