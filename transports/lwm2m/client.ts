/**
 * One registered client: what is asked of it after it registered (`device-api.md` 13.4), what it says of that, and what the platform has for
 * it. What it misses while it sleeps is done when it is heard again.
 */
import { isDeepStrictEqual } from 'node:util'
import type { Clock } from '../../model/clock.ts'
import { errorText, isMillraceError } from '../../model/errors.ts'
import type { JsonObject } from '../../model/json.ts'
import type { Log } from '../../model/log.ts'
import type { CallRequest, DeviceGateway, SharedAttributesUpdate } from '../../engine/device/gateway.ts'
import type { CoapAnswer, OutgoingRequest, Peer } from '../coap-messages/message.ts'
import { MessageErrors } from '../coap-messages/errors.ts'
import type { CoapRequests, ReadBody } from '../coap-messages/requests.ts'
import type { OperationContext } from './call-params.ts'
import { answerCall } from './calls.ts'
import { Format, type Path, type ValueRecord } from './codecs/records.ts'
import { ClientModels } from './client-models.ts'
import { compositeReading } from './composite.ts'
import type { ResourceModel } from './core-models.ts'
import type { Lwm2mCounts } from './counts.ts'
import type { Lwm2mLimits } from './limits.ts'
import { ClientObservations, type DoubtfulObservation, type Kept, type ObservedAnswer } from './observations.ts'
import { observationKey, outgoing, type Operation } from './operation.ts'
import { reading } from './operations.ts'
import { decoded } from './payloads.ts'
import { planOf, profileOf, type ClientPlan, type Lwm2mProfile } from './profile.ts'
import type { ReachedClient } from './reached-client.ts'
import type { RegisteredClient, Registration } from './registrations.ts'
import { Renewal } from './renewal.ts'
import type { RenewalTurns } from './renewal-turns.ts'
import { RequestLine } from './request-line.ts'
import { SharedResources } from './shared-resources.ts'
import { store } from './storing.ts'
import { FIRMWARE, SOFTWARE } from './updates/kinds.ts'
import type { OfferedPackages } from './updates/offered-packages.ts'
import { PackageUpdate } from './updates/package-update.ts'
import { uplinkOf } from './uplink.ts'

export interface ClientParts {
  readonly requests: CoapRequests
  readonly clock: Clock
  readonly log: Log
  readonly counts: Lwm2mCounts
  readonly limits: Lwm2mLimits
  readonly gateway: Pick<DeviceGateway, 'findObjectTypes' | 'downloadPackage'>
  readonly offered: OfferedPackages
  readonly renewalTurns: RenewalTurns
  /** It is awake now. */
  readonly heard: (client: Lwm2mClient) => void
  /** Whether the platform takes uploads now. */
  readonly isWritable: () => boolean
}

/** `silent`: later perhaps. `refused`: asked again it would be the same. */
type Failed = 'silent' | 'refused'
type Configured = { readonly [member in 'lwm2m' | 'ownLwm2m']: JsonObject | undefined }

const PUT = '0.03'
const NOTHING = Buffer.alloc(0)

export class Lwm2mClient implements RegisteredClient, ReachedClient {
  readonly registration: Registration
  readonly observations: ClientObservations
  private readonly parts: ClientParts
  private readonly line: RequestLine
  private readonly renewal: Renewal
  private readonly shared: SharedResources
  private readonly models: ClientModels
  /** Of firmware and software. */
  private readonly updates: readonly PackageUpdate[]
  private profile: Lwm2mProfile
  private plan: ClientPlan
  /** What the profile was made of. */
  private configured: Configured
  private isAwake = true
  /** Resolves once the types of its resources are known. */
  prepared: Promise<void> = Promise.resolve()
  private isEnded = false
  private isListening = false
  /** Shared attributes may have changed without it. */
  private isBehind = false
  /** The start is under way; it is to be done again. */
  private start: 'idle' | 'running' | 'again' | 'due' = 'idle'

