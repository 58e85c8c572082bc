/** The CoAP device API: the token in the path is the authentication, or a certificate that a DTLS handshake has proven. Source: `device-api.md` 12. */
import { errorText, isMillraceError, type MillraceError } from '../../model/errors.ts'
import { isJsonObject } from '../../model/json.ts'
import type { Clock } from '../../model/clock.ts'
import type { Log } from '../../model/log.ts'
import { entriesJson } from '../../model/entry-json.ts'
import {
  mayUse,
  type DeviceGateway,
  type DeviceIdentity,
  type DeviceSession,
  type DeviceSessionListener,
  type PackagePart,
  type PackageRequest,
  type PresentedCredentials,
  type PublishReceipt,
} from '../../engine/device/gateway.ts'
import { attributeAnswerJson } from '../payload/attribute-answer.ts'
import { decodeBy, decodeOwn, decodeOwnTelemetry, decodeReply, isProtobufDown } from '../payload/device-payloads.ts'
import { attributeRequestOf, splitKeys, type JsonPayloadDecoder } from '../payload/json.ts'
import { parseLenientJson } from '../../model/lenient-json.ts'
import { claimOfferOf } from '../payload/onboarding.ts'
import {
  decodeClaim,
  decodeServerCall,
  encodeAttributeAnswer,
  encodeAttributesUpdate,
  encodeServerAnswer,
} from '../payload/protobuf/platform-messages.ts'
import { provisionAnswerBytes, provisioningOf } from '../payload/provision-protobuf.ts'
import { errorResponse, jsonResponse, protobufResponse } from '../coap-messages/answers.ts'
import { blockOf, NO_TENANT, type BlockAnswers, type BlockUploads } from '../coap-messages/blocks.ts'
import type { CoapCounts } from './counts.ts'
import { MessageErrors } from '../coap-messages/errors.ts'
import { CoapErrors } from './errors.ts'
import type { CoapLimits } from './limits.ts'
import { ContentFormat, GET, type CoapRequest, type CoapResponse } from '../coap-messages/message.ts'
import type { Observations, Observed } from './observations.ts'
import { isWithoutToken, placeOf, type Place } from './paths.ts'

export interface CoapDeviceApiOptions {
  readonly gateway: DeviceGateway
  readonly decoder: JsonPayloadDecoder
  readonly observations: Observations
  readonly uploads: BlockUploads
  readonly answers: BlockAnswers
  readonly limits: CoapLimits
  readonly counts: CoapCounts
  readonly clock: Clock
  readonly log: Log
}

type Respond = (response: CoapResponse) => void
type FeaturePlace = Extract<Place, { kind: 'feature' }>

/** One-shot sessions hear nothing: only observers wait for what the platform has to say. */
const DEAF: DeviceSessionListener = { sharedAttributesChanged: () => undefined, closed: () => undefined }
/** Who calls the server is told by the answer. */
const UNHEARD: PublishReceipt = { stored: () => undefined, refused: () => undefined }
/** In a path in the place of a token. */
const CERTIFIED = 'X509'
const CREATED: CoapResponse = { code: '2.01' }
const CONTINUE = '2.31'
const CONTENT = '2.05'
const INT32_MAX = 2 ** 31 - 1
const TIMED_OUT = '{"error":"timeout"}'

/** Under which the blocks of a body, and of an answer, are found again. */
export function resourceOf({ peer, path, query }: CoapRequest): string {
  return JSON.stringify([peer.key, path, [...query]])
}

export class CoapDeviceApi {
  private readonly options: CoapDeviceApiOptions
  /** One session a known identity: an upload makes none. */
  private readonly sessions = new WeakMap<DeviceIdentity, DeviceSession>()

  constructor(options: CoapDeviceApiOptions) {
    this.options = options
  }

