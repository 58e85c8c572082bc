/** Series, as nodes save them: of the tenant's entities, and as long as its profile says where nothing else does. */
import type { NodeIdentity } from '../../engine/rulechain/capabilities.ts'
import { isLater, whenThere, type Soon } from '../../engine/rulechain/capabilities/soon.ts'
import type { NodeTelemetry, TelemetrySave } from '../../engine/rulechain/capabilities/telemetry.ts'
import { USAGE } from '../../engine/usage/usage.ts'
import { errorText } from '../../model/errors.ts'
import { itemNotFound } from '../errors.ts'
import type { Services } from '../services.ts'
import { UsageErrors } from '../usage/errors.ts'
import { storageDays } from '../usage/storage-days.ts'
import type { OwnEntities } from './own-entities.ts'

const DAY_SECONDS = 86_400

export function nodeTelemetry(
  { telemetry, movedDevices: moved, limits, meter }: Pick<Services, 'telemetry' | 'movedDevices' | 'limits' | 'meter'>,
  own: Pick<OwnEntities, 'owns'>,
): (node: Pick<NodeIdentity, 'tenantId'>) => NodeTelemetry {
  return ({ tenantId }) => {
    const ttlOf = ({ ttlSeconds, isTtlOfProfile }: TelemetrySave): Soon<number> =>
      ttlSeconds > 0 || isTtlOfProfile !== true
        ? ttlSeconds
        : whenThere(limits.soon(tenantId), ({ defaultStorageTtlDays }) => defaultStorageTtlDays * DAY_SECONDS)
    return {
      save: (request, done) => {
        const { entity } = request
        const saveWhere = (isTheirs: boolean, ttlSeconds: number): void => {
          if (!isTheirs || moved.isFormer(tenantId, entity)) return done(itemNotFound(entity))
          if (request.history) {
            const usage = meter.of(tenantId)
            if (usage.isDisabled('DB')) return done(UsageErrors.STORAGE())
            usage.add(USAGE.storageDataPointDays, storageDays(request.points, ttlSeconds))
          }
          telemetry.save(ttlSeconds === request.ttlSeconds ? request : { ...request, ttlSeconds }, done)
        }
        const isTheirs: Soon<boolean> = request.isOwn === true || own.owns(tenantId, entity)
        const ttl = ttlOf(request)
        if (!isLater(isTheirs) && !isLater(ttl)) return saveWhere(isTheirs, ttl)
        Promise.all([isTheirs, ttl]).then(
          (known) => saveWhere(...known),
          (error: unknown) => done(errorOf(error)),
        )
      },
    }
  }
}

function errorOf(error: unknown): Error {
  return error instanceof Error ? error : new Error(errorText(error))
}
