/** Calculated fields and alarm rules as users have them: saved within the limits of the tenant's profile, listed, tried out. */
import {
  argumentsOf,
  type CalculatedFieldType,
  type Configuration,
} from '../../model/calculated-fields/configuration.ts'
import type { Clock, Random } from '../../model/clock.ts'
import type { Page, PageQuery } from '../../model/entities.ts'
import { entityId, type EntityId, type EntityType } from '../../model/entity-id.ts'
import { isJsonObject, type JsonObject } from '../../model/json.ts'
import type { Principal } from '../../model/principal.ts'
import type { Condition } from '../../storage/entities/tables/row-store.ts'
import { SYSTEM_TENANT } from '../changes/changes.ts'
import { debugSettingsOf } from '../debug-settings.ts'
import { calculatedFields, type CalculatedField } from '../entities/calculated-field.ts'
import type { DraftOf } from '../entities/define.ts'
import type { EntityRegistry } from '../entities/entity-registry.ts'
import type { EntityService } from '../entities/entity-service.ts'
import type { ManyNamesLookup } from '../entities/many-names.ts'
import type { Joined } from '../entities/service-parts.ts'
import { DEFAULT_LIMITS, type CountName, type TenantLimits } from '../entities/tenant-limits.ts'
import { tenantProfiles } from '../entities/tenant-profile.ts'
import { tenants } from '../entities/tenant.ts'
import { itemNotFound } from '../errors.ts'
import { configurationOf } from './configuration.ts'
import { CalculatedFieldErrors } from './errors.ts'
import type { Calculation } from './runtime/runtime.ts'
import { testScript, type ScriptTest } from './test-script.ts'

export interface CalculatedFieldParts {
  readonly declared: EntityRegistry
  readonly namesOf: ManyNamesLookup
  readonly clock: Clock
  readonly random: Random
  /** Undefined where fields do not run. */
  readonly calculation: Pick<Calculation, 'newsOf'> | undefined
}

/** Of one entity or profile. */
const MAX_RULES = 100

export type CalculatedFieldDraft = DraftOf<typeof calculatedFields.columns>

/** Absent and empty members do not matter. */
export interface CalculatedFieldFilter {
  readonly entityId?: string | undefined
  readonly types?: readonly CalculatedFieldType[] | undefined
  readonly entityType?: EntityType | undefined
  readonly entityIds?: readonly string[] | undefined
  readonly names?: readonly string[] | undefined
}

/** The type is in front. */
const SORTS = { entityType: 'entity' } as const

export class CalculatedFields {
  private readonly parts: CalculatedFieldParts
  private readonly service: EntityService<typeof calculatedFields.columns>

  constructor(parts: CalculatedFieldParts) {
    this.parts = parts
    this.service = parts.declared.of(calculatedFields)
  }

  /** Throws `ITEM_NOT_FOUND`. */
  async get(id: string): Promise<CalculatedField> {
    const field = await this.service.findAnywhere(id)
    if (field === undefined) throw itemNotFound(entityId('CALCULATED_FIELD', id))
    return field
  }

  /** One of type ALARM. Throws `NOT_A_RULE`. */
  async getRule(id: string): Promise<CalculatedField> {
    const field = await this.service.findAnywhere(id)
    if (field?.type !== 'ALARM') throw CalculatedFieldErrors.NOT_A_RULE()
    return field
  }

  async saveByUser(principal: Principal, draft: CalculatedFieldDraft): Promise<CalculatedField> {
    const tenantId = this.service.tenantOf(principal)
    const limits = await this.limitsOf(tenantId)
    if (isJsonObject(draft.configuration)) checkLimits(configurationOf(draft.configuration), limits)
    if (draft.id === undefined) await this.requireRoom(tenantId, draft, limits)
    const now = this.parts.clock.now()
    const debugSettings = debugSettingsOf(draft.debugSettings ?? null, now, limits.maxDebugModeDurationMinutes)
    // In one transaction: a field of attributes alone may have no other message that makes its entities begin.
    const joined = (saved: CalculatedField): Promise<readonly Joined[]> => {
      const news = this.parts.calculation?.newsOf(saved)
      return Promise.resolve(news === undefined ? [] : [{ statements: [], news }])
    }
    return this.service.saveByUser(principal, { ...draft, debugSettings }, { joined })
  }

  deleteByUser(principal: Principal, id: string): Promise<void> {
    return this.service.deleteByUser(principal, id)
  }

  page(principal: Principal, filter: CalculatedFieldFilter, query: PageQuery): Promise<Page<CalculatedField>> {
    const where = conditions(this.service.tenantOf(principal), filter)
    return this.service.pageWhere({ where, query, sort: SORTS })
  }

  pageOfNames(principal: Principal, type: CalculatedFieldType, query: PageQuery): Promise<Page<string>> {
    return this.service.pageOfNames(conditions(this.service.tenantOf(principal), { types: [type] }), query)
  }