  /** Throws PROFILE. */
  constructor(parts: ClientParts, registration: Registration) {
    const { requests, limits, clock } = parts
    this.parts = parts
    this.registration = registration
    this.configured = configuredIn(registration)
    this.profile = profileOf(this.configured.lwm2m ?? {}, this.configured.ownLwm2m)
    this.plan = planOf(this.profile, registration)
    this.models = new ClientModels(parts.gateway)
    this.line = new RequestLine(limits.maxWaitingRequests)
    this.observations = new ClientObservations({
      ...{ requests, peer: () => this.peer, limit: limits.maxObservations },
      monotonic: () => clock.monotonic(),
      keep: (answer, path, request) => this.keepWhole(answer, path, request),
    })
    this.renewal = new Renewal({
      ...{ observations: this.observations, turns: parts.renewalTurns, clock, peer: registration.address },
      ...{ intervalMs: limits.renewalIntervalMs, tenantId: registration.session.device.tenantId },
      isReachable: () => this.isAwake && !this.isEnded,
      renew: (observation) => this.renew(observation),
    })
    this.shared = new SharedResources(this)
    this.updates = [FIRMWARE, SOFTWARE].map((kind) => new PackageUpdate(this, kind, parts))
  }

  get context(): OperationContext {
    const { registration, profile } = this
    return { client: registration, profile, findResource: this.models.find }
  }

  /** Ms after it was heard; undefined: always. */
  get listensMs(): number | undefined {
    return this.profile.listensMs ?? (this.registration.isQueueMode ? this.parts.limits.awakeMs : undefined)
  }

  get peer(): Peer {
    return this.registration.address
  }

  /** Once the client knows that it is registered. */
  begin(): void {
    this.heard()
    this.startSoon()
  }

  updated(hasNewOffer: boolean): void {
    if (hasNewOffer || this.isOutdated()) this.replan()
    this.heardBy(this.peer)
  }

  /** One that sleeps hears of it when it is awake. */
  refreshed(): void {
    if (this.isEnded || !this.isOutdated()) return
    this.replan()
    if (this.isAwake || this.listensMs === undefined) this.heard()
  }

  /** As `heard`, by a request of its own. */
  heardBy(peer: Peer): void {
    // What the start asks now goes where the client is no more.
    if (this.renewal.heardBy(peer) && this.start === 'running') this.start = 'again'
    this.heard()
  }

  /** By whatever it said: it listens for a while, and gets what it missed. */
  heard(): void {
    if (this.isEnded) return
    this.parts.heard(this)
    if (!this.isAwake) {
      this.isAwake = true
      if (this.isListening) this.registration.session.subscribeToCalls('all')
    }
    if (this.isBehind && this.start === 'idle') {
      this.isBehind = false
      void this.shared.synchronise().then(this.synchronised)
      this.checkPackages()
    }
    if (this.start === 'due') this.startSoon()
    this.renewal.goOn()
  }

  /** It listens no more: the platform keeps what is for it. */
  fellAsleep(): void {
    if (!this.isAwake || this.isEnded) return
    this.isAwake = false
    this.isBehind = true
    this.registration.session.unsubscribeFromCalls()
  }

  ended(): void {
    this.isEnded = true
    this.line.close()
    this.observations.close()
    for (const each of this.updates) each.close()
  }

  called(request: CallRequest): void {
    this.registration.session.callDelivered(request.id, 'SENT')
    void answerCall(this, request).catch((error: unknown) => this.failed(error))
  }

  sharedAttributesChanged(update: SharedAttributesUpdate): void {
    if (update.kind !== 'updated' || !this.isAwake) return
    void this.shared.changed(update.entries).then(this.synchronised)
    this.checkPackages(this.updates.filter((each) => each.concerns(update.entries)))
  }

  async ask(operation: Operation): Promise<ObservedAnswer> {
    const { requests } = this.parts
    const request = outgoing(operation, this.registration.offer.rootPath)
    const answer = await this.line.run<ObservedAnswer>(() => {
      if (operation.observe === 0 && !this.observations.isFull)
        return this.observations.begin(observationKey(operation), operation.path, request)
      return requests.ask(this.peer, request)
    })
    this.heard()
    return answer
  }

  push(path: Path, read: ReadBody): Promise<CoapAnswer> {
    const operation = { code: PUT, path, query: [], body: { format: Format.OPAQUE, bytes: NOTHING } }
    const request = outgoing(operation, this.registration.offer.rootPath)
    // One that registers anew is written to anew: blocks of both would come mixed.
    const readOn: ReadBody = (at, size) => (this.isEnded ? Promise.reject(MessageErrors.CLOSED()) : read(at, size))
    return this.line.run(() => this.parts.requests.push(this.peer, request, readOn))
  }

