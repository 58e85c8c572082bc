/**
 * Who observes shared attributes or calls (RFC 7641; `device-api.md` 12): one observer of each a device. The first opens the device's
 * session, the last one's end closes it.
 */
import type {
  CallRequest,
  DeviceGateway,
  DeviceIdentity,
  DeviceSession,
  DeviceSessionListener,
  SessionEnd,
  SharedAttributesUpdate,
} from '../../engine/device/gateway.ts'
import type { Clock } from '../../model/clock.ts'
import { sharedAttributesJson } from '../payload/attribute-answer.ts'
import { encodeCall, isProtobufDown, unfitCallAnswer } from '../payload/device-payloads.ts'
import { encodeAttributesUpdate } from '../payload/protobuf/platform-messages.ts'
import type { TenantShares } from '../tenant-shares.ts'
import { jsonResponse, protobufResponse } from '../coap-messages/answers.ts'
import { MessageErrors } from '../coap-messages/errors.ts'
import type { CoapRequest, CoapResponse, Peer } from '../coap-messages/message.ts'
import type { Outcome } from '../coap-messages/transmissions.ts'

export type Observed = 'attributes' | 'calls'

/** What goes to observers. */
export interface Notifier {
  notify(observer: Observer, response: CoapResponse, tenantId: string, settled: (outcome: Outcome) => void): boolean
}

export interface Observer {
  readonly peer: Peer
  readonly token: Buffer
  readonly isConfirmable: boolean
  /** Of what it fetches the rest of a large notification by. */
  readonly resource: string
}

class Observation {
  readonly observer: Observer
  private sequence = 0

  constructor(observer: Observer) {
    this.observer = observer
  }

  isOf({ peer, token }: CoapRequest): boolean {
    return this.observer.peer.key === peer.key && this.observer.token.equals(token)
  }

  /** 24 bits (RFC 7641, 4.4). */
  next(): number {
    this.sequence = (this.sequence + 1) & 0xff_ffff
    return this.sequence
  }
}

export interface ObservationsOptions {
  readonly gateway: DeviceGateway
  readonly notifier: Notifier
  readonly shares: TenantShares
  readonly clock: Clock
}

const ENDED: CoapResponse = { code: '2.02' }

/** What an observer is told at the end; it asks again where it may. */
const FAREWELLS: Readonly<Record<SessionEnd, CoapResponse>> = {
  DEVICE_DELETED: { code: '4.04' },
  CREDENTIALS_CHANGED: { code: '4.01' },
  TAKEN_OVER: ENDED,
  IDLE: ENDED,
  SHUTDOWN: { code: '5.03' },
  FAILED: { code: '5.03' },
}

export class Observations {
  private readonly options: ObservationsOptions
  private readonly devices = new Map<string, ObservedDevice>()

  constructor(options: ObservationsOptions) {
    this.options = options
  }

  get count(): number {
    return this.devices.size
  }

  /** The number of the answer to it. Throws BUSY. */
  begin(what: Observed, device: DeviceIdentity, request: CoapRequest, resource: string): number {
    const known = this.devices.get(device.deviceId) ?? this.open(device)
    return known.begin(what, request, resource)
  }

  /** Undefined where this one did not observe it. */
  end(what: Observed, device: DeviceIdentity, request: CoapRequest): void {
    this.devices.get(device.deviceId)?.end(what, request)
  }

  close(): void {
    for (const device of [...this.devices.values()]) device.closed('SHUTDOWN')
  }

  private open(device: DeviceIdentity): ObservedDevice {
    const { gateway, notifier, shares, clock } = this.options
    if (!shares.take(device.tenantId)) throw MessageErrors.BUSY()
    const gone = (): void => {
      this.devices.delete(device.deviceId)
      shares.give(device.tenantId)
    }
    const observed = new ObservedDevice(device, notifier, clock, gone)
    try {
      observed.open(gateway)
    } catch (error) {
      shares.give(device.tenantId)
      throw error
    }
    this.devices.set(device.deviceId, observed)
    return observed
  }
}

class ObservedDevice implements DeviceSessionListener {
  private readonly device: DeviceIdentity
  private readonly notifier: Notifier
  private readonly clock: Clock
  private readonly gone: () => void
  private readonly observations: Record<Observed, Observation | undefined> = {
    attributes: undefined,
    calls: undefined,
  }
  private session: DeviceSession | undefined

