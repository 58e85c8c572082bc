/**
 * One registered client, while it is awake and while it sleeps: it is asked for what its profile says (`client-start.ts`), what it says is stored
 * (`client-values.ts`), and it gets what the platform has for it. What it misses while it sleeps is done when it is heard again.
 */
import type { Clock } from '../../model/clock.ts'
import { errorText, isMillraceError } from '../../model/errors.ts'
import type { Log } from '../../model/log.ts'
import type { CallRequest, DeviceGateway, SharedAttributesUpdate } from '../../engine/device/gateway.ts'
import type { CoapAnswer, Peer } from '../coap-messages/message.ts'
import type { CoapRequests, ReadBody } from '../coap-messages/requests.ts'
import type { OperationContext } from './call-params.ts'
import { answerCall } from './calls.ts'
import { ClientExchanges, type Failed } from './client-exchanges.ts'
import { ClientProfile } from './client-profile.ts'
import { ClientStart, type StartedClient } from './client-start.ts'
import { ClientValues } from './client-values.ts'
import type { Path, ValueRecord } from './codecs/records.ts'
import type { ResourceModel } from './core-models.ts'
import type { Lwm2mCounts } from './counts.ts'
import type { Lwm2mLimits } from './limits.ts'
import type { ClientObservations, Kept, ObservedAnswer } from './observations.ts'
import type { Operation } from './operation.ts'
import type { ClientPlan } from './profile.ts'
import type { ReachedClient } from './reached-client.ts'
import type { RegisteredClient, Registration } from './registrations.ts'
import { Renewal } from './renewal.ts'
import type { RenewalTurns } from './renewal-turns.ts'
import { SharedResources } from './shared-resources.ts'
import { FIRMWARE, SOFTWARE } from './updates/kinds.ts'
import type { OfferedPackages } from './updates/offered-packages.ts'
import { PackageUpdate } from './updates/package-update.ts'

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

export class Lwm2mClient implements RegisteredClient, ReachedClient, StartedClient {
  readonly registration: Registration
  private readonly parts: ClientParts
  private readonly wanted: ClientProfile
  private readonly exchanges: ClientExchanges
  private readonly values: ClientValues
  private readonly start: ClientStart
  private readonly renewal: Renewal
  private readonly shared: SharedResources
  /** Of firmware and software. */
  private readonly updates: readonly PackageUpdate[]
  isAwake = true
  /** Resolves once the types of its resources are known. */
  prepared: Promise<void> = Promise.resolve()
  private isListening = false
  /** Shared attributes may have changed without it. */
  private isBehind = false

  /** Throws PROFILE. */
  constructor(parts: ClientParts, registration: Registration) {
    const { requests, limits, clock, gateway, counts, isWritable } = parts
    const failed = (error: unknown): void => this.failed(error)
    this.parts = parts
    this.registration = registration
    this.wanted = new ClientProfile(registration)
    this.values = new ClientValues({
      ...{ registration, wanted: this.wanted, gateway, clock, counts, isWritable, failed },
      said: (records) => this.shared.heard(records),
      stored: (records) => {
        for (const each of this.updates) each.heard(records)
      },
    })
    this.exchanges = new ClientExchanges({
      ...{ registration, requests, limits, failed, monotonic: () => clock.monotonic() },
      heard: () => this.heard(),
      keep: (answer, path) => this.keep(answer, path),
    })
    this.renewal = new Renewal({
      ...{ observations: this.observations, turns: parts.renewalTurns, clock, peer: registration.address },
      ...{ intervalMs: limits.renewalIntervalMs, tenantId: registration.session.device.tenantId },
      isReachable: () => this.isAwake && !this.isEnded,
      renew: (observation) => this.exchanges.renew(observation),
    })
    this.start = new ClientStart(this)
    this.shared = new SharedResources(this)
    this.updates = [FIRMWARE, SOFTWARE].map((kind) => new PackageUpdate(this, kind, parts))
  }

  get context(): OperationContext {
    return { client: this.registration, profile: this.wanted.profile, findResource: this.values.models.find }
  }

  get plan(): ClientPlan {
    return this.wanted.plan
  }

  get observations(): ClientObservations {
    return this.exchanges.observations
  }

  get isEnded(): boolean {
    return this.exchanges.isEnded
  }

  /** Ms after it was heard; undefined: always. */
  get listensMs(): number | undefined {
    return this.wanted.profile.listensMs ?? (this.registration.isQueueMode ? this.parts.limits.awakeMs : undefined)
  }

  /** Once the client knows that it is registered. */
  begin(): void {
    this.heard()
    this.start.soon()
  }

  updated(hasNewOffer: boolean): void {
    if (hasNewOffer || this.wanted.isOutdated()) this.replan()
    this.heardBy(this.registration.address)
  }

  /** One that sleeps hears of it when it is awake. */
  refreshed(): void {
    if (this.isEnded || !this.wanted.isOutdated()) return
    this.replan()
    if (this.isAwake || this.listensMs === undefined) this.heard()
  }

  /** As `heard`, by a request of its own. */
  heardBy(peer: Peer): void {
    if (this.renewal.heardBy(peer)) this.start.moved()
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
    if (this.isBehind && this.start.isIdle) {
      this.isBehind = false
      void this.shared.synchronise().then(this.synchronised)
      this.checkPackages()
    }
    this.start.heard()
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
    this.exchanges.end()
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

  ask(operation: Operation): Promise<ObservedAnswer> {
    return this.exchanges.ask(operation)
  }

  push(path: Path, read: ReadBody): Promise<CoapAnswer> {
    return this.exchanges.push(path, read)
  }

  attempt(operation: Operation): Promise<ObservedAnswer | Failed> {
    return this.exchanges.attempt(operation)
  }

  endObservation(key: string): Promise<CoapAnswer | undefined> {
    return this.exchanges.endObservation(key)
  }

  modelAt(path: Path): ResourceModel | undefined {
    return this.values.modelAt(path)
  }

  recordsOf(answer: CoapAnswer, path: Path): Promise<readonly ValueRecord[]> {
    return this.values.recordsOf(answer, path)
  }

  store(records: readonly ValueRecord[]): Promise<void> {
    return this.values.store(records)
  }

  keep(answer: CoapAnswer, path: Path): Promise<Kept> {
    return this.values.keep(answer, path)
  }

  prepare(): Promise<void> {
    this.prepared = this.values.loadModels()
    return this.prepared
  }

  listen(): void {
    if (this.isListening) return
    this.isListening = true
    const { session } = this.registration
    if (this.isAwake) session.subscribeToCalls('all')
    session.subscribeToSharedAttributes()
  }

  async catchUp(): Promise<boolean> {
    if (!(await this.shared.synchronise())) return false
    this.checkPackages()
    return true
  }

  failed(error: unknown): void {
    const { counts, log } = this.parts
    if (!isMillraceError(error)) log.error('LwM2M: unexpected error', { error: errorText(error) })
    else if (error.kind === 'invalid') counts.undecodable++
    else if (error.kind === 'retryable') counts.refused++
  }

  private replan(): void {
    try {
      this.wanted.renew()
    } catch (error) {
      return this.failed(error)
    }
    this.start.soon()
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
}
