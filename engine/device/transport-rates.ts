/**
 * How much devices may send (`device-api.md` 11.1): of a tenant together, of each device, of all devices behind a gateway, of a gateway itself.
 * A request with data takes one telemetry message and its points, any other a regular message. Each process counts what reaches it. A tenant
 * without limits costs a look into a map and a comparison.
 */
import { lruMap } from '../../model/lru-map.ts'
import { isLater, whenThere, type Soon } from '../rulechain/capabilities/soon.ts'
import { RatesById } from '../../model/rates.ts'
import type { DeviceIdentity, DeviceRates, ToldRates } from './gateway.ts'

const LEVELS = ['Tenant', 'Device', 'Gateway', 'GatewayDevice'] as const
type Level = (typeof LEVELS)[number]
const KINDS = ['Msg', 'TelemetryMsg', 'TelemetryDataPoints'] as const
type Kind = (typeof KINDS)[number]

/** As a tenant profile has them: texts such as `100:1,2000:60`, null or empty for none. */
export type TransportLimits = Readonly<Record<`transport${Level}${Kind}RateLimit`, string | null>>

export interface TransportLimitSource {
  /** At once where they are known. */
  soon(tenantId: string): Soon<TransportLimits>
}

/** Somebody sent too much. */
export interface TransportRateRefusal {
  readonly tenantId: string
  readonly level: Level
  /** The tenant's, the device's or the gateway's. */
  readonly id: string
}

/** A profile that changes counts after so long, ms. */
const LOOK_AGAIN_MS = 250
/** Who was silent longest is forgotten. */
const MAX_TENANTS = 20_000

interface TenantLimits {
  limits: TransportLimits | undefined
  hasAny: boolean
  lookedAt: number
}

export interface TransportRatesParts {
  readonly source: TransportLimitSource
  /** Called for each refusal: must be quick. */
  readonly reached: (refusal: TransportRateRefusal) => void
}

export class TransportRates {
  private readonly parts: TransportRatesParts
  private readonly tenants = lruMap<TenantLimits>(MAX_TENANTS)
  private lastTenantId: string | undefined
  private last: TenantLimits | undefined
  private readonly buckets = new Map<`${Level}${Kind}`, RatesById>()
  /** Requests that were refused. Only grows. */
  refused = 0

  constructor(parts: TransportRatesParts) {
    this.parts = parts
  }

  /**
   * Whether any limit is set for the tenant. Until its profile was read nothing is refused. `now`: Unix ms, which costs each message half of
   * what a monotonic time does; where the clock is set back the profile is looked at anew.
   */
  isLimited(tenantId: string, now: number): boolean {
    const known = this.knownOf(tenantId)
    if (known === undefined || now < known.lookedAt || now - known.lookedAt >= LOOK_AGAIN_MS)
      return this.look(tenantId, known, now)
    this.lastTenantId = tenantId
    this.last = known
    return known.hasAny
  }

  /** Counts a request of a device, behind a gateway where that is given. `points` is 0 for one without data. `now` is monotonic, ms. */
  admit(
    device: Pick<DeviceIdentity, 'tenantId' | 'deviceId' | 'isGateway'>,
    behind: string | undefined,
    points: number,
    now: number,
  ): boolean {
    const limits = this.knownOf(device.tenantId)?.limits
    if (limits === undefined) return true
    const own = device.isGateway === true ? 'GatewayDevice' : 'Device'
    return (
      this.take(device.tenantId, limits, 'Tenant', device.tenantId, points, now) &&
      this.take(device.tenantId, limits, behind === undefined ? own : 'Gateway', behind ?? device.deviceId, points, now)
    )
  }

  /** Of the device itself, and where it is a gateway of the devices behind it together. `now`: Unix ms. */
  told({ tenantId, isGateway }: Pick<DeviceIdentity, 'tenantId' | 'isGateway'>, now: number): DeviceRates {
    this.isLimited(tenantId, now)
    const limits = this.knownOf(tenantId)?.limits
    return { own: toldOf(limits, isGateway === true ? 'GatewayDevice' : 'Device'), children: toldOf(limits, 'Gateway') }
  }

  /** Messages of one tenant come one behind the other mostly: the map, which may have forgotten the last one, is asked where they do not. */
  private knownOf(tenantId: string): TenantLimits | undefined {
    return tenantId === this.lastTenantId ? this.last : this.tenants.get(tenantId)
  }

  private take(
    tenantId: string,
    limits: TransportLimits,
    level: Level,
    id: string,
    points: number,
    now: number,
  ): boolean {
    const isAdmitted =
      points === 0
        ? this.takeOf(limits, level, 'Msg', id, 1, now)
        : this.takeOf(limits, level, 'TelemetryMsg', id, 1, now) &&
          this.takeOf(limits, level, 'TelemetryDataPoints', id, points, now)
    if (isAdmitted) return true
    this.refused++
    this.parts.reached({ tenantId, level, id })
    return false
  }

  private takeOf(limits: TransportLimits, level: Level, kind: Kind, id: string, count: number, now: number): boolean {
    const limit = limits[`transport${level}${kind}RateLimit`]
    if (limit === null || limit === '') return true
    let rates = this.buckets.get(`${level}${kind}`)
    if (rates === undefined) this.buckets.set(`${level}${kind}`, (rates = new RatesById()))
    return rates.admit(id, limit, now, count)
  }

  private look(tenantId: string, known: TenantLimits | undefined, now: number): boolean {
    const tenant = known ?? { limits: undefined, hasAny: false, lookedAt: now }
    tenant.lookedAt = now
    // One that is known is the last that was used, too.
    this.tenants.set(tenantId, tenant)
    const note = (limits: TransportLimits): void => {
      if (limits === tenant.limits) return
      tenant.limits = limits
      tenant.hasAny = LEVELS.some((level) => KINDS.some((kind) => isSet(limits[`transport${level}${kind}RateLimit`])))
    }
    try {
      const noted = whenThere(this.parts.source.soon(tenantId), note)
      if (isLater(noted)) noted.catch(() => undefined)
    } catch {
      // Read again by the next look; what was known counts meanwhile.
    }
    return tenant.hasAny
  }
}

function toldOf(limits: TransportLimits | undefined, level: Level): ToldRates {
  const of = (kind: Kind): string | null => limits?.[`transport${level}${kind}RateLimit`] || null
  return { messages: of('Msg'), telemetryMessages: of('TelemetryMsg'), telemetryDataPoints: of('TelemetryDataPoints') }
}

function isSet(limit: string | null): boolean {
  return limit !== null && limit !== ''
}