  endObservation(key: string): Promise<CoapAnswer | undefined> {
    return this.line.run(() => this.observations.end(key))
  }

  modelAt(path: Path): ResourceModel | undefined {
    const [objectId, , resourceId] = path
    if (objectId === undefined || resourceId === undefined) return undefined
    return this.models.find(objectId, this.versionOf(objectId), resourceId)
  }

  versionOf(objectId: number): string {
    return this.registration.offer.objects.get(objectId)?.version ?? this.profile.defaultVersion
  }

  async recordsOf({ payload, contentFormat }: CoapAnswer, path: Path): Promise<readonly ValueRecord[]> {
    return decoded({ payload, format: contentFormat, path, type: this.modelAt(path)?.type })
  }

  async store(records: readonly ValueRecord[]): Promise<void> {
    const { counts, clock } = this.parts
    // At once, in the order in which it was said, and whether the platform takes it or not.
    this.shared.heard(records)
    const { registration, plan, profile } = this
    const uplink = uplinkOf(records, {
      ...{ plan, offer: registration.offer, defaultVersion: profile.defaultVersion },
      ...{ findResource: this.models.find, now: clock.now() },
    })
    counts.untyped += uplink.unknown
    counts.received++
    await new Promise<void>((resolve, reject) => {
      store(registration.session, uplink, { stored: resolve, refused: reject })
    })
    counts.acknowledged++
    for (const each of this.updates) each.heard(records)
  }

  failed(error: unknown): void {
    const { counts, log } = this.parts
    if (!isMillraceError(error)) log.error('LwM2M: unexpected error', { error: errorText(error) })
    else if (error.kind === 'invalid') counts.undecodable++
    else if (error.kind === 'retryable') counts.refused++
  }

  /** A profile that was saved with another name says the same to a client: it is not asked for all of it once more. */
  private isOutdated(): boolean {
    const configured = configuredIn(this.registration)
    if (!isDeepStrictEqual(configured, this.configured)) return true
    this.configured = configured
    return false
  }

  private replan(): void {
    this.configured = configuredIn(this.registration)
    try {
      this.profile = profileOf(this.configured.lwm2m ?? {}, this.configured.ownLwm2m)
    } catch (error) {
      // As before until it is mended.
      return this.failed(error)
    }
    this.plan = planOf(this.profile, this.registration)
    this.startSoon()
  }

  private startSoon(): void {
    if (this.start === 'running' || this.start === 'again') {
      this.start = 'again'
      return
    }
    this.start = this.isAwake ? 'running' : 'due'
    if (!this.isAwake) return
    void this.starting()
  }

  private async starting(): Promise<void> {
    const isDone = await this.doPlan().catch((error: unknown) => {
      this.failed(error)
      return false
    })
    const isAgain = this.start === 'again'
    // It is done when the client is heard again: asking a silent one goes on for nothing.
    this.start = isDone ? 'idle' : 'due'
    if (isAgain && !this.isEnded) this.startSoon()
  }

  /** False where the client stopped to answer. */
  private async doPlan(): Promise<boolean> {
    this.prepared = this.loadModels()
    await this.prepared
    if (this.isEnded) return true
    this.listen()
    const { observe, read, notifying } = this.plan
    const observed = observe.map((paths) => ({ paths, key: observationKey(asked(paths)) }))
    const wanted = new Set(observed.map(({ key }) => key))
    for (const key of this.observations.keys) if (!wanted.has(key)) this.observations.forget(key)
    for (const { paths, key } of observed) {
      if (!this.observations.has(key) && !(await this.fetch(paths, 0))) return false
    }
    for (const paths of read) if (!(await this.fetch(paths))) return false
    for (const { path, parameters } of notifying) {
      const query = Object.entries(parameters).map(([name, value]) => `${name}=${value}`)
      if (query.length > 0 && (await this.attempt({ code: PUT, path, query })) === 'silent') return false
    }
    if (!(await this.shared.synchronise())) return false
    this.checkPackages()
    return true
  }

  private readonly synchronised = (isDone: boolean): void => {
    if (!isDone) this.isBehind = true
  }

