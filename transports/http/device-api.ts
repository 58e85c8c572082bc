/**
 * The HTTP device API: the token in the path is the only authentication. Source: `device-api.md` 6; undecodable bodies are 400
 * here, where the reference answers 500. What is sent as Protobuf of a device whose profile has schemas is read by them; all else is JSON.
 */
import type { Clock } from '../../model/clock.ts'
import type { Log } from '../../model/log.ts'
import { errorText, isMillraceError, type MillraceError } from '../../model/errors.ts'
import type {
  DeviceGateway,
  DeviceIdentity,
  DeviceSession,
  DeviceSessionListener,
  PackageRequest,
  PresentedCredentials,
  PublishReceipt,
} from '../../engine/device/gateway.ts'
import { PREFLIGHT_REQUEST_HEADERS, sendPreflight, withCors } from '../../server/cors.ts'
import type { HttpHandler, HttpReply, HttpRequest, HttpServer, RouteOptions } from '../../server/http-server.ts'
import { attributeAnswerJson } from '../payload/attribute-answer.ts'
import { decodeOwn, decodeOwnTelemetry, decodeReply } from '../payload/device-payloads.ts'
import { JsonPayloadDecoder, attributeRequestOf, splitKeys } from '../payload/json.ts'
import { claimOfferOf, provisionAnswerJson, provisionRequestOf } from '../payload/onboarding.ts'
import { DEFAULT_PAYLOAD_LIMITS, type PayloadLimits } from '../payload/limits.ts'
import { TenantShares } from '../tenant-shares.ts'
import { DeviceApiAnswers } from './answers.ts'
import { DEFAULT_HTTP_DEVICE_LIMITS, type HttpDeviceLimits } from './limits.ts'
import { LongPolls, type PolledFor } from './long-poll.ts'

export interface HttpDeviceApiOptions {
  readonly server: HttpServer
  readonly gateway: DeviceGateway
  readonly limits?: Partial<HttpDeviceLimits>
  readonly payload?: PayloadLimits
  readonly clock: Clock
  readonly log: Log
}

/** Figures since the start; each but `waitingPolls` only grows. */
export interface HttpDeviceFigures {
  readonly received: number
  readonly acknowledged: number
  readonly refused: number
  readonly undecodable: number
  readonly unauthenticated: number
  readonly waitingPolls: number
}

export interface HttpDeviceApiHandle {
  figures(): HttpDeviceFigures
  /** Ends what waits; uploads go on until the server closes. Idempotent. */
  close(): void
}

/** Declares the routes; before the server listens. */
export function registerHttpDeviceApi(options: HttpDeviceApiOptions): HttpDeviceApiHandle {
  const api = new HttpDeviceApi(options)
  api.declare(options.server)
  return api
}

const PROVISION_PATH = '/api/v1/provision'
/** With a certificate and its chain. */
const MAX_PROVISION_BYTES = 65_536
const TEXT_TYPE = 'text/plain;charset=UTF-8'
const POLL_TIMEOUT = /^\d{1,15}$/
/** The token is in the path: a device's headers say nothing, a browser's page says where it comes from. */
const ORIGIN: readonly string[] = ['origin']
const WITH_TYPE: readonly string[] = [...ORIGIN, 'content-type']
const PROTOBUF = /^application\/(?:x-|vnd\.google\.)?protobuf\b/i

/** One-shot sessions hear nothing: only polls wait for what the platform has to say. */
const DEAF: DeviceSessionListener = { sharedAttributesChanged: () => undefined, closed: () => undefined }

/** Who calls the server is told by the answer. */
const UNHEARD: PublishReceipt = { stored: () => undefined, refused: () => undefined }
const INT32_MAX = 2 ** 31 - 1

type ForDevice = (device: DeviceIdentity, request: HttpRequest, reply: HttpReply) => void

class HttpDeviceApi {
  private readonly gateway: DeviceGateway
  private readonly limits: HttpDeviceLimits
  private readonly decoder: JsonPayloadDecoder
  private readonly answers: DeviceApiAnswers
  private readonly polls: LongPolls
  private readonly log: Log
  /** One session a known identity: an upload makes none. */
  private readonly sessions = new WeakMap<DeviceIdentity, DeviceSession>()
  private readonly counts = { received: 0, acknowledged: 0, refused: 0, undecodable: 0, unauthenticated: 0 }

