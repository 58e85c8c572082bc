/** Series, as nodes save them: of the tenant's entities, and as long as its profile says where nothing else does. */
import type { NodeIdentity } from '../../engine/rulechain/capabilities.ts'
import { isLater, whenThere, type Soon } from '../../engine/rulechain/capabilities/soon.ts'
import type { NodeTelemetry, SaveDone, TelemetrySave } from '../../engine/rulechain/capabilities/telemetry.ts'
import { USAGE } from '../../engine/usage/usage.ts'
import { errorText } from '../../model/errors.ts'
import { itemNotFound } from '../errors.ts'
import type { Services } from '../services.ts'
import { UsageErrors } from '../usage/errors.ts'
import { storageDays } from '../usage/storage-days.ts'
import type { OwnEntities } from './own-entities.ts'

const DAY_SECONDS = 86_400

type Parts = Pick<Services, 'telemetry' | 'movedDevices' | 'limits' | 'meter'>
type Owners = Pick<OwnEntities, 'owns'>

export function nodeTelemetry(services: Parts, own: Owners): (node: Pick<NodeIdentity, 'tenantId'>) => NodeTelemetry {
  return ({ tenantId }) => new TelemetryOfTenant(services, own, tenantId)
}

/** A class, so that a save whose entity and time to live are at hand makes no function. */
class TelemetryOfTenant implements NodeTelemetry {
  private readonly services: Parts
  private readonly own: Owners
  private readonly tenantId: string

  constructor(services: Parts, own: Owners, tenantId: string) {
    this.services = services
    this.own = own
    this.tenantId = tenantId
  }

  save(request: TelemetrySave, done: SaveDone): void {
    const isTheirs: Soon<boolean> = request.isOwn === true || this.own.owns(this.tenantId, request.entity)
    const ttl = this.ttlOf(request)
    if (!isLater(isTheirs) && !isLater(ttl)) return this.saveWhere(request, done, isTheirs, ttl)
    Promise.all([isTheirs, ttl]).then(
      (known) => this.saveWhere(request, done, ...known),
      (error: unknown) => done(errorOf(error), request.place ?? 0),
    )
  }

  private ttlOf({ ttlSeconds, isTtlOfProfile }: TelemetrySave): Soon<number> {
    if (ttlSeconds > 0 || isTtlOfProfile !== true) return ttlSeconds
    return whenThere(this.services.limits.soon(this.tenantId), defaultTtlSeconds)
  }

  private saveWhere(request: TelemetrySave, done: SaveDone, isTheirs: boolean, ttlSeconds: number): void {
    const { tenantId } = this
    const { telemetry, movedDevices, meter } = this.services
    const { entity, place = 0 } = request
    if (!isTheirs || movedDevices.isFormer(tenantId, entity)) return done(itemNotFound(entity), place)
    if (request.history) {
      const usage = meter.of(tenantId)
      if (usage.isDisabled('DB')) return done(UsageErrors.STORAGE(), place)
      usage.add(USAGE.storageDataPointDays, storageDays(request.entries ?? request.points, ttlSeconds))
    }
    telemetry.save(request, done, ttlSeconds)
  }
}

function defaultTtlSeconds({ defaultStorageTtlDays }: { readonly defaultStorageTtlDays: number }): number {
  return defaultStorageTtlDays * DAY_SECONDS
}

function errorOf(error: unknown): Error {
  return error instanceof Error ? error : new Error(errorText(error))
}
