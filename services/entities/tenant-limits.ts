/**
 * What a tenant may use: the members of a tenant profile's configuration, with what they are where a save leaves them out. 0, or no
 * text, means no limit. Source: `rest-api.md` 11.
 */
import { parseRates } from '../../model/rates.ts'
import { z } from 'zod'
import { defineErrors } from '../../model/errors.ts'
import {
  isJsonObject,
  parseJson,
  stringifyJson,
  WholeDouble,
  type JsonObject,
  type JsonValue,
} from '../../model/json.ts'
import type { Column } from './column.ts'

export const LimitErrors = defineErrors('limits', {
  NEGATIVE: {
    kind: 'invalid',
    status: 400,
    text: 'Validation error: {member} must be greater than or equal to 0',
    restCode: 31,
  },
  NOT_POSITIVE: {
    kind: 'invalid',
    status: 400,
    text: 'Validation error: {member} must be greater than 0',
    restCode: 31,
  },
  RATE: {
    kind: 'invalid',
    status: 400,
    text: "Validation error: {member} has an invalid rate limit '{value}': 'capacity:seconds', several joined by commas, is expected",
    restCode: 31,
  },
  ISOLATED: {
    kind: 'invalid',
    status: 400,
    text: 'Queues of a tenant profile are not supported: all tenants share the queues of the system',
    restCode: 31,
  },
})

type Kind = 'count' | 'rate' | 'share' | 'flag'

const KINDS = {
  maxDevices: 'count',
  maxAssets: 'count',
  maxCustomers: 'count',
  maxUsers: 'count',
  maxDashboards: 'count',
  maxRuleChains: 'count',
  maxEdges: 'count',
  maxResourcesInBytes: 'count',
  maxOtaPackagesInBytes: 'count',
  maxResourceSize: 'count',
  transportTenantMsgRateLimit: 'rate',
  transportTenantTelemetryMsgRateLimit: 'rate',
  transportTenantTelemetryDataPointsRateLimit: 'rate',
  transportDeviceMsgRateLimit: 'rate',
  transportDeviceTelemetryMsgRateLimit: 'rate',
  transportDeviceTelemetryDataPointsRateLimit: 'rate',
  transportGatewayMsgRateLimit: 'rate',
  transportGatewayTelemetryMsgRateLimit: 'rate',
  transportGatewayTelemetryDataPointsRateLimit: 'rate',
  transportGatewayDeviceMsgRateLimit: 'rate',
  transportGatewayDeviceTelemetryMsgRateLimit: 'rate',
  transportGatewayDeviceTelemetryDataPointsRateLimit: 'rate',
  tenantEntityExportRateLimit: 'rate',
  tenantEntityImportRateLimit: 'rate',
  tenantNotificationRequestsRateLimit: 'rate',
  tenantNotificationRequestsPerRuleRateLimit: 'rate',
  maxTransportMessages: 'count',
  maxTransportDataPoints: 'count',
  maxREExecutions: 'count',
  maxJSExecutions: 'count',
  maxTbelExecutions: 'count',
  maxDPStorageDays: 'count',
  maxRuleNodeExecutionsPerMessage: 'count',
  maxDebugModeDurationMinutes: 'count',
  maxEmails: 'count',
  smsEnabled: 'flag',
  maxSms: 'count',
  maxCreatedAlarms: 'count',
  tenantServerRestLimitsConfiguration: 'rate',
  customerServerRestLimitsConfiguration: 'rate',
  maxWsSessionsPerTenant: 'count',
  maxWsSessionsPerCustomer: 'count',
  maxWsSessionsPerRegularUser: 'count',
  maxWsSessionsPerPublicUser: 'count',
  wsMsgQueueLimitPerSession: 'count',
  maxWsSubscriptionsPerTenant: 'count',
  maxWsSubscriptionsPerCustomer: 'count',
  maxWsSubscriptionsPerRegularUser: 'count',
  maxWsSubscriptionsPerPublicUser: 'count',
  wsUpdatesPerSessionRateLimit: 'rate',
  cassandraReadQueryTenantCoreRateLimits: 'rate',
  cassandraWriteQueryTenantCoreRateLimits: 'rate',
  cassandraReadQueryTenantRuleEngineRateLimits: 'rate',
  cassandraWriteQueryTenantRuleEngineRateLimits: 'rate',
  edgeEventRateLimits: 'rate',
  edgeEventRateLimitsPerEdge: 'rate',
  edgeUplinkMessagesRateLimits: 'rate',
  edgeUplinkMessagesRateLimitsPerEdge: 'rate',
  defaultStorageTtlDays: 'count',
  alarmsTtlDays: 'count',
  rpcTtlDays: 'count',
  queueStatsTtlDays: 'count',
  ruleEngineExceptionsTtlDays: 'count',
  warnThreshold: 'share',
  maxCalculatedFieldsPerEntity: 'count',
  maxArgumentsPerCF: 'count',
  minAllowedScheduledUpdateIntervalInSecForCF: 'count',
  maxRelationLevelPerCfArgument: 'count',
  maxRelatedEntitiesToReturnPerCfArgument: 'count',
  maxDataPointsPerRollingArg: 'count',
  maxStateSizeInKBytes: 'count',
  maxSingleValueArgumentSizeInKBytes: 'count',
  minAllowedDeduplicationIntervalInSecForCF: 'count',
  minAllowedAggregationIntervalInSecForCF: 'count',
  intermediateAggregationIntervalInSecForCF: 'count',
  cfReevaluationCheckInterval: 'count',
  alarmsReevaluationInterval: 'count',
} as const satisfies Readonly<Record<string, Kind>>