  constructor(options: HttpDeviceApiOptions) {
    this.gateway = options.gateway
    this.limits = { ...DEFAULT_HTTP_DEVICE_LIMITS, ...options.limits }
    this.decoder = new JsonPayloadDecoder(options.payload ?? DEFAULT_PAYLOAD_LIMITS)
    this.answers = new DeviceApiAnswers(options.clock)
    const { maxWaitingPolls, maxWaitingPollsPerTenant } = this.limits
    const shares = new TenantShares(maxWaitingPolls, maxWaitingPollsPerTenant)
    this.polls = new LongPolls(options.gateway, options.clock, this.answers, shares)
    this.log = options.log
  }

  figures(): HttpDeviceFigures {
    return { ...this.counts, waitingPolls: this.polls.waiting }
  }

  close(): void {
    this.polls.close()
  }

  declare(server: HttpServer): void {
    const options: RouteOptions = { maxBodyBytes: this.limits.maxBodyBytes, headers: ORIGIN, admit: this.admit }
    const base = '/api/v1/:token'
    const calls = { ...options, maxBodyBytes: Math.min(this.limits.maxBodyBytes, this.limits.maxCallBytes) }
    const route = (method: 'GET' | 'POST' | 'ANY', path: string, handler: HttpHandler, bounds = options): void =>
      server.route(method, `${base}${path}`, (request, reply) => handler(request, withCors(request, reply)), bounds)
    const uploads = { ...options, headers: WITH_TYPE }
    route('POST', '/telemetry', this.forDevice(this.postTelemetry), uploads)
    route('POST', '/attributes', this.forDevice(this.postAttributes), uploads)
    route('GET', '/attributes', this.forDevice(this.getAttributes))
    route('GET', '/attributes/updates', this.forDevice(this.getUpdates))
    route('GET', '/rpc', this.forDevice(this.getCall))
    route('POST', '/rpc', this.forDevice(this.callServer), calls)
    route('POST', '/rpc/:requestId', this.forDevice(this.answerCall), { ...calls, headers: WITH_TYPE })
    route('POST', '/claim', this.forDevice(this.offerForClaim))
    route('ANY', '/claim', this.wrongMethod('POST'))
    route('GET', '/firmware', this.forDevice(this.getPackage('FIRMWARE')))
    route('GET', '/software', this.forDevice(this.getPackage('SOFTWARE')))
    route('ANY', '/firmware', this.wrongMethod('GET'))
    route('ANY', '/software', this.wrongMethod('GET'))
    route('ANY', '/rpc', this.wrongMethod('GET, POST'))
    route('ANY', '/rpc/:requestId', this.wrongMethod('POST'))
    route('ANY', '/telemetry', this.wrongMethod('POST'))
    route('ANY', '/attributes', this.wrongMethod('GET, POST'))
    route('ANY', '/attributes/updates', this.wrongMethod('GET'))
    const unknown: ForDevice = (_device, request, reply) => this.answers.notFound(reply, request.path)
    route('ANY', '/*', this.forDevice(unknown))
    route('ANY', '', (request, reply) => this.answers.notFound(reply, request.path))
    const provision: HttpHandler = (request, reply) => this.provision(request, withCors(request, reply))
    server.route('POST', PROVISION_PATH, provision, {
      maxBodyBytes: MAX_PROVISION_BYTES,
      headers: ORIGIN,
      clientAddress: true,
    })
    const notPosted = this.wrongMethod('POST')
    server.route('ANY', PROVISION_PATH, (request, reply) => notPosted(request, withCors(request, reply)), {
      headers: ORIGIN,
    })
    server.route('OPTIONS', PROVISION_PATH, sendPreflight, { headers: PREFLIGHT_REQUEST_HEADERS })
    server.route('OPTIONS', `${base}/*`, sendPreflight, { headers: PREFLIGHT_REQUEST_HEADERS })
  }

  private readonly postTelemetry: ForDevice = (device, request, reply) => {
    const receipt = this.receipt(device, reply)
    if (receipt === undefined) return
    const groups = isProtobuf(device, request)
      ? decodeOwnTelemetry(this.decoder, device.payloads?.telemetry, request.body)
      : this.decoder.telemetry(request.body)
    this.session(device).postTelemetry(groups, receipt)
  }