  /** Answers once, now or later. */
  readonly handle = (request: CoapRequest, send: Respond): void => {
    const respondIn = (tenantId: string): Respond => {
      return (response) => this.send(request, response, tenantId, send)
    }
    try {
      const { proven } = request.peer
      const certificate = proven?.kind === 'X509' && isWithoutToken(request.path) ? proven.certificate : undefined
      const [root = '', version = '', ...rest] = request.path
      const path = certificate === undefined ? request.path : [root, version, CERTIFIED, ...rest]
      const place = placeOf(request.code, path)
      if (place.kind === 'provision') return this.provision(request, respondIn(NO_TENANT))
      const credentials: PresentedCredentials =
        certificate === undefined
          ? { type: 'ACCESS_TOKEN', token: place.token }
          : { type: 'X509_CERTIFICATE', certificate, authorities: [], clientAddress: request.peer.address }
      this.authenticated(credentials, send, (device) => {
        this.forDevice(place, device, request, respondIn(device.tenantId))
      })
    } catch (error) {
      this.failed(send, error)
    }
  }

  private authenticated(
    credentials: PresentedCredentials,
    respond: Respond,
    then: (device: DeviceIdentity) => void,
  ): void {
    const go = (device: DeviceIdentity | undefined): void => {
      try {
        if (device !== undefined) {
          if (!mayUse('COAP', device)) throw CoapErrors.OTHER_TRANSPORT({ transport: device.transportType })
          return then(device)
        }
        this.options.counts.unauthenticated++
        throw CoapErrors.UNKNOWN_TOKEN()
      } catch (error) {
        this.failed(respond, error)
      }
    }
    const known = this.options.gateway.lookUp(credentials)
    if (known !== undefined) return go(known)
    this.options.gateway.authenticate(credentials).then(go, (error: unknown) => this.failed(respond, error))
  }

  private forDevice(
    place: Exclude<Place, { kind: 'provision' }>,
    device: DeviceIdentity,
    request: CoapRequest,
    respond: Respond,
  ): void {
    const kept = this.keptBlock(device, request)
    if (kept !== undefined) return respond(kept)
    if (place.kind === 'package') return this.getPackage(place.package, device, request, respond)
    if (request.code === GET) return this.read(place, device, request, respond)
    const body = this.bodyOf(device.tenantId, request, respond)
    if (body !== undefined) this.post(place, device, request, body, respond)
  }

  /** A later block of an answer that was made already. */
  private keptBlock({ tenantId }: DeviceIdentity, request: CoapRequest): CoapResponse | undefined {
    if ((request.block2?.number ?? 0) === 0) return undefined
    const kept = this.options.answers.find(resourceOf(request))
    if (kept?.tenantId === tenantId) return kept.response
    // What was done is not done again for a block of its answer.
    if (request.code !== GET) throw MessageErrors.BLOCK_MISSING({ wanted: 0 })
    return undefined
  }

  private post(
    { feature, id }: FeaturePlace,
    device: DeviceIdentity,
    request: CoapRequest,
    body: Buffer,
    respond: Respond,
  ): void {
    const { decoder } = this.options
    const session = this.session(device)
    const decode = <T>(json: () => T, protobuf: () => T): T => decodeBy(device, 'PROFILE', json, protobuf)
    switch (feature) {
      case 'telemetry': {
        const groups = decode(
          () => decoder.telemetry(body),
          () => decodeOwnTelemetry(decoder, device.payloads?.telemetry, body),
        )
        return this.upload(device.tenantId, respond, (receipt) => session.postTelemetry(groups, receipt))
      }
      case 'attributes': {
        const entries = decode(
          () => decoder.attributes(body),
          () => decoder.attributesOf(decodeOwn(device.payloads?.attributes, body)),
        )
        return this.upload(device.tenantId, respond, (receipt) => session.postAttributes(entries, receipt))
      }
      case 'claim': {
        const offer = decode(
          () => claimOfferOf(body),
          () => decodeClaim(body),
        )
        return this.upload(device.tenantId, respond, (receipt) => session.offerForClaim(offer, receipt))
      }
      case 'rpc':
        if (id === undefined) return this.callServer(session, request, body, respond)
        session.answerCall(
          callId(id),
          decode(
            () => answerText(body),
            () => decodeReply(device, body),
          ),
        )
        respond(CREATED)
    }
  }

  private read({ feature }: FeaturePlace, device: DeviceIdentity, request: CoapRequest, respond: Respond): void {
    if (feature === 'attributes') return this.readAttributes(device, request, respond)
    if (feature !== 'rpc') throw CoapErrors.NOT_READABLE({ name: feature })
    if (request.observe === 0) {
      respond({ code: '2.03', observe: this.observe('calls', device, request) })
    } else if (request.observe === 1) {
      this.options.observations.end('calls', device, request)
      respond({ code: '2.02' })
    } else throw CoapErrors.NOT_OBSERVED()
  }

