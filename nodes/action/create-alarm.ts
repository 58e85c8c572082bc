/** Raises an alarm of the originator, or says anew how it stands (`rule-nodes.md` 35). */
import { z } from 'zod'
import {
  NODE_ALARM_SEVERITIES,
  type NodeAlarm,
  type NodeAlarmDraft,
  type NodeAlarmSeverity,
} from '../../engine/rulechain/capabilities/alarms.ts'
import { ENTITY_TYPES } from '../../model/entity-id.ts'
import type { JsonValue } from '../../model/json.ts'
import type { Message } from '../../model/message.ts'
import { passesBy } from '../backfill.ts'
import { defineNode, orZero } from '../define-node.ts'
import { NodeErrors } from '../errors.ts'
import { pattern, type Pattern } from '../pattern.ts'
import { DETAILS_DEFAULTS, alarmMessage, detailsMembers, detailsScript, tellOfAlarm } from './alarm-details.ts'

const configurationSchema = z
  .looseObject({
    ...detailsMembers,
    severity: orZero(z.string(), '').meta({
      title: 'Severity',
      description: 'CRITICAL, MAJOR, MINOR, WARNING or INDETERMINATE; a pattern where it is dynamic.',
    }),
    dynamicSeverity: orZero(z.boolean(), false).meta({ title: 'Severity is a pattern' }),
    propagate: orZero(z.boolean(), false).meta({ title: 'Show it on related entities' }),
    propagateToOwner: orZero(z.boolean(), false).meta({ title: 'Show it on the owner' }),
    propagateToTenant: orZero(z.boolean(), false).meta({ title: 'Show it on the tenant' }),
    relationTypes: orZero(z.array(z.string()), []).meta({
      title: 'Relation types to show it along',
      description: 'None means all.',
    }),
    useMessageAlarmData: orZero(z.boolean(), false).meta({
      title: 'Take the alarm from the message',
      description: 'Type, severity, propagation and details stand in the body.',
    }),
    overwriteAlarmDetails: z.boolean().nullish().meta({
      title: 'Build its details by the script',
      description: 'Of an alarm taken from the message.',
    }),
  })
  .refine(
    ({ severity, dynamicSeverity, useMessageAlarmData }) =>
      dynamicSeverity || useMessageAlarmData || isSeverity(severity),
    { path: ['severity'], message: `one of ${NODE_ALARM_SEVERITIES.join(', ')} is expected` },
  )
type Configuration = z.output<typeof configurationSchema>

/** An alarm as a message's body holds it. */
const bodySchema = z.looseObject({
  type: z.string().min(1),
  severity: z.enum(NODE_ALARM_SEVERITIES),
  originator: z.looseObject({ entityType: z.enum(ENTITY_TYPES), id: z.string() }).nullish(),
  startTs: z.number().nullish(),
  endTs: z.number().nullish(),
  details: z.custom<JsonValue>().optional(),
  propagate: z.boolean().nullish(),
  propagateToOwner: z.boolean().nullish(),
  propagateToTenant: z.boolean().nullish(),
  propagateRelationTypes: z.array(z.string()).nullish(),
})

