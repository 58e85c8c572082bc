/**
 * What is asked of a client after it registered, and again where its profile or its objects are others (`device-api.md` 13.4): it is observed, read
 * and told how to notify.
 *
 * | state | asked anew | done | the client falls silent, or sleeps |
 * |---|---|---|---|
 * | idle | running | | |
 * | running | again | idle | due |
 * | again | again | running | running |
 * | due: when it is heard | running | | due |
 */
import type { CoapAnswer } from '../coap-messages/message.ts'
import type { OperationContext } from './call-params.ts'
import type { Failed } from './client-exchanges.ts'
import type { Path } from './codecs/records.ts'
import { compositeReading } from './composite.ts'
import type { ClientObservations, Kept, ObservedAnswer } from './observations.ts'
import { Code, observationKey, type Operation } from './operation.ts'
import { reading } from './operations.ts'
import type { ClientPlan } from './profile.ts'

/** A client as its start sees it. */
export interface StartedClient {
  readonly observations: ClientObservations
  /** As they are when they are asked for. */
  readonly context: OperationContext
  readonly plan: ClientPlan
  readonly isAwake: boolean
  readonly isEnded: boolean
  /** The types of its resources are known then. */
  prepare(): Promise<void>
  /** What is for it comes from now on. */
  listen(): void
  attempt(operation: Operation): Promise<ObservedAnswer | Failed>
  keep(answer: CoapAnswer, path: Path): Promise<Kept>
  /** It gets what the platform has for it. False where it does not answer. */
  catchUp(): Promise<boolean>
  failed(error: unknown): void
}

export class ClientStart {
  private readonly client: StartedClient
  private state: 'idle' | 'running' | 'again' | 'due' = 'idle'

  constructor(client: StartedClient) {
    this.client = client
  }

  get isIdle(): boolean {
    return this.state === 'idle'
  }

  /** The plan is another, or the client. */
  soon(): void {
    if (this.state === 'running' || this.state === 'again') {
      this.state = 'again'
      return
    }
    this.state = this.client.isAwake ? 'running' : 'due'
    if (this.state === 'running') void this.run()
  }

  /** What is asked now goes where the client is no more. */
  moved(): void {
    if (this.state === 'running') this.state = 'again'
  }

  heard(): void {
    if (this.state === 'due') this.soon()
  }

  private async run(): Promise<void> {
    const isDone = await this.doPlan().catch((error: unknown) => {
      this.client.failed(error)
      return false
    })
    const isAgain = this.state === 'again'
    // Asking a silent one goes on for nothing.
    this.state = isDone ? 'idle' : 'due'
    if (isAgain && !this.client.isEnded) this.soon()
  }

  /** False where the client stopped to answer. */
  private async doPlan(): Promise<boolean> {
    const { client } = this
    await client.prepare()
    if (client.isEnded) return true
    client.listen()
    const { observations } = client
    const { observe, read, notifying } = client.plan
    const observed = observe.map((paths) => ({ paths, key: observationKey(asked(paths)) }))
    const wanted = new Set(observed.map(({ key }) => key))
    for (const key of observations.keys) if (!wanted.has(key)) observations.forget(key)
    for (const { paths, key } of observed) {
      if (!observations.has(key) && !(await this.fetch(paths, 0))) return false
    }
    for (const paths of read) if (!(await this.fetch(paths))) return false
    for (const { path, parameters } of notifying) {
      const query = Object.entries(parameters).map(([name, value]) => `${name}=${value}`)
      if (query.length > 0 && (await client.attempt({ code: Code.PUT, path, query })) === 'silent') return false
    }
    return client.catchUp()
  }

  /** False where the client does not answer. Several that it does not tell together are fetched one by one. */
  private async fetch(paths: readonly Path[], observe?: 0): Promise<boolean> {
    const { client } = this
    const [path = []] = paths
    const isOne = paths.length === 1
    const operation = isOne ? reading(client.context, path) : await compositeReading(client.context, paths)
    const answer = await client.attempt({ ...operation, ...(observe === undefined ? {} : { observe }) })
    if (answer === 'silent') return false
    const isTold = answer !== 'refused' && answer.code === '2.05'
    if (isTold && answer.isOvertaken !== true) await client.keep(answer, operation.path)
    if (isTold || isOne) return true
    for (const each of paths) if (!(await this.fetch([each], observe))) return false
    return true
  }
}

function asked(paths: readonly Path[]): Pick<Operation, 'path' | 'paths'> {
  const [path = []] = paths
  return paths.length === 1 ? { path } : { path: [], paths }
}
