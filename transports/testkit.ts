/** For the tests of transports: a platform whose answers the test decides, and a clock that stands until it is moved. */
import { X509Certificate } from 'node:crypto'
import type { Clock, TimerHandle } from '../model/clock.ts'
import type { Log } from '../model/log.ts'
import type { MillraceError } from '../model/errors.ts'
import type { JsonObject } from '../model/json.ts'
import type { Entry } from '../model/value.ts'
import type { Delivery, Listening } from '../engine/device/calls/call.ts'
import type {
  AttributeAnswer,
  AttributeRequest,
  ClaimOffer,
  DeviceGateway,
  DeviceIdentity,
  DeviceRates,
  DeviceSession,
  DeviceSessionListener,
  KeptSessionStore,
  NamedChild,
  ObjectTypes,
  PackagePart,
  PreSharedKey,
  PackageRequest,
  PresentedCredentials,
  ProvisionAnswer,
  ProvisionRequest,
  PublishReceipt,
  ServerCall,
  SessionKind,
  UploadGroup,
  UploadedScope,
} from '../engine/device/gateway.ts'

/** A name that begins with `foreign` is of another tenant. */
export function deviceNamed(name: string): DeviceIdentity {
  return {
    deviceId: `00000000-0000-4000-8000-${name.padStart(12, '0').slice(-12)}`,
    tenantId: `00000000-0000-4000-8000-0000000000${name.startsWith('foreign') ? 'ff' : 'aa'}`,
    customerId: null,
    deviceName: name,
    deviceType: 'default',
    deviceProfileId: '00000000-0000-4000-8000-0000000000bb',
    ruleChainId: null,
    ...(name.startsWith('gateway') ? { isGateway: true } : {}),
  }
}

/** Tokens are device names; the name of a device that has no user name is its client id; of a certificate it is the common name. */
function nameOf(credentials: PresentedCredentials): string {
  if (credentials.type === 'ACCESS_TOKEN') return credentials.token
  if (credentials.type === 'X509_CERTIFICATE')
    return /^CN=(.*)$/m.exec(new X509Certificate(credentials.certificate).subject)?.[1] ?? ''
  if (credentials.type === 'LWM2M_ENDPOINT') return credentials.endpoint
  return credentials.userName === '' ? credentials.clientId : credentials.userName
}

export interface Upload {
  readonly device: string
  readonly kind: 'telemetry' | 'attributes' | 'shared attributes'
  readonly groups: readonly UploadGroup[]
  readonly receipt: PublishReceipt
}

/** Stores at once unless `holding`; then receipts wait in `uploads` for the test. Tokens are device names. */
export class FakeGateway implements DeviceGateway {
  /** What the rule engine answers to a device that calls it. */
  reply = '{}'
  private room = true
  private readonly fullListeners = new Set<() => void>()
  holding = false
  refusal: MillraceError | undefined
  /** True: `lookUp` knows nothing and `authenticate` must be asked. */
  cold = false
  storeFails = false
  answer: AttributeAnswer = { client: [], shared: [] }
  /** Of the profile of those who register as clients of LwM2M. */
  transportType = 'LWM2M'
  ownLwm2m: JsonObject | undefined
  lwm2m: JsonObject = { observeAttr: { keyName: { '/3/0/9': 'a' }, telemetry: ['/3/0/9'] } }
  readonly uploads: Upload[] = []
  readonly sessions = new Set<FakeSession>()
  touches = 0
  /** What each of those who asked for credentials asked, and from where. */
  readonly provisions: [ProvisionRequest, string][] = []
  provisioned: ProvisionAnswer | Error = { status: 'NOT_FOUND' }
  readonly downloads: [device: string, request: PackageRequest][] = []
  package: PackagePart = {
    packageId: 'package',
    title: 'fw',
    version: '1',
    fileName: 'fw.bin',
    contentType: 'text/plain',
    wholeBytes: 4,
    bytes: Buffer.from('0123'),
    release: () => undefined,
  }
  private readonly devices: Map<string, DeviceIdentity>
  private readonly writableListeners = new Set<() => void>()
  private readonly uploadListeners = new Set<() => void>()

  constructor(names: readonly string[]) {
    this.devices = new Map(names.map((name) => [name, deviceNamed(name)]))
  }

  get writable(): boolean {
    if (!this.room) for (const listener of this.fullListeners) listener()
    return this.room
  }