export const createAlarm = defineNode({
  type: 'org.thingsboard.rule.engine.action.TbCreateAlarmNode',
  name: 'create alarm',
  category: 'ACTION',
  relations: ['Created', 'Updated', 'False'],
  description:
    "Raises an alarm of the type, or updates the active one: severity, details, propagation, end. The message goes on as the alarm, and another one tells the originator's chain.",
  configuration: configurationSchema,
  defaults: {
    ...DETAILS_DEFAULTS,
    alarmType: 'General Alarm',
    severity: 'CRITICAL',
    dynamicSeverity: false,
    propagate: false,
    propagateToOwner: false,
    propagateToTenant: false,
    useMessageAlarmData: false,
    overwriteAlarmDetails: false,
    relationTypes: [],
  },
  examples: [
    {
      title: 'a severity that the message names wrongly',
      configuration: {
        ...{ alarmType: 'Hot', severity: '$[severity]', dynamicSeverity: true, scriptLang: 'TBEL' },
        alarmDetailsBuildTbel: 'return {};',
      },
      given: { data: '{"severity":"HUGE"}' },
      expect: { relations: ['Failure'] },
    },
    {
      title: 'a body that is no alarm',
      configuration: { useMessageAlarmData: true, scriptLang: 'TBEL', alarmDetailsBuildTbel: 'return {};' },
      given: { data: '{"temperature":20}' },
      expect: { relations: ['Failure'] },
    },
  ],
  uses: ['alarms', 'scripts'],
  effects: true,
  create: async (configuration, context) => {
    const script = await detailsScript(configuration, context)
    const typeOf = pattern(configuration.alarmType)
    const severityOf = pattern(configuration.severity)
    const { alarms } = context.services
    /** Where the script's result replaces what the message says. */
    const isScripted = !configuration.useMessageAlarmData || (configuration.overwriteAlarmDetails ?? true)
    return {
      handle: async (message, at) => {
        if (passesBy(message, configuration)) return 'False'
        const draft = configuration.useMessageAlarmData
          ? draftOfBody(message)
          : draftOf(message, configuration, typeOf(message), severity(message, severityOf))
        const raised = await alarms.createOrUpdate(draft, at.visit(), async (active) => {
          const details = isScripted ? await script.details(message, active?.details) : (draft.details ?? {})
          const now = context.clock.now()
          const times = timesOf(draft, active, configuration.useMessageAlarmData ? now : message.metadataTs(), now)
          return { ...draft, ...times, details }
        })
        if (raised === undefined) return 'False'
        const { alarm, result } = raised
        const isNew = result === 'created'
        await tellOfAlarm(message, isNew ? 'ENTITY_CREATED' : 'ENTITY_UPDATED', alarm, context)
        const told = alarmMessage(message, alarm, isNew ? 'isNewAlarm' : 'isExistingAlarm')
        return { message: told, relations: [isNew ? 'Created' : 'Updated'] }
      },
      close: () => script.close(),
    }
  },
})

function isSeverity(text: string): text is NodeAlarmSeverity {
  return NODE_ALARM_SEVERITIES.some((one) => one === text)
}

/** Throws `SEVERITY_INVALID`. */
function severity(message: Message, severityOf: Pattern): NodeAlarmSeverity {
  const text = severityOf(message)
  if (isSeverity(text)) return text
  throw NodeErrors.SEVERITY_INVALID({ severity: text, expected: NODE_ALARM_SEVERITIES.join(', ') })
}

function draftOf(
  { originator }: Message,
  { propagate, propagateToOwner, propagateToTenant, relationTypes }: Configuration,
  type: string,
  severityNow: NodeAlarmSeverity,
): NodeAlarmDraft {
  return {
    ...{ originator, type, severity: severityNow, propagate, propagateToOwner, propagateToTenant },
    propagateRelationTypes: relationTypes,
  }
}

/** Throws `ALARM_MALFORMED`. */
function draftOfBody(message: Message): NodeAlarmDraft {
  const parsed = bodySchema.safeParse(message.json())
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    throw NodeErrors.ALARM_MALFORMED({ member: issue?.path.join('.') ?? '', reason: issue?.message }, parsed.error)
  }
  const { type, originator, startTs, endTs, details, ...body } = parsed.data
  return {
    ...{ originator: originator ?? message.originator, type, severity: body.severity },
    ...(typeof startTs === 'number' && startTs > 0 ? { startTs } : {}),
    ...(typeof endTs === 'number' && endTs > 0 ? { endTs } : {}),
    details: details ?? {},
    propagate: body.propagate ?? false,
    propagateToOwner: body.propagateToOwner ?? false,
    propagateToTenant: body.propagateToTenant ?? false,
    propagateRelationTypes: body.propagateRelationTypes ?? [],
  }
}

/** A new one begins and ends at `newTs` unless its draft says when; one that is there keeps its start and lasts until now. */
function timesOf(
  { startTs, endTs }: NodeAlarmDraft,
  active: NodeAlarm | undefined,
  newTs: number,
  now: number,
): Pick<NodeAlarmDraft, 'startTs' | 'endTs'> {
  if (active !== undefined) return { startTs: active.startTs, endTs: now }
  const start = startTs ?? endTs ?? newTs
  return { startTs: start, endTs: endTs ?? start }
}
