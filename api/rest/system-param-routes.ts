/** What front ends ask of the system before they show anything: its switches and bounds, and what the tenant uses of it. Source: `rest-api.md` 13.2. */
import type { EntityType } from '../../model/entity-id.ts'
import type { JsonObject } from '../../model/json.ts'
import { USAGE, type UsageCounter } from '../../services/usage/features.ts'
import type { LimitsOfTenants } from '../../services/tenants/limits.ts'
import { DEFAULT_LIMITS, type CountName } from '../../services/entities/tenant-limits.ts'
import type { UsageStates } from '../../services/usage/usage-states.ts'
import type { People } from '../../services/users/people.ts'
import { tenantOf } from './authorize.ts'
import { rawAnswer, type RouteMaker } from './declared/declare.ts'
import type { DeclaredRoute } from './declared/route.ts'
import { EVERYBODY, TENANT, textAnswer } from './route.ts'

/** Points that one widget may ask for. */
const MAX_DATAPOINTS = 50_000

const COUNTED: readonly (readonly [member: string, max: CountName, type: EntityType])[] = [
  ['devices', 'maxDevices', 'DEVICE'],
  ['assets', 'maxAssets', 'ASSET'],
  ['customers', 'maxCustomers', 'CUSTOMER'],
  ['users', 'maxUsers', 'USER'],
  ['dashboards', 'maxDashboards', 'DASHBOARD'],
]
/** What is counted by the month; the names are not always alike. There are no edges here. */
const USED: readonly (readonly [member: string, max: string, limit: CountName, counter?: UsageCounter])[] = [
  ['edges', 'maxEdges', 'maxEdges'],
  ['transportMessages', 'maxTransportMessages', 'maxTransportMessages', USAGE.transportMessages],
  ['jsExecutions', 'maxJsExecutions', 'maxJSExecutions', USAGE.jsExecutions],
  ['tbelExecutions', 'maxTbelExecutions', 'maxTbelExecutions', USAGE.tbelExecutions],
  ['emails', 'maxEmails', 'maxEmails', USAGE.emails],
  ['sms', 'maxSms', 'maxSms', USAGE.sms],
  ['alarms', 'maxAlarms', 'maxCreatedAlarms', USAGE.createdAlarms],
]
const USAGE_MEMBERS = [...COUNTED, ...USED].flatMap(([member, max]) => [member, max])

export interface SystemParamRoutesParts {
  readonly make: RouteMaker
  readonly limits: LimitsOfTenants
  readonly usage: Pick<UsageStates, 'usedBy'>
  readonly people: Pick<People, 'settings'>
  readonly baseUrl: () => string
}

export function systemParamRoutes({
  make,
  limits,
  usage,
  people,
  baseUrl,
}: SystemParamRoutesParts): readonly DeclaredRoute[] {
  const common = { method: 'GET', targets: {}, query: {}, body: undefined } as const
  return [
    make.route({
      ...common,
      path: '/api/system/params',
      about: 'Switches and bounds of the system, for front ends.',
      authorities: EVERYBODY,
      isAboutTheCaller: true,
      answer: {
        type: 'object',
        properties: { userTokenAccessEnabled: { type: 'boolean' }, maxDatapointsLimit: { type: 'integer' } },
      },
      handle: async ({ principal }) => {
        const { tenantId } = principal
        const allowed = tenantId === null ? DEFAULT_LIMITS : await limits.of(tenantId)
        const { openedMenuSections = [] } = await people.settings.find(principal, 'GENERAL')
        return {
          userTokenAccessEnabled: principal.authority !== 'CUSTOMER_USER',
          allowedDashboardIds: [],
          edgesSupportEnabled: false,
          hasRepository: false,
          tbelEnabled: true,
          persistDeviceStateToTelemetry: false,
          userSettings: { openedMenuSections },
          maxDatapointsLimit: MAX_DATAPOINTS,
          maxResourceSize: allowed.maxResourceSize,
          mobileQrEnabled: false,
          maxDebugModeDurationMinutes: allowed.maxDebugModeDurationMinutes,
          ruleChainDebugPerTenantLimitsConfiguration: null,
          calculatedFieldDebugPerTenantLimitsConfiguration: null,
          maxArgumentsPerCF: allowed.maxArgumentsPerCF,
          maxDataPointsPerRollingArg: allowed.maxDataPointsPerRollingArg,
          minAllowedScheduledUpdateIntervalInSecForCF: allowed.minAllowedScheduledUpdateIntervalInSecForCF,
          maxRelationLevelPerCfArgument: allowed.maxRelationLevelPerCfArgument,
          maxRelatedEntitiesToReturnPerCfArgument: allowed.maxRelatedEntitiesToReturnPerCfArgument,
          minAllowedDeduplicationIntervalInSecForCF: allowed.minAllowedDeduplicationIntervalInSecForCF,
          minAllowedAggregationIntervalInSecForCF: allowed.minAllowedAggregationIntervalInSecForCF,
          intermediateAggregationIntervalInSecForCF: allowed.intermediateAggregationIntervalInSecForCF,
          trendzSettings: { enabled: false, baseUrl: null, apiKey: null },
          allowKeyFiltersOrConditions: true,
          nullsOrderStrategy: 'default',
          edqsEnabled: false,
          iotHubBaseUrl: null,
        }
      },
    }),
    make.route({
      ...common,
      path: '/api/uiSettings/helpBaseUrl',
      about: 'Where front ends look for help pages: this server itself, which has none of other hosts.',
      authorities: EVERYBODY,
      isAboutTheCaller: true,
      answer: { type: 'string' },
      handle: async () => rawAnswer(textAnswer(baseUrl())),
    }),
    make.route({
      ...common,
      path: '/api/usage',
      about: 'How much the tenant has, and how much its profile allows.',
      authorities: TENANT,
      answer: {
        type: 'object',
        properties: Object.fromEntries(USAGE_MEMBERS.map((member) => [member, { type: 'integer' }])),
        required: USAGE_MEMBERS,
      },
      handle: async ({ principal }) => {
        const tenantId = tenantOf(principal)
        const allowed = await limits.of(tenantId)
        const told: JsonObject = { smsEnabled: allowed.smsEnabled ?? true }
        for (const [member, max, type] of COUNTED) {
          told[member] = await limits.count(tenantId, type)
          told[max] = allowed[max]
        }
        const used = await usage.usedBy(tenantId)
        for (const [member, max, limit, counter] of USED) {
          told[member] = counter === undefined ? 0 : (used[counter] ?? 0)
          told[max] = allowed[limit]
        }
        return told
      },
    }),
  ]
}