  /** The answer to an observer is what later changes change: the shared attributes alone. */
  private readAttributes(device: DeviceIdentity, request: CoapRequest, respond: Respond): void {
    const { query, contentFormat, observe } = request
    if (observe === 0) {
      const sequence = this.observe('attributes', device, request)
      const asked = { clientKeys: undefined, sharedKeys: 'all' } as const
      this.session(device)
        .requestAttributes(asked)
        .then(
          ({ shared }) => {
            const response = isProtobufDown(device, 'PROFILE', false)
              ? protobufResponse(encodeAttributesUpdate({ kind: 'updated', entries: shared }, this.options.clock.now()))
              : jsonResponse(entriesJson(shared), contentFormat)
            respond({ ...response, observe: sequence })
          },
          (error: unknown) => {
            this.options.observations.end('attributes', device, request)
            this.failed(respond, error)
          },
        )
      return
    }
    if (observe === 1) this.options.observations.end('attributes', device, request)
    const asked = attributeRequestOf(splitKeys(query.get('clientKeys') ?? ''), splitKeys(query.get('sharedKeys') ?? ''))
    this.session(device)
      .requestAttributes(asked)
      .then((answer) => {
        if (answer.client.length + answer.shared.length === 0) throw CoapErrors.NO_ATTRIBUTES()
        respond(
          isProtobufDown(device, 'PROFILE', false)
            ? protobufResponse(encodeAttributeAnswer(0, asked, answer, this.options.clock.now()))
            : jsonResponse(attributeAnswerJson(answer), contentFormat),
        )
      })
      .catch((error: unknown) => this.failed(respond, error))
  }

  private observe(what: Observed, device: DeviceIdentity, request: CoapRequest): number {
    return this.options.observations.begin(what, device, request, resourceOf(request))
  }

  /** The answer of the rule chain is the client's; a call that is not stored is refused. */
  private callServer(session: DeviceSession, request: CoapRequest, body: Buffer, respond: Respond): void {
    const { device } = session
    const { data, hasParams } = decodeBy(
      device,
      'PROFILE',
      () => this.options.decoder.serverCall(body),
      () => decodeServerCall(body),
    )
    if (!hasParams) throw CoapErrors.CALL_INCOMPLETE()
    session.callServer({ requestId: 0, data }, UNHEARD).then(
      (answer) => {
        if (answer === TIMED_OUT) this.failed(respond, CoapErrors.CALL_UNANSWERED())
        else if (isProtobufDown(device, 'PROFILE', false)) respond(protobufResponse(encodeServerAnswer(0, answer)))
        else respond(jsonResponse(answer, request.contentFormat))
      },
      (error: unknown) => this.failed(respond, error),
    )
  }

  private provision(request: CoapRequest, respond: Respond): void {
    const body = this.bodyOf(NO_TENANT, request, respond)
    if (body === undefined) return
    const asked = provisioningOf(body)
    this.options.gateway.provision(asked.request, request.peer.address).then(
      (answer) =>
        respond({
          code: answer.status === 'SUCCESS' ? CREATED.code : '4.00',
          ...(asked.isProtobuf ? {} : { contentFormat: ContentFormat.TEXT }),
          payload: provisionAnswerBytes(answer, asked),
        }),
      (error: unknown) => this.failed(respond, error),
    )
  }

  /** A whole image is loaded block by block; a part of a size that the device chose is cut into blocks like any answer. */
  private getPackage(kind: PackageRequest['kind'], device: DeviceIdentity, request: CoapRequest, send: Respond): void {
    // Who writes whatever comes to its flash must not find a text there.
    const respond: Respond = (response) =>
      send(response.code === CONTENT ? response : { ...response, payload: undefined })
    const { gateway, limits } = this.options
    const { query, block2 } = request
    const named = { kind, title: query.get('title'), version: query.get('version') }
    const [size, chunk] = [numberOf(query, 'size'), numberOf(query, 'chunk')]
    const block = { size: Math.min(block2?.size ?? limits.blockBytes, limits.blockBytes), number: block2?.number ?? 0 }
    const asked = size > 0 ? { ...named, size, chunk } : { ...named, size: block.size, chunk: block.number }
    gateway.downloadPackage(device, asked).then(
      (part) => {
        const payload = takeBytes(part)
        const isMore = (block.number + 1) * block.size < part.wholeBytes
        if (size > 0 || (block2 === undefined && !isMore)) respond({ code: CONTENT, payload })
        else respond({ code: CONTENT, payload, block2: { ...block, isMore } })
      },
      (error: unknown) => this.failed(respond, error),
    )
  }

