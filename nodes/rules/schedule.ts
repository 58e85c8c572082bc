/** When an alarm rule applies: always, on days and hours of a week, or as each day says, by the wall clock of a zone (`rule-engine.md` 7.2). */
import { z } from 'zod'
import { calendarOf, isZone } from '../../model/calendar.ts'
import { decimal } from '../../model/calculated-fields/arguments.ts'
import { isJsonObject, parseJson, type JsonObject, type JsonValue } from '../../model/json.ts'

const DAY_MS = 86_400_000
/** A week, and the day that a change of the clock may move. */
const DAYS_AHEAD = 8

const zone = z.string().refine(isZone, 'is no time zone')

const scheduleSchema = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('ANY_TIME') }),
  z.looseObject({
    type: z.literal('SPECIFIC_TIME'),
    timezone: zone,
    /** 1 is Monday. */
    daysOfWeek: z.array(decimal),
    /** Ms of the day. */
    startsOn: decimal,
    endsOn: decimal,
  }),
  z.looseObject({
    type: z.literal('CUSTOM'),
    timezone: zone,
    items: z.array(z.looseObject({ enabled: z.boolean(), dayOfWeek: decimal, startsOn: decimal, endsOn: decimal })),
  }),
])

/** Ms of the day. */
interface Hours {
  readonly startsOn: number
  readonly endsOn: number
}

export type Schedule =
  | { readonly type: 'ANY_TIME' }
  | ({ readonly type: 'SPECIFIC_TIME'; readonly timezone: string; readonly daysOfWeek: readonly number[] } & Hours)
  | {
      readonly type: 'CUSTOM'
      readonly timezone: string
      readonly items: readonly ({ readonly enabled: boolean; readonly dayOfWeek: number } & Hours)[]
    }

export const schedule: z.ZodType<Schedule> = scheduleSchema

/** One that an attribute holds as JSON; undefined where it is none of that type: the written one applies then. */
export function scheduleOfText(text: string, type: Schedule['type']): Schedule | undefined {
  const json = objectOf(text)
  const parsed = json && scheduleSchema.safeParse({ type, ...json })
  return parsed?.success === true && parsed.data.type === type ? parsed.data : undefined
}

/** One of any type: where the text names none its members tell; an empty object is always. Undefined where it is none. */
export function anyScheduleOfText(text: string): Schedule | undefined {
  const json = objectOf(text)
  if (json === undefined) return undefined
  const type =
    Object.keys(json).length === 0
      ? 'ANY_TIME'
      : (json['type'] ?? ('daysOfWeek' in json ? 'SPECIFIC_TIME' : 'items' in json ? 'CUSTOM' : undefined))
  const parsed = scheduleSchema.safeParse({ ...json, type })
  return parsed.success ? parsed.data : undefined
}

function objectOf(text: string): JsonObject | undefined {
  let json: JsonValue
  try {
    json = parseJson(text)
  } catch {
    // Whoever writes the attribute may write anything.
    return undefined
  }
  return isJsonObject(json) ? json : undefined
}

/** Whether it applies at `ts`, Unix ms. Throws a RangeError where the zone is unknown. */
export function isActive(when: Schedule, ts: number): boolean {
  if (when.type === 'ANY_TIME') return true
  const { weekday, msOfDay } = calendarOf(when.timezone).wallClock(ts)
  const hours = hoursOf(when, weekday)
  return hours !== undefined && isWithin(msOfDay, hours)
}

/** The next time after `ts` at which it may begin or cease to apply; undefined where it never does. */
export function nextChange(when: Schedule, ts: number): number | undefined {
  if (when.type === 'ANY_TIME') return undefined
  const calendar = calendarOf(when.timezone)
  let next: number | undefined
  for (let day = 0; day <= DAYS_AHEAD; day++) {
    const { weekday } = calendar.wallClock(calendar.moment(ts, day, 0))
    const hours = hoursOf(when, weekday)
    // A day also ends what the day before left open.
    const moments = hours === undefined ? [0] : [0, hours.startsOn, hours.endsOn === 0 ? DAY_MS : hours.endsOn]
    for (const moment of moments) {
      const at = calendar.moment(ts, day, moment)
      if (at > ts && (next === undefined || at < next) && isActive(when, at) !== isActive(when, at - 1)) next = at
    }
    if (next !== undefined) return next
  }
  return undefined
}

function hoursOf(when: Exclude<Schedule, { type: 'ANY_TIME' }>, weekday: number): Hours | undefined {
  if (when.type === 'SPECIFIC_TIME') return when.daysOfWeek.includes(weekday) ? when : undefined
  const item = when.items.find(({ dayOfWeek }) => dayOfWeek === weekday)
  return item?.enabled === true ? item : undefined
}

/** An end of 0 is that of the day; a start behind the end goes over midnight. */
function isWithin(ms: number, { startsOn, endsOn }: Hours): boolean {
  const end = endsOn === 0 ? DAY_MS : endsOn
  return startsOn <= end ? startsOn <= ms && ms < end : startsOn <= ms || ms < end
}
