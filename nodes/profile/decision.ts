/** What is to be done with an alarm, as it is stored until it is done, and the doing of it: a second time changes nothing more. */
import { z } from 'zod'
import {
  NODE_ALARM_SEVERITIES,
  type AlarmVisit,
  type NodeAlarm,
  type NodeAlarms,
  type NodeAlarmSeverity,
} from '../../engine/rulechain/capabilities/alarms.ts'
import { stringifyJson, type JsonObject } from '../../model/json.ts'
import type { EntityId } from '../../model/entity-id.ts'
import type { Emission } from '../../engine/rulechain/node.ts'
import type { Message } from '../../model/message.ts'
import { withMetadata } from '../body.ts'
import { alarmDetails } from '../rules/alarm-details.ts'
import type { AlarmDefinition, AlarmRule } from './alarm-rule.ts'
import type { AlarmResult } from './rule-state.ts'
import type { RuleValues } from './rule-values.ts'

export const decisionSchema = z.object({
  does: z.enum(['raise', 'clear']),
  /** Of the rules, and of the alarm. */
  id: z.string(),
  type: z.string(),
  severity: z.enum(NODE_ALARM_SEVERITIES),
  startTs: z.number(),
  /** Null where the rule says nothing of them: they stay. */
  details: z.record(z.string(), z.string()).nullable(),
  propagate: z.boolean(),
  propagateToOwner: z.boolean(),
  propagateToTenant: z.boolean(),
  propagateRelationTypes: z.array(z.string()),
  /** What the rule had counted, for the message's metadata. */
  counted: z.record(z.string(), z.string()),
})
export type Decision = z.output<typeof decisionSchema>

/** `ts`: of the event that decided it, Unix ms. */
export function decisionOf(
  alarm: AlarmDefinition,
  { does, severity, rule, count }: AlarmResult,
  values: RuleValues,
  ts: number,
  now: number,
): Decision {
  const { id, type, propagate, propagateToOwner, propagateToTenant, propagateRelationTypes } = alarm
  return {
    ...{ does, id, type, severity, startTs: ts <= 0 || ts > now ? now : ts },
    details: detailsOf(rule, values),
    ...{ propagate, propagateToOwner, propagateToTenant, propagateRelationTypes: [...propagateRelationTypes] },
    counted:
      rule.spec.type === 'REPEATING'
        ? { alarmConditionRepeats: String(count.count) }
        : rule.spec.type === 'DURATION'
          ? { alarmConditionDuration: String(count.durationMs) }
          : {},
  }
}

function detailsOf({ details, dashboardId, filters }: AlarmRule, values: RuleValues): Record<string, string> | null {
  const known = filters.flatMap(({ key, constant }) => {
    const value = key.type === 'CONSTANT' ? constant : values.own(key)
    return value === undefined ? [] : [[key.key, value] as const]
  })
  return alarmDetails(details, dashboardId, known)
}

/** How the alarm stands then, and what is told of it: nothing where somebody else was before. */
export interface Carried {
  readonly active: { readonly severity: NodeAlarmSeverity; readonly id: string } | undefined
  readonly told: Emission | undefined
}

/** `cause`: the message that goes on as the alarm. `visit`: of this decision alone. */
export async function carryOut(
  decision: Decision,
  originator: EntityId,
  cause: Message,
  alarms: NodeAlarms,
  visit: AlarmVisit,
  now: number,
): Promise<Carried> {
  const { does, type, severity, startTs, details } = decision
  if (does === 'clear') {
    const cleared = await alarms.clear({ originator, type }, visit, () => ({ details: details ?? undefined }))
    const told = cleared && messageOf(cause, cleared, decision, ['isClearedAlarm'])
    return { active: undefined, told: told && { message: told, relations: ['Alarm Cleared'] } }
  }
  const { propagate, propagateToOwner, propagateToTenant, propagateRelationTypes } = decision
  const found: { higher?: Carried['active'] } = {}
  const raised = await alarms.createOrUpdate({ originator, type }, visit, (before) => {
    if (before !== undefined && rank(before.severity) < rank(severity)) {
      found.higher = { severity: before.severity, id: before.id }
      return undefined
    }
    return {
      ...{ severity, propagate, propagateToOwner, propagateToTenant, propagateRelationTypes },
      startTs: before?.startTs ?? startTs,
      endTs: before === undefined ? startTs : now,
      details: details ?? before?.details ?? {},
    }
  })
  if (raised === undefined) return { active: found.higher, told: undefined }
  const { alarm, result } = raised
  const [relation, ...marks] = TOLD[result]
  const message = messageOf(cause, alarm, decision, marks)
  return { active: { severity: alarm.severity, id: alarm.id }, told: { message, relations: [relation] } }
}

const TOLD = {
  created: ['Alarm Created', 'isNewAlarm'],
  updated: ['Alarm Updated', 'isExistingAlarm'],
  'severity updated': ['Alarm Severity Updated', 'isExistingAlarm', 'isSeverityUpdated'],
} as const

function rank(severity: NodeAlarmSeverity): number {
  return NODE_ALARM_SEVERITIES.indexOf(severity)
}

function messageOf(cause: Message, { json }: NodeAlarm, { counted }: Decision, marks: readonly string[]): Message {
  const added = [...Object.entries(counted), ...marks.map((mark) => [mark, 'true'] as const)]
  return withMetadata(cause, added).with({ type: 'ALARM', data: stringifyJson(json) }, { json })
}

/** As an output that is stored: the message with the decision for its body. */
export function asMessage(decision: Decision, cause: Message): Message {
  const json: JsonObject = decision
  return cause.with({ data: stringifyJson(json) }, { json })
}