interface ValueOfKind {
  readonly count: number
  readonly rate: string | null
  readonly share: number
  readonly flag: boolean | null
}

export type LimitName = keyof typeof KINDS
export type TenantLimits = { readonly [Name in LimitName]: ValueOfKind[(typeof KINDS)[Name]] }
type NameOfKind<Wanted extends Kind> = {
  [Name in LimitName]: (typeof KINDS)[Name] extends Wanted ? Name : never
}[LimitName]
/** Those that count something. */
export type CountName = NameOfKind<'count'>
export type RateName = NameOfKind<'rate'>

export interface ProfileData {
  readonly limits: TenantLimits
}

const NOTHING: Readonly<Record<Kind, number | null>> = { count: 0, rate: null, share: 0, flag: null }

/** Of a configuration that is sent without them. */
const LEFT_OUT: Partial<TenantLimits> = {
  intermediateAggregationIntervalInSecForCF: 300,
  cfReevaluationCheckInterval: 60,
  alarmsReevaluationInterval: 60,
}

/** Of a profile that is saved without any configuration. */
const WITHOUT_CONFIGURATION: Partial<TenantLimits> = {
  ...LEFT_OUT,
  maxCalculatedFieldsPerEntity: 5,
  maxArgumentsPerCF: 10,
  minAllowedScheduledUpdateIntervalInSecForCF: 10,
  maxRelationLevelPerCfArgument: 2,
  maxRelatedEntitiesToReturnPerCfArgument: 100,
  maxDataPointsPerRollingArg: 1000,
  maxStateSizeInKBytes: 32,
  maxSingleValueArgumentSizeInKBytes: 2,
  minAllowedDeduplicationIntervalInSecForCF: 10,
  minAllowedAggregationIntervalInSecForCF: 60,
}

/** The reference refuses a profile without them. */
const POSITIVE: readonly CountName[] = [
  'maxDataPointsPerRollingArg',
  'maxRelationLevelPerCfArgument',
  'maxRelatedEntitiesToReturnPerCfArgument',
]

export const DEFAULT_LIMITS: TenantLimits = limitsOf(WITHOUT_CONFIGURATION)

const numberInput = z.union([z.number(), z.instanceof(WholeDouble)]).transform(Number)
const INPUTS: Readonly<Record<Kind, z.ZodType>> = {
  count: numberInput.refine(Number.isSafeInteger, 'a whole number is expected').nullish(),
  rate: z.string().nullish(),
  share: numberInput.nullish(),
  flag: z.boolean().nullish(),
}

const configurationInput = z
  .object({
    type: z.literal('DEFAULT').optional(),
    ...Object.fromEntries(Object.entries(KINDS).map(([member, kind]) => [member, INPUTS[kind]])),
  })
  .transform((members) => limitsOf({ ...LEFT_OUT, ...withoutNothing(members) }))

const profileDataInput = z
  .object({ configuration: configurationInput.nullish(), queueConfiguration: z.array(z.unknown()).nullish() })
  .transform(({ configuration, queueConfiguration }): ProfileData => {
    if (queueConfiguration !== null && queueConfiguration !== undefined && queueConfiguration.length > 0)
      throw LimitErrors.ISOLATED()
    return { limits: configuration ?? DEFAULT_LIMITS }
  })

/** The member `profileData` of a tenant profile. */
export function profileData(): Column<ProfileData> {
  return {
    column: undefined,
    stored: { type: 'text', isNullable: false },
    absent: { limits: DEFAULT_LIMITS },
    input: profileDataInput.nullish().transform((value) => value ?? undefined),
    shape: {
      type: 'object',
      properties: {
        configuration: { type: 'object', properties: { type: { const: 'DEFAULT' } } },
        queueConfiguration: {},
      },
      required: ['configuration'],
    },
    isSearched: false,
    isSorted: false,
    toColumn: ({ limits }) => stringifyJson({ ...limits }),
    // Limits that a later version brings are at their default in rows of before.
    ofColumn: (text) => ({ limits: storedLimits(String(text)) }),
    toJson: ({ limits }) => ({ configuration: { type: 'DEFAULT', ...limits }, queueConfiguration: null }),
    check: ({ limits }) => checkLimits(limits),
  }
}

function limitsOf(members: Readonly<Record<string, unknown>>): TenantLimits {
  const entries = Object.entries(KINDS).map(([member, kind]) => [member, members[member] ?? NOTHING[kind]])
  return Object.fromEntries(entries) as TenantLimits
}

function withoutNothing(members: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null && value !== undefined))
}

/** Few profiles, read with each save of what they limit. */
const PARSED = new Map<string, TenantLimits>()
const MAX_PARSED = 100

function storedLimits(text: string): TenantLimits {
  let limits = PARSED.get(text)
  if (limits === undefined) {
    limits = Object.freeze(limitsOf({ ...DEFAULT_LIMITS, ...storedMembers(parseJson(text)) }))
    if (PARSED.size >= MAX_PARSED) PARSED.clear()
    PARSED.set(text, limits)
  }
  return limits
}

function storedMembers(value: JsonValue): JsonObject {
  return isJsonObject(value) ? value : {}
}

function checkLimits(limits: TenantLimits): void {
  const members: Readonly<Record<string, number | string | boolean | null>> = limits
  for (const [member, kind] of Object.entries(KINDS)) {
    const value = members[member] ?? null
    if (kind === 'rate' && typeof value === 'string' && parseRates(value) === undefined)
      throw LimitErrors.RATE({ member, value })
    if (typeof value === 'number' && value < 0) throw LimitErrors.NEGATIVE({ member })
  }
  for (const member of POSITIVE) if (limits[member] === 0) throw LimitErrors.NOT_POSITIVE({ member })
}