  constructor(device: DeviceIdentity, notifier: Notifier, clock: Clock, gone: () => void) {
    this.device = device
    this.notifier = notifier
    this.clock = clock
    this.gone = gone
  }

  open(gateway: DeviceGateway): void {
    this.session = gateway.openSession(this.device, 'lasting', this)
  }

  begin(what: Observed, request: CoapRequest, resource: string): number {
    const before = this.observations[what]
    this.session?.touch()
    if (before?.isOf(request) === true) return before.next()
    const { peer, token, isConfirmable } = request
    const observation = new Observation({ peer, token: Buffer.from(token), isConfirmable, resource })
    this.observations[what] = observation
    if (before === undefined) this.subscribe(what)
    else this.farewell(before, 'TAKEN_OVER')
    return observation.next()
  }

  end(what: Observed, request: CoapRequest): void {
    const observation = this.observations[what]
    if (observation?.isOf(request) === true) this.drop(what, observation)
  }

  sharedAttributesChanged(update: SharedAttributesUpdate): void {
    const response = isProtobufDown(this.identity, 'PROFILE', false)
      ? protobufResponse(encodeAttributesUpdate(update, this.clock.now()))
      : jsonResponse(sharedAttributesJson(update), undefined)
    this.notify('attributes', response, () => undefined)
  }

  called(request: CallRequest): void {
    const { id } = request
    const response = this.callResponse(request)
    if (response === undefined) return
    this.notify('calls', response, () => this.session?.callDelivered(id, 'DELIVERED'))
    if (this.observations.calls?.observer.isConfirmable === true) this.session?.callDelivered(id, 'SENT')
  }

  /** As it is now: the profile may have changed since the observation began. */
  private get identity(): DeviceIdentity {
    return this.session?.device ?? this.device
  }

  /** Undefined where the schema does not take it: the caller has been told, and the device is not. */
  private callResponse(request: CallRequest): CoapResponse | undefined {
    const { id, method, params } = request
    if (!isProtobufDown(this.identity, 'PROFILE', false))
      return jsonResponse(`{"id":${id},"method":${JSON.stringify(method)},"params":${params}}`, undefined)
    try {
      return protobufResponse(encodeCall(this.identity, request))
    } catch (error) {
      const told = unfitCallAnswer(error)
      this.session?.callDelivered(id, 'DELIVERED')
      this.session?.answerCall(id, told)
      return undefined
    }
  }

  closed(reason: SessionEnd): void {
    if (this.session === undefined) return
    this.session = undefined
    this.gone()
    const { attributes, calls } = this.observations
    for (const observation of [attributes, calls]) if (observation !== undefined) this.farewell(observation, reason)
  }

  private notify(what: Observed, answer: CoapResponse, delivered: () => void): void {
    const observation = this.observations[what]
    if (observation === undefined) return
    const { observer } = observation
    const response = { ...answer, observe: observation.next() }
    const isQueued = this.notifier.notify(observer, response, this.device.tenantId, (outcome) => {
      if (outcome === 'acknowledged') {
        this.session?.touch()
        delivered()
      } else this.drop(what, observation)
    })
    if (!isQueued) this.drop(what, observation)
    else if (!observer.isConfirmable) delivered()
  }

  /** The client does not want it any more, or can not be reached. */
  private drop(what: Observed, observation: Observation): void {
    if (this.observations[what] !== observation) return
    this.observations[what] = undefined
    const { session } = this
    if (session === undefined) return
    if (what === 'attributes') session.unsubscribeFromSharedAttributes()
    else session.unsubscribeFromCalls()
    if (this.observations.attributes !== undefined || this.observations.calls !== undefined) return
    this.session = undefined
    this.gone()
    session.close()
  }

  private subscribe(what: Observed): void {
    if (what === 'attributes') this.session?.subscribeToSharedAttributes()
    else this.session?.subscribeToCalls('all')
  }

  private farewell(observation: Observation, reason: SessionEnd): void {
    const response = FAREWELLS[reason]
    const isEnd = !response.code.startsWith('2.')
    const told = isEnd ? response : { ...response, observe: observation.next() }
    // A server that stops hears no acknowledgement, for which the next one to the same client would wait (RFC 7252, 4.7).
    const { observer } = observation
    const to = reason === 'SHUTDOWN' ? { ...observer, isConfirmable: false } : observer
    this.notifier.notify(to, told, this.device.tenantId, () => undefined)
  }
}
