/** The bootstrap server: a port of its own, at which clients are told of the servers that their profile names. Source: `device-api.md` 13.10. */
import { errorText, isMillraceError } from '../../../model/errors.ts'
import type { Clock, Random } from '../../../model/clock.ts'
import type { Log } from '../../../model/log.ts'
import type { DeviceGateway, DeviceIdentity } from '../../../engine/device/gateway.ts'
import { errorResponse } from '../../coap-messages/answers.ts'
import { ClientPort } from '../../coap-messages/client-port.ts'
import { MessageErrors } from '../../coap-messages/errors.ts'
import { Expiring } from '../../coap-messages/expiring.ts'
import { POST, type CoapRequest, type CoapResponse, type Peer } from '../../coap-messages/message.ts'
import { TenantShares } from '../../tenant-shares.ts'
import { Format } from '../codecs/records.ts'
import type { Lwm2mCounts } from '../counts.ts'
import { Lwm2mErrors } from '../errors.ts'
import type { Lwm2mLimits } from '../limits.ts'
import { endpointCredentials } from '../proof.ts'
import { LWM2M_SETTINGS } from '../settings.ts'
import { accountsOf, type ServerAccount } from './accounts.ts'
import { bootstrap } from './steps.ts'

/** Where it listens, as for the server at which clients register. */
export interface BootstrapPlace {
  readonly bindAddress: string
  readonly port: number
  readonly dtlsProxySocket?: string
}

export interface BootstrapServerOptions {
  readonly gateway: Pick<DeviceGateway, 'authenticate' | 'findPreSharedKey' | 'findBootstrapCredentials'>
  readonly place: BootstrapPlace
  readonly limits: Lwm2mLimits
  readonly counts: Lwm2mCounts
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
}

interface Running {
  readonly tenantId: string
  isEnded: boolean
  /** Of what it is asked, of a long body the block. */
  token: Buffer
}

type Respond = (response: CoapResponse) => void

/** Content-Formats that a client may prefer (`pct`, 1.1). */
const FORMATS: readonly number[] = [Format.SENML_CBOR, Format.SENML_JSON, Format.TLV]

const NO_TOKEN = Buffer.alloc(0)

export class BootstrapServer {
  private readonly options: BootstrapServerOptions
  private readonly clientPort: ClientPort
  private readonly shares: TenantShares
  /** By device: one that begins anew has forgotten the one before. */
  private readonly running: Expiring<Running>

  constructor(options: BootstrapServerOptions) {
    const { gateway, place, limits, counts, clock, random, log } = options
    this.options = options
    this.shares = new TenantShares(limits.maxBootstraps, limits.maxBootstrapsPerTenant)
    this.running = new Expiring(clock, limits.bootstrapMs, (ended) => {
      ended.isEnded = true
      this.shares.give(ended.tenantId)
      // Whoever knows an endpoint can write any address below a request: each ends what the one before had sent again and again.
      this.clientPort.requests.cancel(ended.token)
    })
    this.clientPort = new ClientPort({
      ...{ label: 'LwM2M bootstrap', address: place.bindAddress, port: place.port, proxySocket: place.dtlsProxySocket },
      settings: {
        address: LWM2M_SETTINGS.lwm2mBootstrapBindAddress.name,
        port: LWM2M_SETTINGS.lwm2mBootstrapBindPort.name,
        proxySocket: LWM2M_SETTINGS.lwm2mBootstrapDtlsProxySocket.name,
      },
      ...{ limits, counts, clock, random, log },
      findKey: (identity) => gateway.findPreSharedKey(identity),
      handle: (request, respond) => {
        this.handle(request, respond).catch((error: unknown) => {
          this.failed(error)
          respond(errorResponse(error))
        })
      },
    })
  }

  get port(): number {
    return this.clientPort.port
  }

  /** Clients that are in the middle of it. */
  get size(): number {
    return this.running.size
  }

  /** Rejects LISTEN_FAILED. */
  listen(): Promise<void> {
    return this.clientPort.listen()
  }

  /** Once. */
  async close(): Promise<void> {
    this.running.close()
    await this.clientPort.close()
  }

  private async handle(request: CoapRequest, respond: Respond): Promise<void> {
    const { path, code, query, peer } = request
    if (path.length !== 1 || path[0] !== 'bs') throw Lwm2mErrors.UNKNOWN_PATH()
    if (code !== POST) throw Lwm2mErrors.WRONG_METHOD({ allowed: 'POST' })
    const format = query.has('pct') ? Number(query.get('pct')) : Format.TLV
    if (!FORMATS.includes(format)) throw Lwm2mErrors.UNKNOWN_FORMAT({ format: query.get('pct') ?? '' })
    const device = await this.deviceOf(query.get('ep') ?? '', peer)
    const credentials = await this.options.gateway.findBootstrapCredentials(device)
    const accounts = accountsOf(device.lwm2m ?? {}, credentials, peer.proven !== undefined)
    const running = this.begin(device)
    respond({ code: '2.04' })
    void this.run(device, running, peer, accounts, format)
  }

  /** Rejects UNKNOWN_BOOTSTRAP_ENDPOINT: who it is and who it might be are told apart to nobody. */
  private async deviceOf(endpoint: string, peer: Peer): Promise<DeviceIdentity> {
    const credentials = endpointCredentials(endpoint, peer)
    const device = credentials === undefined ? undefined : await this.options.gateway.authenticate(credentials)
    if (device?.transportType !== 'LWM2M') throw Lwm2mErrors.UNKNOWN_BOOTSTRAP_ENDPOINT()
    return device
  }

  private begin({ deviceId, tenantId }: DeviceIdentity): Running {
    this.running.end(deviceId)
    if (!this.shares.take(tenantId)) throw Lwm2mErrors.NO_ROOM()
    const running = { tenantId, isEnded: false, token: NO_TOKEN }
    this.running.add(deviceId, running)
    return running
  }

  private async run(
    { deviceId }: DeviceIdentity,
    running: Running,
    peer: Peer,
    accounts: readonly ServerAccount[],
    format: number,
  ): Promise<void> {
    try {
      await bootstrap(
        (request) =>
          this.clientPort.requests.ask(peer, request, undefined, (token) => {
            if (running.isEnded) throw MessageErrors.CLOSED()
            running.token = token
          }),
        accounts,
        format,
      )
      this.options.counts.bootstrapped++
    } catch (error) {
      this.options.counts.bootstrapsFailed++
      this.failed(error)
    }
    if (!running.isEnded) this.running.end(deviceId)
  }

  private failed(error: unknown): void {
    const { counts, log } = this.options
    if (!isMillraceError(error)) log.error('LwM2M bootstrap: unexpected error', { error: errorText(error) })
    else if (error.kind === 'denied') counts.unauthenticated++
  }
}