  /** Firmware before software. */
  private checkPackages(updates = this.updates): void {
    const checking = async (): Promise<void> => {
      for (const each of updates) await each.check().catch((error: unknown) => this.failed(error))
    }
    void checking()
  }

  /** Before anything is read: what nobody knows the type of is not stored. */
  private loadModels(): Promise<void> {
    const { session, offer } = this.registration
    const named = [...this.plan.telemetry.keys(), ...this.plan.attributes.keys()].map(pathIn)
    const objects = [...offer.objects.keys()].map((id) => ({
      ...{ id, version: this.versionOf(id) },
      wanted: named.flatMap(([objectId, , resourceId]) =>
        objectId === id && resourceId !== undefined ? [resourceId] : [],
      ),
    }))
    return this.models.load(session.device, objects)
  }

  /** What is for it comes from now on. */
  private listen(): void {
    if (this.isListening) return
    this.isListening = true
    const { session } = this.registration
    if (this.isAwake) session.subscribeToCalls('all')
    session.subscribeToSharedAttributes()
  }

  /** False where the client does not answer. Several that it does not tell together are fetched one by one. */
  private async fetch(paths: readonly Path[], observe?: 0): Promise<boolean> {
    const [path = []] = paths
    const isOne = paths.length === 1
    const operation = isOne ? reading(this.context, path) : await compositeReading(this.context, paths)
    const answer = await this.attempt({ ...operation, ...(observe === undefined ? {} : { observe }) })
    if (answer === 'silent') return false
    const isTold = answer !== 'refused' && answer.code === '2.05'
    if (isTold && answer.isOvertaken !== true) await this.keep(answer, operation.path)
    if (isTold || isOne) return true
    for (const each of paths) if (!(await this.fetch([each], observe))) return false
    return true
  }

  attempt(operation: Operation): Promise<ObservedAnswer | Failed> {
    return this.attempted(() => this.ask(operation))
  }

  /** What changes while it is told is asked for once more, or one that always changes would have the plan begin anew without end. */
  private async attempted<Answer>(ask: () => Promise<Answer>, isAgain = false): Promise<Answer | Failed> {
    try {
      return await ask()
    } catch (error) {
      this.failed(error)
      if (isOfTwoAnswers(error)) return isAgain ? 'refused' : this.attempted(ask, true)
      return isMillraceError(error) && error.kind === 'invalid' ? 'refused' : 'silent'
    }
  }

  /** False where the client does not answer. */
  private async renew(observation: DoubtfulObservation): Promise<boolean> {
    const answer = await this.attempted(() => this.line.run(() => this.observations.renew(observation)))
    if (answer === 'silent') return false
    if (answer === 'refused') this.observations.forget(observation.key)
    if (answer === 'refused' || answer === undefined) return true
    this.heard()
    if (answer.code === '2.05' && answer.isOvertaken !== true) await this.keep(answer, observation.path)
    return true
  }

  private async keepWhole(first: CoapAnswer, path: Path, request: OutgoingRequest): Promise<Kept> {
    this.heard()
    try {
      return await this.keep(await this.parts.requests.whole(this.peer, request, first), path)
    } catch (error) {
      this.failed(error)
      // What it told is no more: it tells the change as well, once this is acknowledged (RFC 7641, 4.5.2).
      return isOfTwoAnswers(error) ? 'stored' : 'undone'
    }
  }

  /** What is wrong stays wrong however often it comes: only what the platform could not take is to come again. */
  private async keep(answer: CoapAnswer, path: Path): Promise<Kept> {
    try {
      if (!this.parts.isWritable()) return 'undone'
      await this.store(await this.recordsOf(answer, path))
      return 'stored'
    } catch (error) {
      this.failed(error)
      return isMillraceError(error) && error.kind === 'invalid' ? 'stored' : 'undone'
    }
  }
}

function isOfTwoAnswers(error: unknown): boolean {
  return isMillraceError(error) && error.code === 'coap.CHANGED_MEANWHILE'
}

function configuredIn({ session: { device } }: Registration): Configured {
  return { lwm2m: device.lwm2m, ownLwm2m: device.ownLwm2m }
}

function asked(paths: readonly Path[]): Pick<Operation, 'path' | 'paths'> {
  const [path = []] = paths
  return paths.length === 1 ? { path } : { path: [], paths }
}

function pathIn(text: string): Path {
  return text.split('/').slice(1).map(Number)
}