  /** Resolves once a transport has asked and heard that there is no room. */
  becomeFull(): Promise<void> {
    this.room = false
    return new Promise((resolve) => {
      const asked = () => {
        this.fullListeners.delete(asked)
        resolve()
      }
      this.fullListeners.add(asked)
    })
  }

  lookUp(credentials: PresentedCredentials): DeviceIdentity | undefined {
    return this.cold ? undefined : this.identityOf(credentials)
  }

  authenticate(credentials: PresentedCredentials): Promise<DeviceIdentity | undefined> {
    if (this.storeFails) return Promise.reject(new Error('the store does not answer'))
    return Promise.resolve(this.identityOf(credentials))
  }

  /** By identity. */
  readonly preSharedKeys = new Map<string, PreSharedKey>()

  findPreSharedKey(identity: string): Promise<PreSharedKey | undefined> {
    return Promise.resolve(this.preSharedKeys.get(identity))
  }

  /** Of every device. */
  bootstrapCredentials: JsonObject | undefined

  findBootstrapCredentials(): Promise<JsonObject | undefined> {
    return Promise.resolve(this.bootstrapCredentials)
  }

  /** From now on this is who has the name. */
  become(name: string, device: DeviceIdentity): void {
    this.devices.set(name, device)
  }

  private identityOf(credentials: PresentedCredentials): DeviceIdentity | undefined {
    const device = this.devices.get(nameOf(credentials))
    if (device === undefined || credentials.type !== 'LWM2M_ENDPOINT') return device
    const own = this.ownLwm2m === undefined ? {} : { ownLwm2m: this.ownLwm2m }
    return { ...device, transportType: this.transportType, lwm2m: this.lwm2m, ...own }
  }

  ratesOf(): DeviceRates {
    const none = { messages: null, telemetryMessages: null, telemetryDataPoints: null }
    return { own: none, children: none }
  }

  openSession(device: DeviceIdentity, kind: SessionKind, listener: DeviceSessionListener): FakeSession {
    const session = new FakeSession(this, device, kind, listener)
    this.sessions.add(session)
    return session
  }

  provision(request: ProvisionRequest, clientAddress: string): Promise<ProvisionAnswer> {
    this.provisions.push([request, clientAddress])
    const answer = this.provisioned
    return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer)
  }

  /** Each as the gateway names it; a tenant's own by the gateway's tenant. */
  readonly children: NamedChild[] = []
  childRefusal: MillraceError | undefined
  private readonly connections: (() => void)[] = []
  holdsConnections = false

  async connectChild(gateway: DeviceIdentity, child: NamedChild): Promise<DeviceIdentity> {
    this.children.push(child)
    if (this.holdsConnections) await new Promise<void>((resolve) => this.connections.push(resolve))
    if (this.childRefusal !== undefined) throw this.childRefusal
    return { ...deviceNamed(child.name), tenantId: gateway.tenantId }
  }

  /** The oldest of those that are held goes on. */
  connectNext(): void {
    this.connections.shift()?.()
  }

  /** Of all processes that share it; undefined where nothing outlives this one. */
  keptSessions: KeptSessionStore | undefined

  /** The sessions of a device by name. */
  sessionsOf(name: string): FakeSession[] {
    return [...this.sessions].filter(({ device }) => device.deviceName === name)
  }

  downloadPackage(device: DeviceIdentity, request: PackageRequest): Promise<PackagePart> {
    this.downloads.push([device.deviceName, request])
    if (this.refusal !== undefined) return Promise.reject(this.refusal)
    return Promise.resolve(this.package)
  }

  /** Of models that were uploaded. */
  objectTypes: ReadonlyMap<string, ObjectTypes> = new Map()

  findObjectTypes(_device: DeviceIdentity, keys: readonly string[]): Promise<ReadonlyMap<string, ObjectTypes>> {
    return Promise.resolve(new Map([...this.objectTypes].filter(([key]) => keys.includes(key))))
  }

  hasRoomFor(): boolean {
    return this.writable
  }

  onWritable(listener: () => void): () => void {
    this.writableListeners.add(listener)
    return () => this.writableListeners.delete(listener)
  }

  becomeWritable(): void {
    this.room = true
    for (const listener of this.writableListeners) listener()
  }

  receive(upload: Upload): void {
    this.uploads.push(upload)
    for (const listener of this.uploadListeners) listener()
    if (this.refusal !== undefined) upload.receipt.refused(this.refusal)
    else if (!this.holding) upload.receipt.stored()
  }

  /** Resolves once so many uploads have come. */
  async uploaded(count: number): Promise<void> {
    while (this.uploads.length < count) {
      await new Promise<void>((resolve) => {
        const heard = () => {
          this.uploadListeners.delete(heard)
          resolve()
        }
        this.uploadListeners.add(heard)
      })
    }
  }
}