  private readonly postAttributes: ForDevice = (device, request, reply) => {
    const receipt = this.receipt(device, reply)
    if (receipt === undefined) return
    const entries = isProtobuf(device, request)
      ? this.decoder.attributesOf(decodeOwn(device.payloads?.attributes, request.body))
      : this.decoder.attributes(request.body)
    this.session(device).postAttributes(entries, receipt)
  }

  private readonly getAttributes: ForDevice = (device, request, reply) => {
    const query = new URLSearchParams(request.query)
    // A parameter that is there twice names all of its keys.
    const [client, shared] = ['clientKeys', 'sharedKeys'].map((name) => splitKeys(query.getAll(name).join(',')))
    const asked = attributeRequestOf(client, shared)
    this.session(device)
      .requestAttributes(asked)
      .then(
        (answer) => this.answers.json(reply, attributeAnswerJson(answer)),
        (error: unknown) => this.failed(reply, error),
      )
  }

  private readonly getUpdates: ForDevice = (device, request, reply) => this.poll('attributes', device, request, reply)

  private readonly getCall: ForDevice = (device, request, reply) => this.poll('calls', device, request, reply)

  private readonly answerCall: ForDevice = (device, request, reply) => {
    const text = request.parameters[1] ?? ''
    const id = Number(text)
    if (!/^-?\d{1,10}$/.test(text) || id > INT32_MAX || id < -INT32_MAX - 1)
      return this.answers.badParameter(reply, `Parameter 'requestId' is not a number: ${text}`)
    const answer = isProtobuf(device, request) ? decodeReply(device, request.body) : request.body.toString('utf8')
    this.session(device).answerCall(id, answer)
    reply.send(200, undefined, '')
  }

  /** Answered with success whether the offer counts or not: the device learns nothing of its customer. */
  private readonly offerForClaim: ForDevice = (device, request, reply) => {
    const receipt = this.receipt(device, reply)
    if (receipt !== undefined) this.session(device).offerForClaim(claimOfferOf(request.body), receipt)
  }

  /** The answer of the rule chain is the client's; a call that is not stored is refused. */
  private readonly callServer: ForDevice = (device, request, reply) => {
    const { data, hasParams } = this.decoder.serverCall(request.body)
    if (!hasParams) return this.answers.badParameter(reply, "A call needs 'method' and 'params'")
    this.session(device)
      .callServer({ requestId: 0, data }, UNHEARD)
      .then(
        (answer) => this.answers.json(reply, answer),
        (error: unknown) => this.failed(reply, error),
      )
  }

  private provision(request: HttpRequest, reply: HttpReply): void {
    try {
      this.gateway.provision(provisionRequestOf(request.body), request.clientAddress).then(
        (answer) => reply.send(200, TEXT_TYPE, provisionAnswerJson(answer)),
        (error: unknown) => this.failed(reply, error),
      )
    } catch (error) {
      this.failed(reply, error)
    }
  }

  private poll(what: PolledFor, device: DeviceIdentity, request: HttpRequest, reply: HttpReply): void {
    const text = new URLSearchParams(request.query).get('timeout') || '0'
    if (!POLL_TIMEOUT.test(text))
      return this.answers.badParameter(reply, `Parameter 'timeout' is not a number: ${text}`)
    const asked = Number(text) === 0 ? this.limits.pollTimeoutMs : Number(text)
    this.polls.open(what, device, reply, Math.min(asked, this.limits.maxPollTimeoutMs))
  }

  private getPackage(kind: PackageRequest['kind']): ForDevice {
    return (device, request, reply) => {
      const asked = packageRequestOf(kind, new URLSearchParams(request.query))
      if (typeof asked === 'string') return this.answers.badParameter(reply, asked)
      this.gateway.downloadPackage(device, asked).then(
        (part) => this.answers.file(reply, part),
        (error: unknown) => this.failed(reply, error),
      )
    }
  }