  /** Names of the entities that they are about, by id. */
  async namesOf(principal: Principal, fields: readonly CalculatedField[]): Promise<ReadonlyMap<string, string>> {
    const entities = fields.flatMap(({ entityId: entity }): EntityId[] => (entity === null ? [] : [entity]))
    const names = await this.parts.namesOf(this.service.tenantOf(principal), entities)
    return new Map([...names].map(([id, { name }]) => [id, name]))
  }

  test(principal: Principal, test: ScriptTest): JsonObject {
    return { ...testScript(test, this.service.tenantOf(principal), this.parts) }
  }

  /** The profile's limit is of fields; alarm rules are as many as a device profile of old could have. */
  private async requireRoom(tenantId: string, draft: CalculatedFieldDraft, limits: TenantLimits): Promise<void> {
    const ownerId = draft.entityId?.id ?? ''
    const most = limits.maxCalculatedFieldsPerEntity
    const isRule = draft.type === 'ALARM'
    if (!isRule && most <= 0) return
    const rules = await this.service.count(tenantId, { ownerId, type: 'ALARM' })
    if (isRule && rules >= MAX_RULES) throw CalculatedFieldErrors.TOO_MANY_RULES({ limit: MAX_RULES })
    if (!isRule && (await this.service.count(tenantId, { ownerId })) - rules >= most)
      throw CalculatedFieldErrors.TOO_MANY_FIELDS()
  }

  private async limitsOf(tenantId: string): Promise<TenantLimits> {
    const { declared } = this.parts
    const tenant = await declared.of(tenants).findAnywhere(tenantId)
    const profileId = tenant?.tenantProfileId
    const profile =
      typeof profileId === 'string' ? await declared.of(tenantProfiles).find(SYSTEM_TENANT, profileId) : undefined
    return profile?.profileData.limits ?? DEFAULT_LIMITS
  }
}

function conditions(tenantId: string, filter: CalculatedFieldFilter): readonly Condition[] {
  const { entityId: id, types = [], entityType, entityIds = [], names = [] } = filter
  return [
    { column: 'tenant_id', is: tenantId },
    ...(id === undefined ? [] : [{ column: 'owner_id', is: id }]),
    ...(types.length === 0 ? [] : [{ column: 'type', in: types }]),
    ...(entityType === undefined ? [] : [{ column: 'owner_type', is: entityType }]),
    ...(entityIds.length === 0 ? [] : [{ column: 'owner_id', in: entityIds }]),
    ...(names.length === 0 ? [] : [{ column: 'name', in: names }]),
  ]
}

/** What the tenant's profile allows of a configuration; 0 is no limit. */
function checkLimits(read: Configuration, limits: TenantLimits): void {
  const atMost = (member: string, value: number | null | undefined, name: CountName): void => {
    const limit = limits[name]
    if (limit > 0 && (value ?? 0) > limit) throw CalculatedFieldErrors.ABOVE_LIMIT({ member, limit })
  }
  const atLeast = (member: string, value: number | null | undefined, name: CountName): void => {
    const limit = limits[name]
    if (value !== null && value !== undefined && value < limit)
      throw CalculatedFieldErrors.BELOW_LIMIT({ member, limit })
  }
  const named = argumentsOf(read)
  const most = limits.maxArgumentsPerCF
  if (most > 0 && Object.keys(named).length > most) throw CalculatedFieldErrors.TOO_MANY_ARGUMENTS()
  for (const [name, { limit, refDynamicSourceConfiguration: source }] of Object.entries(named)) {
    atMost(`arguments.${name}.limit`, limit, 'maxDataPointsPerRollingArg')
    if (source?.type === 'RELATION_PATH_QUERY')
      atMost(`arguments.${name}.levels`, source.levels.length, 'maxRelationLevelPerCfArgument')
  }
  if (read.type === 'GEOFENCING')
    for (const [name, { refDynamicSourceConfiguration: source }] of Object.entries(read.zoneGroups))
      if (source?.type === 'RELATION_PATH_QUERY')
        atMost(`zoneGroups.${name}.levels`, source.levels.length, 'maxRelationLevelPerCfArgument')
  if (read.type === 'GEOFENCING' || read.type === 'RELATED_ENTITIES_AGGREGATION')
    atLeast('scheduledUpdateInterval', read.scheduledUpdateInterval, 'minAllowedScheduledUpdateIntervalInSecForCF')
  if (read.type === 'RELATED_ENTITIES_AGGREGATION')
    atLeast('deduplicationIntervalInSec', read.deduplicationIntervalInSec, 'minAllowedDeduplicationIntervalInSecForCF')
  if (read.type === 'ENTITY_AGGREGATION')
    atLeast('interval.durationSec', read.interval.durationSec, 'minAllowedAggregationIntervalInSecForCF')
}
