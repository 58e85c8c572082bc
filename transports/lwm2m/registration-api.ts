/** What clients ask of the server: to be registered, and to take what they send (`device-api.md` 13.1). */
import { isDeepStrictEqual } from 'node:util'
import { errorText, isMillraceError } from '../../model/errors.ts'
import type { Log } from '../../model/log.ts'
import type { DeviceGateway, DeviceIdentity } from '../../engine/device/gateway.ts'
import { errorResponse } from '../coap-messages/answers.ts'
import type { BlockUploads } from '../coap-messages/blocks.ts'
import { MessageErrors } from '../coap-messages/errors.ts'
import { POST, type CoapRequest, type CoapResponse } from '../coap-messages/message.ts'
import type { ProvenIdentity } from '../coap-messages/proxy/frames.ts'
import type { Lwm2mClient } from './client.ts'
import type { Lwm2mCounts } from './counts.ts'
import { Lwm2mErrors } from './errors.ts'
import { decoded } from './payloads.ts'
import { endpointCredentials } from './proof.ts'
import { endpointOf, registrationOf, updateOf } from './registration-request.ts'
import type { Registration, Registrations } from './registrations.ts'
import type { OfferedPackages } from './updates/offered-packages.ts'

export interface RegistrationApiOptions {
  readonly gateway: DeviceGateway
  readonly registrations: Registrations
  readonly uploads: BlockUploads
  readonly offered: OfferedPackages
  readonly maxPayloadBytes: number
  readonly counts: Lwm2mCounts
  readonly log: Log
  readonly clientOf: (registration: Registration) => Lwm2mClient | undefined
}

type Respond = (response: CoapResponse) => void

const DELETE = '0.04'
const CONTINUE: CoapResponse = { code: '2.31' }
const CHANGED: CoapResponse = { code: '2.04' }
const DELETED: CoapResponse = { code: '2.02' }

export class RegistrationApi {
  private readonly options: RegistrationApiOptions

  constructor(options: RegistrationApiOptions) {
    this.options = options
  }

  /** Answers once, now or later. */
  readonly handle = (request: CoapRequest, respond: Respond): void => {
    try {
      const [root, id, ...rest] = request.path
      if (root === 'dp' && id === undefined) return this.send(request, respond)
      if (root === 'tbfw' || root === 'tbsw') return this.options.offered.serve(request, respond)
      if (root !== 'rd' || rest.length > 0) throw Lwm2mErrors.UNKNOWN_PATH()
      if (id === undefined) this.register(request, respond)
      else if (request.code === POST) this.update(id, request, respond)
      else if (request.code === DELETE) this.deregister(id, request, respond)
      else throw Lwm2mErrors.WRONG_METHOD({ allowed: 'POST, DELETE' })
    } catch (error) {
      this.failed(respond, error)
    }
  }

  private register(request: CoapRequest, respond: Respond): void {
    if (request.code !== POST) throw Lwm2mErrors.WRONG_METHOD({ allowed: 'POST' })
    const credentials = endpointCredentials(endpointOf(request.query), request.peer)
    if (credentials === undefined) throw Lwm2mErrors.UNKNOWN_ENDPOINT()
    const known = this.options.gateway.lookUp(credentials)
    if (known !== undefined) return this.registerKnown(known, request, respond)
    this.options.gateway
      .authenticate(credentials)
      .then((device) => {
        if (device === undefined) throw Lwm2mErrors.UNKNOWN_ENDPOINT()
        this.registerKnown(device, request, respond)
      })
      .catch((error: unknown) => this.failed(respond, error))
  }

  private registerKnown(device: DeviceIdentity, request: CoapRequest, respond: Respond): void {
    const { registrations, clientOf } = this.options
    const body = this.bodyOf(device.tenantId, request, respond)
    if (body === undefined) return
    const registration = registrations.register(
      device,
      registrationOf(request.query, body.toString('utf8')),
      request.peer,
    )
    respond({ ...blockOf(request), code: '2.01', location: ['rd', registration.id] })
    clientOf(registration)?.begin()
  }

  private update(id: string, request: CoapRequest, respond: Respond): void {
    const { registrations } = this.options
    const known = this.own(id, request)
    const body = this.bodyOf(known.session.device.tenantId, request, respond)
    if (body === undefined) return
    const update = updateOf(request.query, body.toString('utf8'))
    respond({ ...blockOf(request), ...CHANGED })
    registrations.update(id, update, request.peer)
  }

  private deregister(id: string, request: CoapRequest, respond: Respond): void {
    this.own(id, request)
    this.options.registrations.deregister(id)
    respond(DELETED)
  }

  /** Who proved who it is has its registration to itself. Throws UNKNOWN_REGISTRATION. */
  private own(id: string, { peer }: CoapRequest): Registration {
    const known = this.options.registrations.find(id)
    if (known === undefined || !isSame(known.address.proven, peer.proven)) throw Lwm2mErrors.UNKNOWN_REGISTRATION()
    return known
  }

  /** Values that nobody asked for (1.1): the client is known by where it registered from. */
  private send(request: CoapRequest, respond: Respond): void {
    const { registrations, clientOf, gateway } = this.options
    if (request.code !== POST) throw Lwm2mErrors.WRONG_METHOD({ allowed: 'POST' })
    const registration = registrations.findAt(request.peer)
    const client = registration === undefined ? undefined : clientOf(registration)
    if (registration === undefined || client === undefined) throw Lwm2mErrors.NOT_REGISTERED()
    const payload = this.bodyOf(registration.session.device.tenantId, request, respond)
    if (payload === undefined) return
    client.heardBy(request.peer)
    if (!gateway.hasRoomFor(registration.session.device.tenantId)) throw MessageErrors.BUSY()
    const storing = async (): Promise<void> => {
      await client.prepared
      const records = await decoded({ payload, format: request.contentFormat, path: [], type: undefined })
      await client.store(records)
    }
    storing().then(
      () => respond({ ...blockOf(request), ...CHANGED }),
      (error: unknown) => this.failed(respond, error),
    )
  }

  /** Undefined where further blocks come: the client has its answer then. */
  private bodyOf(tenantId: string, request: CoapRequest, respond: Respond): Buffer | undefined {
    const { uploads, maxPayloadBytes } = this.options
    const { block1, payload, peer, path, query } = request
    if (block1 === undefined) {
      if (payload.length > maxPayloadBytes) throw MessageErrors.TOO_LARGE({ limit: maxPayloadBytes })
      return payload
    }
    const sender = { tenantId, address: peer.address }
    const body = uploads.add(JSON.stringify([peer.key, path, [...query]]), sender, block1, payload)
    if (body === undefined) respond({ ...CONTINUE, block1 })
    return body
  }

  private failed(respond: Respond, error: unknown): void {
    const { counts, log } = this.options
    if (!isMillraceError(error)) log.error('LwM2M: unexpected error', { error: errorText(error) })
    else if (error.kind === 'denied') counts.unauthenticated++
    else if (error.kind === 'invalid') counts.undecodable++
    else if (error.kind === 'retryable') counts.refused++
    respond(errorResponse(error))
  }
}

function blockOf({ block1 }: CoapRequest): Pick<CoapResponse, 'block1'> {
  return block1 === undefined ? {} : { block1 }
}

function isSame(one: ProvenIdentity | undefined, other: ProvenIdentity | undefined): boolean {
  return isDeepStrictEqual(one, other)
}
