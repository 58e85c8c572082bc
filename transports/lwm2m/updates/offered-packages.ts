/**
 * Packages that clients load from this server (`device-api.md` 13.9, strategy 2): each at an address that nobody guesses and that ends when
 * nobody asked for a while. Who knows it may load the package, from wherever: a client may load with another socket than it registered with.
 */
import { randomBytes } from 'node:crypto'
import type { Clock } from '../../../model/clock.ts'
import type { DeviceGateway, DeviceIdentity, PackageRequest } from '../../../engine/device/gateway.ts'
import { errorResponse } from '../../coap-messages/answers.ts'
import { Expiring } from '../../coap-messages/expiring.ts'
import { GET, type CoapRequest, type CoapResponse } from '../../coap-messages/message.ts'
import { MessageErrors } from '../../coap-messages/errors.ts'
import type { TenantShares } from '../../tenant-shares.ts'
import { Lwm2mErrors } from '../errors.ts'
import type { UpdateKind } from './kinds.ts'

export interface OfferedPackagesOptions {
  readonly gateway: Pick<DeviceGateway, 'downloadPackage'>
  readonly clock: Clock
  readonly shares: TenantShares
  /** Silence after which an address ends. */
  readonly idleMs: number
  readonly blockBytes: number
}

export type NamedPackage = Pick<PackageRequest, 'kind'> & { readonly title: string; readonly version: string }

interface Offered {
  readonly token: string
  readonly key: string
  readonly place: UpdateKind['place']
  readonly device: DeviceIdentity
  readonly named: NamedPackage
}

const TOKEN_BYTES = 16
const CONTENT = '2.05'
const OCTETS = 42

export class OfferedPackages {
  private readonly options: OfferedPackagesOptions
  private readonly byToken: Expiring<Offered>
  /** One of each kind for a device. */
  private readonly byDevice = new Map<string, Offered>()

  constructor(options: OfferedPackagesOptions) {
    this.options = options
    this.byToken = new Expiring(options.clock, options.idleMs, (offered) => this.ended(offered))
  }

  get count(): number {
    return this.byToken.size
  }

  /** Its path, the same for the same package, so that one who registers anew may go on. Throws BUSY. */
  offer(device: DeviceIdentity, place: UpdateKind['place'], named: NamedPackage): string {
    const key = keyOf(device, place)
    const known = this.byDevice.get(key)
    if (known !== undefined && known.named.title === named.title && known.named.version === named.version) {
      this.byToken.touch(known.token)
      return pathOf(known)
    }
    if (known !== undefined) this.byToken.end(known.token)
    if (!this.options.shares.take(device.tenantId)) throw MessageErrors.BUSY()
    const offered = { token: randomBytes(TOKEN_BYTES).toString('base64url'), key, place, device, named }
    this.byDevice.set(key, offered)
    this.byToken.add(offered.token, offered)
    return pathOf(offered)
  }

  withdraw(device: DeviceIdentity, place: UpdateKind['place']): void {
    const known = this.byDevice.get(keyOf(device, place))
    if (known !== undefined) this.byToken.end(known.token)
  }

  /** Answers with the block that is asked for, now or later. */
  serve({ code, path, block2 }: CoapRequest, send: (response: CoapResponse) => void): void {
    // Who writes whatever comes to its flash must not find a text there.
    const refuse = (error: unknown): void => send({ ...errorResponse(error), payload: undefined })
    const [place, token = '', ...rest] = path
    const offered = rest.length > 0 ? undefined : this.byToken.touch(token)
    if (offered === undefined || offered.place !== place) return refuse(Lwm2mErrors.UNKNOWN_PATH())
    if (code !== GET) return refuse(Lwm2mErrors.WRONG_METHOD({ allowed: 'GET' }))
    const { gateway, blockBytes } = this.options
    const block = { size: Math.min(block2?.size ?? blockBytes, blockBytes), number: block2?.number ?? 0 }
    gateway
      .downloadPackage(offered.device, { ...offered.named, size: block.size, chunk: block.number })
      .then(({ bytes, wholeBytes, release }) => {
        const payload = Buffer.from(bytes)
        release()
        const isMore = (block.number + 1) * block.size < wholeBytes
        const isWhole = block2 === undefined && !isMore
        const isBehind = payload.length === 0 && block.number > 0
        if (isBehind) refuse(MessageErrors.BAD_BLOCK())
        else
          send({
            code: CONTENT,
            contentFormat: OCTETS,
            payload,
            ...(isWhole ? {} : { block2: { ...block, isMore } }),
          })
      }, refuse)
  }

  close(): void {
    this.byToken.close()
  }

  private ended({ key, device, token }: Offered): void {
    if (this.byDevice.get(key)?.token === token) this.byDevice.delete(key)
    this.options.shares.give(device.tenantId)
  }
}

function keyOf({ deviceId }: DeviceIdentity, place: UpdateKind['place']): string {
  return `${place} ${deviceId}`
}

function pathOf({ place, token }: Offered): string {
  return `/${place}/${token}`
}
