/** The features of the reference, what of them is counted under which keys, and what a tenant's limits make of it. Source: `rule-engine.md` 9.4. */
import { FEATURE, USAGE, type Feature, type UsageCounter } from '../../engine/usage/usage.ts'
import type { CountName, TenantLimits } from '../entities/tenant-limits.ts'

export { USAGE, type UsageCounter }

export const USAGE_STATES = ['ENABLED', 'WARNING', 'DISABLED'] as const
export type UsageState = (typeof USAGE_STATES)[number]
export type FeatureStates = Readonly<Record<Feature, UsageState>>

export interface CounterForm {
  readonly counter: UsageCounter
  readonly feature: Feature
  /** Of its series; with `Hourly` that of each hour. */
  readonly key: string
  readonly limitKey: string
  readonly limit: CountName
  /** What one of it is, in words. */
  readonly unit: string
}

export const COUNTER_FORMS: readonly CounterForm[] = [
  {
    ...{ counter: USAGE.transportMessages, feature: 'TRANSPORT', limit: 'maxTransportMessages', unit: 'message' },
    ...{ key: 'transportMsgCount', limitKey: 'transportMsgLimit' },
  },
  {
    ...{ counter: USAGE.transportDataPoints, feature: 'TRANSPORT', limit: 'maxTransportDataPoints' },
    ...{ key: 'transportDataPointsCount', limitKey: 'transportDataPointsLimit', unit: 'data point' },
  },
  {
    ...{ counter: USAGE.storageDataPointDays, feature: 'DB', limit: 'maxDPStorageDays', unit: 'data point' },
    ...{ key: 'storageDataPointsCount', limitKey: 'storageDataPointsLimit' },
  },
  {
    ...{ counter: USAGE.ruleEngineExecutions, feature: 'RE', limit: 'maxREExecutions' },
    ...{ key: 'ruleEngineExecutionCount', limitKey: 'ruleEngineExecutionLimit', unit: 'Rule Engine execution' },
  },
  {
    ...{ counter: USAGE.jsExecutions, feature: 'JS', limit: 'maxJSExecutions', unit: 'JavaScript execution' },
    ...{ key: 'jsExecutionCount', limitKey: 'jsExecutionLimit' },
  },
  {
    ...{ counter: USAGE.tbelExecutions, feature: 'TBEL', limit: 'maxTbelExecutions', unit: 'Tbel execution' },
    ...{ key: 'tbelExecutionCount', limitKey: 'tbelExecutionLimit' },
  },
  {
    ...{ counter: USAGE.emails, feature: 'EMAIL', limit: 'maxEmails', unit: 'email message' },
    ...{ key: 'emailCount', limitKey: 'emailLimit' },
  },
  {
    ...{ counter: USAGE.sms, feature: 'SMS', limit: 'maxSms', unit: 'SMS message' },
    ...{ key: 'smsCount', limitKey: 'smsLimit' },
  },
  {
    ...{ counter: USAGE.createdAlarms, feature: 'ALARM', limit: 'maxCreatedAlarms', unit: 'alarm' },
    ...{ key: 'createdAlarmsCount', limitKey: 'createdAlarmsLimit' },
  },
]

export interface FeatureForm {
  readonly feature: Feature
  /** The member of the state entity. */
  readonly member: StateMember
  /** Of the series that says it. */
  readonly key: string
  readonly label: string
}

export type StateMember =
  | 'transportState'
  | 'dbStorageState'
  | 'reExecState'
  | 'jsExecState'
  | 'tbelExecState'
  | 'emailExecState'
  | 'smsExecState'
  | 'alarmExecState'

export const FEATURE_FORMS: readonly FeatureForm[] = [
  { feature: 'TRANSPORT', member: 'transportState', key: 'transportApiState', label: 'Device API' },
  { feature: 'DB', member: 'dbStorageState', key: 'dbApiState', label: 'Telemetry persistence' },
  { feature: 'RE', member: 'reExecState', key: 'ruleEngineApiState', label: 'Rule Engine execution' },
  { feature: 'JS', member: 'jsExecState', key: 'jsExecutionApiState', label: 'JavaScript functions execution' },
  { feature: 'TBEL', member: 'tbelExecState', key: 'tbelExecutionApiState', label: 'Tbel functions execution' },
  { feature: 'EMAIL', member: 'emailExecState', key: 'emailApiState', label: 'Email messages' },
  { feature: 'SMS', member: 'smsExecState', key: 'smsApiState', label: 'SMS messages' },
  { feature: 'ALARM', member: 'alarmExecState', key: 'alarmApiState', label: 'Alarms' },
]

/** When the month began, Unix ms: months are UTC's, as the reference's. */
export function monthOf(now: number): number {
  const date = new Date(now)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth())
}

/** Of what the limit is, from which use on it is warned. */
const WARN_THRESHOLD = 0.8

/** `used`: by the counters' places. */
export function statesOf(used: readonly number[], limits: TenantLimits): FeatureStates {
  const states: Record<Feature, UsageState> = {
    ...{ TRANSPORT: 'ENABLED', DB: 'ENABLED', RE: 'ENABLED', JS: 'ENABLED', TBEL: 'ENABLED' },
    ...{ EMAIL: 'ENABLED', SMS: limits.smsEnabled === false ? 'DISABLED' : 'ENABLED', ALARM: 'ENABLED' },
  }
  for (const form of COUNTER_FORMS) {
    const state = stateOf(used[form.counter] ?? 0, limits[form.limit], limits.warnThreshold)
    if (USAGE_STATES.indexOf(state) > USAGE_STATES.indexOf(states[form.feature])) states[form.feature] = state
  }
  return states
}

export function stateOf(used: number, limit: number, warnThreshold: number): UsageState {
  const warned = limit * (warnThreshold > 0 ? warnThreshold : WARN_THRESHOLD)
  if (limit === 0 || used === 0 || used < warned) return 'ENABLED'
  return used < limit ? 'WARNING' : 'DISABLED'
}

/** Bits of `FEATURE`. */
export function disabledBits(states: FeatureStates): number {
  let bits = 0
  for (const { feature } of FEATURE_FORMS) if (states[feature] === 'DISABLED') bits |= FEATURE[feature]
  return bits
}