  private readonly admit = async (request: HttpRequest, plainReply: HttpReply): Promise<boolean> => {
    const reply = withCors(request, plainReply)
    const credentials = credentialsOf(request)
    try {
      if ((this.gateway.lookUp(credentials) ?? (await this.gateway.authenticate(credentials))) !== undefined)
        return true
      this.unauthenticated(reply)
    } catch (error) {
      this.failed(reply, error)
    }
    return false
  }

  private wrongMethod(allowed: string): (request: HttpRequest, reply: HttpReply) => void {
    return (request, reply) => this.answers.wrongMethod(reply, request.method, allowed)
  }

  /** With a token seen lately there is no promise on the way. */
  private forDevice(handler: ForDevice): (request: HttpRequest, reply: HttpReply) => void {
    return (request, reply) => {
      const credentials = credentialsOf(request)
      const known = this.gateway.lookUp(credentials)
      if (known !== undefined) return this.handle(handler, known, request, reply)
      this.gateway.authenticate(credentials).then(
        (device) => {
          if (device !== undefined) return this.handle(handler, device, request, reply)
          this.unauthenticated(reply)
        },
        (error: unknown) => this.failed(reply, error),
      )
    }
  }

  private unauthenticated(reply: HttpReply): void {
    this.counts.unauthenticated++
    this.answers.unauthorized(reply)
  }

  private handle(handler: ForDevice, device: DeviceIdentity, request: HttpRequest, reply: HttpReply): void {
    try {
      handler(device, request, reply)
    } catch (error) {
      this.failed(reply, error)
    }
  }

  private failed(reply: HttpReply, error: unknown): void {
    if (isMillraceError(error)) {
      if (error.kind === 'invalid') this.counts.undecodable++
    } else {
      const stack = error instanceof Error ? error.stack : undefined
      this.log.error('http device api: unexpected error', { error: errorText(error), stack })
    }
    this.answers.error(reply, error)
  }

  private session(device: DeviceIdentity): DeviceSession {
    let session = this.sessions.get(device)
    if (session === undefined) {
      session = this.gateway.openSession(device, 'brief', DEAF)
      this.sessions.set(device, session)
    }
    return session
  }

  /** Undefined where the platform has no room; the client has its answer then. */
  private receipt({ tenantId }: DeviceIdentity, reply: HttpReply): PublishReceipt | undefined {
    this.counts.received++
    if (this.gateway.hasRoomFor(tenantId)) return new UploadReceipt(reply, this.answers, this.counts)
    this.counts.refused++
    this.answers.busy(reply)
    return undefined
  }
}

/** The request, or what is wrong with it. */
function packageRequestOf(kind: PackageRequest['kind'], query: URLSearchParams): PackageRequest | string {
  const [title, version] = [query.get('title'), query.get('version')]
  if (title === null || version === null)
    return `Required request parameter '${title === null ? 'title' : 'version'}' is not present`
  const numbers = { size: query.get('size') || '0', chunk: query.get('chunk') || '0' }
  for (const [name, text] of Object.entries(numbers))
    if (!/^\d{1,10}$/.test(text) || Number(text) > INT32_MAX) return `Parameter '${name}' is not a number: ${text}`
  return { kind, title, version, size: Number(numbers.size), chunk: Number(numbers.chunk) }
}

/** The reference reads JSON whatever is said of it: only whose profile has schemas may say otherwise. */
function isProtobuf({ payloads }: DeviceIdentity, request: HttpRequest): boolean {
  return payloads !== undefined && PROTOBUF.test(request.header('content-type'))
}

function credentialsOf(request: HttpRequest): PresentedCredentials {
  return { type: 'ACCESS_TOKEN', token: request.parameters[0] ?? '' }
}

/** The one place from which an upload is answered with success: its messages are durable. */
class UploadReceipt implements PublishReceipt {
  private readonly reply: HttpReply
  private readonly answers: DeviceApiAnswers
  private readonly counts: { acknowledged: number; refused: number }

  constructor(reply: HttpReply, answers: DeviceApiAnswers, counts: { acknowledged: number; refused: number }) {
    this.reply = reply
    this.answers = answers
    this.counts = counts
  }

  stored(): void {
    this.counts.acknowledged++
    this.reply.send(200, undefined, '')
  }

  refused(error: MillraceError): void {
    this.counts.refused++
    this.answers.error(this.reply, error)
  }
}
