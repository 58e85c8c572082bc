/** Alarm queries as clients send them, over REST and WebSocket alike. Source: `rest-api.md` 7.6. */
import { z } from 'zod'
import { isUuid } from '../model/entity-id.ts'
import type { JsonObject } from '../model/json.ts'
import type { AlarmData } from '../services/alarms/alarm-query-service.ts'
import type { AlarmCountQuery, AlarmDataQuery } from '../model/alarm-query.ts'
import { flagsOfList, SEARCH_STATUSES, SEVERITIES } from '../services/entities/alarm.ts'
import {
  countMembers,
  countQueryOf,
  dataMembers,
  dataQueryOf,
  filled,
  latestJson,
  number,
  pageMembers,
  pageOf,
} from './entity-query.ts'

const MAX_NAMES = 1_000

/** Of a time with a fraction, which clients compute, the whole milliseconds. */
const time = number
  .transform(Math.trunc)
  .refine(Number.isSafeInteger, 'a whole number is expected')
  .nullish()
  .transform((value) => (value === undefined || value === null || value <= 0 ? undefined : value))
const assignee = z
  .object({
    id: z
      .string()
      .refine(isUuid, 'a UUID is expected')
      .transform((text) => text.toLowerCase()),
  })
  .nullish()
const searchMembers = {
  startTs: time,
  endTs: time,
  timeWindow: time,
  typeList: z.array(z.string()).max(MAX_NAMES).nullish(),
  statusList: z.array(z.enum(SEARCH_STATUSES)).nullish(),
  severityList: z.array(z.enum(SEVERITIES)).nullish(),
  searchPropagatedAlarms: z.boolean().nullish(),
  assigneeId: assignee,
}
type SearchMembers = z.output<z.ZodObject<typeof searchMembers>>

export const alarmCountQueryBody = z.object({ ...countMembers, ...searchMembers })
export const alarmDataQueryBody = z.object({
  ...dataMembers,
  pageLink: z.object({ ...pageMembers, ...searchMembers }).nullish(),
  alarmFields: dataMembers.entityFields,
})

/** Throws ROOT_MISSING. */
export function alarmCountQueryOf(body: z.output<typeof alarmCountQueryBody>): AlarmCountQuery {
  const { entityFilter } = body
  const query =
    entityFilter === undefined || entityFilter === null
      ? { filter: undefined, keyFilters: body.keyFilters ?? [], operation: body.keyFiltersOperation ?? 'AND' }
      : countQueryOf(body)
  return { ...query, ...searchOf(body) }
}

/** Throws as `dataQueryOf` does. */
export function alarmDataQueryOf(body: z.output<typeof alarmDataQueryBody>): AlarmDataQuery {
  const { pageLink } = body
  const query = dataQueryOf({ ...body, pageLink: pageLink && pageOf(pageLink) })
  const alarmFields = (body.alarmFields ?? []).filter(({ type }) => type === 'ALARM_FIELD').map(({ key }) => key)
  return { ...query, ...searchOf(pageLink ?? {}), alarmFields: [...new Set(alarmFields)] }
}

/** Empty lists say as little as absent ones. */
function searchOf(members: Partial<SearchMembers>): Omit<AlarmCountQuery, 'filter' | 'keyFilters' | 'operation'> {
  const { startTs, endTs, timeWindow, typeList, statusList, severityList, searchPropagatedAlarms, assigneeId } = members
  return {
    ...{ startTs, endTs, timeWindowMs: timeWindow },
    types: filled(typeList),
    severities: filled(severityList),
    ...flagsOfList(statusList ?? []),
    assigneeId: assigneeId?.id,
    isPropagated: searchPropagatedAlarms ?? false,
  }
}

export function alarmDataJson({ info, entity, latest }: AlarmData): JsonObject {
  return { ...info, entityId: { ...entity }, latest: latestJson(latest) }
}