export class FakeSession implements DeviceSession {
  device: DeviceIdentity
  readonly kind: SessionKind
  readonly listener: DeviceSessionListener
  subscribed = false
  /** From when on it is to be told what changed. */
  since: number | undefined
  requests: AttributeRequest[] = []
  listening: Listening | undefined
  readonly deliveries: [number, Delivery][] = []
  readonly callAnswers: [number, string][] = []
  readonly serverCalls: ServerCall[] = []
  readonly offers: ClaimOffer[] = []
  private readonly gateway: FakeGateway

  constructor(gateway: FakeGateway, device: DeviceIdentity, kind: SessionKind, listener: DeviceSessionListener) {
    this.gateway = gateway
    this.device = device
    this.kind = kind
    this.listener = listener
  }

  postTelemetry(groups: readonly UploadGroup[], receipt: PublishReceipt): void {
    this.gateway.receive({ device: this.device.deviceName, kind: 'telemetry', groups, receipt })
  }

  postAttributes(entries: readonly Entry[], receipt: PublishReceipt, scope?: UploadedScope): void {
    const groups = [{ ts: undefined, entries }]
    const kind = scope === undefined ? 'attributes' : 'shared attributes'
    this.gateway.receive({ device: this.device.deviceName, kind, groups, receipt })
  }

  requestAttributes(request: AttributeRequest): Promise<AttributeAnswer> {
    this.requests.push(request)
    return this.gateway.storeFails
      ? Promise.reject(new Error('the store does not answer'))
      : Promise.resolve(this.gateway.answer)
  }

  subscribeToSharedAttributes(since?: number): void {
    this.subscribed = true
    this.since = since
  }

  unsubscribeFromSharedAttributes(): void {
    this.subscribed = false
  }

  subscribeToCalls(take: Listening): void {
    this.listening = take
  }

  unsubscribeFromCalls(): void {
    this.listening = undefined
  }

  callDelivered(id: number, delivery: Delivery): void {
    this.deliveries.push([id, delivery])
  }

  answerCall(id: number, body: string): void {
    this.callAnswers.push([id, body])
  }

  callServer(call: ServerCall, receipt: PublishReceipt): Promise<string> {
    this.serverCalls.push(call)
    receipt.stored()
    return Promise.resolve(this.gateway.reply)
  }

  offerForClaim(offer: ClaimOffer, receipt: PublishReceipt): void {
    this.offers.push(offer)
    if (this.gateway.refusal !== undefined) receipt.refused(this.gateway.refusal)
    else receipt.stored()
  }

  touch(): void {
    this.gateway.touches++
  }

  close(): void {
    this.gateway.sessions.delete(this)
  }
}

/** Time stands until `advance`. */
export class StandingClock implements Clock {
  private time = 1_700_000_000_000
  private timers: { readonly at: number; readonly run: () => void }[] = []

  now(): number {
    return this.time
  }

  monotonic(): number {
    return this.time
  }

  after(delayMs: number, run: () => void): TimerHandle {
    const timer = { at: this.time + delayMs, run }
    this.timers.push(timer)
    return { cancel: () => (this.timers = this.timers.filter((other) => other !== timer)) }
  }

  soon(run: () => void): void {
    setImmediate(run)
  }

  /** Runs what falls due, in order, each at its own time. */
  advance(milliseconds: number): void {
    const end = this.time + milliseconds
    for (;;) {
      const next = this.timers.filter((timer) => timer.at <= end).sort((a, b) => a.at - b.at)[0]
      if (next === undefined) break
      this.timers = this.timers.filter((timer) => timer !== next)
      this.time = next.at
      next.run()
    }
    this.time = end
  }
}

/** Every line of any level ends up in `lines`. */
export function recordingLog(lines: string[]): Log {
  const record = (text: string, fields?: Readonly<Record<string, unknown>>) => {
    lines.push(`${text} ${JSON.stringify(fields ?? {})}`)
  }
  return { debug: record, info: record, warn: record, error: record }
}
