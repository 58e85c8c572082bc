/** Telemetry of entity views is that of their sources, within the keys and the time that the view shows; nobody writes it. */
import type { EntityId } from '../../model/entity-id.ts'
import type { DataPoint } from '../../model/value.ts'
import type { SaveDone, TelemetrySave } from '../../engine/rulechain/capabilities/telemetry.ts'
import type { DeletedKeys, PointsByKey, Snapshot } from '../../storage/timeseries/store.ts'
import { clipped, isShown, type Exposure } from './exposure.ts'
import { historyQueryOf } from './history.ts'
import { EntityViewErrors } from '../entities/entity-view-errors.ts'
import type { HistoryRequest, TelemetryService } from './telemetry-service.ts'

/** What the view shows; undefined where there is no such view. */
export type ExposureLookup = (viewId: string) => Promise<Exposure | undefined>

export class ViewedTelemetry implements TelemetryService {
  private readonly stored: TelemetryService
  private readonly exposureOf: ExposureLookup

  constructor(stored: TelemetryService, exposureOf: ExposureLookup) {
    this.stored = stored
    this.exposureOf = exposureOf
  }

  save(request: TelemetrySave, done: SaveDone, ttlSeconds?: number): void {
    if (request.entity.entityType === 'ENTITY_VIEW') done(EntityViewErrors.READ_ONLY(), request.place ?? 0)
    else this.stored.save(request, done, ttlSeconds)
  }

  async saveByUser(...args: Parameters<TelemetryService['saveByUser']>): Promise<void> {
    requireWritable(args[1])
    return this.stored.saveByUser(...args)
  }

  async history(entity: EntityId, request: HistoryRequest): Promise<Snapshot<PointsByKey>> {
    if (entity.entityType !== 'ENTITY_VIEW') return this.stored.history(entity, request)
    // What is wrong with the question is so whatever the view shows.
    historyQueryOf(request)
    const exposure = await this.exposureOf(entity.id)
    const range = exposure && clipped(exposure, request)
    if (exposure === undefined || range === undefined) return this.stored.history(entity, { ...request, keys: [] })
    return this.stored.history(exposure.source, { ...request, ...range, keys: shownOf(exposure, request.keys) })
  }

  async latest(entity: EntityId, keys: readonly string[] | undefined): Promise<Snapshot<readonly DataPoint[]>> {
    if (entity.entityType !== 'ENTITY_VIEW') return this.stored.latest(entity, keys)
    const exposure = await this.exposureOf(entity.id)
    const shown = exposure === undefined ? [] : shownOf(exposure, keys)
    // Without keys the store would answer all there are.
    if (exposure === undefined || shown.length === 0) return { value: [], sequence: 0 }
    const { value, sequence } = await this.stored.latest(exposure.source, shown)
    const within = value.filter((point) => isShown(exposure, point))
    const missing = value.filter((point) => !isShown(exposure, point)).map(({ key }) => key)
    return { value: [...within, ...(await this.lastWithin(exposure, missing))], sequence }
  }

  async keys(entity: EntityId): Promise<readonly string[]> {
    if (entity.entityType !== 'ENTITY_VIEW') return this.stored.keys(entity)
    const { value } = await this.latest(entity, undefined)
    return value.map(({ key }) => key)
  }

  async deleteByUser(...args: Parameters<TelemetryService['deleteByUser']>): Promise<DeletedKeys> {
    requireWritable(args[1])
    return this.stored.deleteByUser(...args)
  }

  /** The newest points of keys whose newest of all is outside of what the view shows. */
  private async lastWithin(exposure: Exposure, keys: readonly string[]): Promise<readonly DataPoint[]> {
    const range = clipped(exposure, { startTs: Number.MIN_SAFE_INTEGER, endTs: Number.MAX_SAFE_INTEGER })
    if (range === undefined || keys.length === 0) return []
    const { value } = await this.stored.history(exposure.source, { keys, ...range, limit: 1, orderBy: 'DESC' })
    return [...value.values()].flat()
  }
}

function shownOf({ keys }: Exposure, asked: readonly string[] | undefined): readonly string[] {
  return asked === undefined ? keys : asked.filter((key) => keys.includes(key))
}

function requireWritable({ entityType }: EntityId): void {
  if (entityType === 'ENTITY_VIEW') throw EntityViewErrors.READ_ONLY()
}