  /** Undefined where further blocks come: the client has its answer then. */
  private bodyOf(tenantId: string, request: CoapRequest, respond: Respond): Buffer | undefined {
    const { uploads, limits } = this.options
    const { block1, payload } = request
    if (block1 === undefined) {
      if (payload.length > limits.maxPayloadBytes) throw MessageErrors.TOO_LARGE({ limit: limits.maxPayloadBytes })
      return payload
    }
    const sender = { tenantId, address: request.peer.address }
    const body = uploads.add(resourceOf(request), sender, block1, payload)
    if (body === undefined) respond({ code: CONTINUE })
    return body
  }

  /** Success is told from the receipt alone: the messages are durable. Throws BUSY, and what the decoder throws. */
  private upload(tenantId: string, respond: Respond, publish: (receipt: PublishReceipt) => void): void {
    const { gateway, counts } = this.options
    counts.received++
    if (!gateway.hasRoomFor(tenantId)) throw MessageErrors.BUSY()
    publish({
      stored: () => {
        counts.acknowledged++
        respond(CREATED)
      },
      refused: (error: MillraceError) => this.failed(respond, error),
    })
  }

  /** Every response to a device goes out here: as the block that was asked for, with the block that was sent. */
  private send(request: CoapRequest, response: CoapResponse, tenantId: string, send: Respond): void {
    const { answers, limits } = this.options
    if (!response.code.startsWith('2.')) return send(response)
    const whole = request.block1 === undefined ? response : { ...response, block1: request.block1 }
    const key = resourceOf(request)
    try {
      const block = blockOf(whole, request.block2, limits.blockBytes)
      // A resource that cuts its own blocks keeps nothing.
      if (block.block2 !== undefined && response.block2 === undefined) {
        if (!block.block2.isMore) answers.forget(key)
        else if (block.block2.number === 0) answers.keep(key, { tenantId, response })
      }
      send(block)
    } catch (error) {
      answers.forget(key)
      send(errorResponse(error))
    }
  }

  private failed(respond: Respond, error: unknown): void {
    const { counts, log } = this.options
    if (isMillraceError(error)) {
      if (error.kind === 'invalid') counts.undecodable++
      else if (error.kind === 'retryable') counts.refused++
    } else {
      const stack = error instanceof Error ? error.stack : undefined
      log.error('coap: unexpected error', { error: errorText(error), stack })
    }
    respond(errorResponse(error))
  }

  private session(device: DeviceIdentity): DeviceSession {
    let session = this.sessions.get(device)
    if (session === undefined) {
      session = this.options.gateway.openSession(device, 'brief', DEAF)
      this.sessions.set(device, session)
    }
    return session
  }
}

/** What is sent outlives the room that the bytes were read into. */
function takeBytes({ bytes, release }: PackagePart): Buffer {
  const own = Buffer.from(bytes)
  release()
  return own
}

/** 0 where it is absent. Throws BAD_PARAMETER. */
function numberOf(query: ReadonlyMap<string, string>, name: string): number {
  const value = query.get(name) || '0'
  if (!/^\d{1,10}$/.test(value) || Number(value) > INT32_MAX) throw CoapErrors.BAD_PARAMETER({ name, value })
  return Number(value)
}

function callId(text: string): number {
  const id = Number(text)
  if (!/^-?\d{1,10}$/.test(text) || id > INT32_MAX || id < -INT32_MAX - 1)
    throw CoapErrors.BAD_PARAMETER({ name: 'id', value: text })
  return id
}

/** Throws `invalid` where it is no object. */
function answerText(body: Buffer): string {
  const text = body.toString('utf8')
  if (!isJsonObject(parseLenientJson(text))) throw CoapErrors.ANSWER_NOT_OBJECT()
  return text
}
