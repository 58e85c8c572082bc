/** What the series of a tenant's use hang on, and which features it may use. Made by the engine, no user saves one. Source: `rule-engine.md` 9.4. */
import { EntityStoreErrors } from '../../storage/entities/errors.ts'
import { FEATURE_FORMS, USAGE_STATES, type FeatureStates, type StateMember } from '../usage/features.ts'
import { choice, integer, internal, madeName } from './column.ts'
import { defineEntity, type RecordOf } from './define.ts'

const state = () => choice(USAGE_STATES, 'ENABLED')

export const apiUsageStates = defineEntity({
  type: 'API_USAGE_STATE',
  label: 'API usage state',
  // Queries show the tenant's.
  name: 'name',
  table: {
    name: 'api_usage_state',
    version: 1,
    indexes: [
      { members: ['cycleTs'], isSystemWide: true },
      { members: ['disabledFeatures'], isSystemWide: true },
    ],
  },
  columns: {
    name: internal(madeName()),
    transportState: state(),
    dbStorageState: state(),
    reExecState: state(),
    jsExecState: state(),
    tbelExecState: state(),
    emailExecState: state(),
    smsExecState: state(),
    alarmExecState: state(),
    /** The month that its counts are of, Unix ms. */
    cycleTs: internal(integer(0)),
    /** Bits: who starts looks for those that have some. */
    disabledFeatures: internal(integer(0)),
    /** The limits that its series tell. */
    limits: internal(madeName()),
  },
  unique: [
    {
      members: [],
      otherwise: () => EntityStoreErrors.NAME_TAKEN({ entity: 'API usage state', property: 'tenantId' }),
    },
  ],
  lacks: ['externalId'],
  example: () => ({}),
  permissions: { TENANT_ADMIN: ['READ', 'READ_TELEMETRY', 'READ_ATTRIBUTES'] },
})

/** What a new one has beside its month. */
export const NEW_STATE = { name: 'API usage state' } as const

export type ApiUsageState = RecordOf<typeof apiUsageStates.columns>

export function featureStatesOf(record: Readonly<Record<StateMember, FeatureStates['DB']>>): FeatureStates {
  const states = FEATURE_FORMS.map(({ feature, member }) => [feature, record[member]] as const)
  return Object.fromEntries(states) as FeatureStates
}

export function membersOf(states: FeatureStates): Readonly<Record<StateMember, FeatureStates['DB']>> {
  const members = FEATURE_FORMS.map(({ feature, member }) => [member, states[feature]] as const)
  return Object.fromEntries(members) as Record<StateMember, FeatureStates['DB']>
}
