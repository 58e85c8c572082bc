/** When an alarm rule applies: always, on days and hours of a week, or as each day says, by the wall clock of a zone (`rule-engine.md` 7.2). */
import { z } from 'zod'
import { isJsonObject, parseJson, type JsonValue } from '../../model/json.ts'
import { decimal } from './rule-values.ts'

const DAY_MS = 86_400_000

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

export type Schedule = z.output<typeof scheduleSchema>
export const schedule: z.ZodType<Schedule> = scheduleSchema

/** One that an attribute holds as JSON; undefined where it is none of that type: the written one applies then. */
export function scheduleOfText(text: string, type: Schedule['type']): Schedule | undefined {
  let json: JsonValue
  try {
    json = parseJson(text)
  } catch {
    // Whoever writes the attribute may write anything.
    return undefined
  }
  if (!isJsonObject(json)) return undefined
  const parsed = scheduleSchema.safeParse({ type, ...json })
  return parsed.success && parsed.data.type === type ? parsed.data : undefined
}

/** Whether it applies at `ts`, Unix ms. */
export function isActive(when: Schedule, ts: number): boolean {
  if (when.type === 'ANY_TIME') return true
  const { day, ms } = wallClock(when.timezone, ts)
  if (when.type === 'SPECIFIC_TIME') return when.daysOfWeek.includes(day) && isWithin(ms, when)
  const item = when.items.find(({ dayOfWeek }) => dayOfWeek === day)
  return item?.enabled === true && isWithin(ms, item)
}

/** An end of 0 is that of the day; a start behind the end goes over midnight. */
function isWithin(ms: number, { startsOn, endsOn }: { readonly startsOn: number; readonly endsOn: number }): boolean {
  const end = endsOn === 0 ? DAY_MS : endsOn
  return startsOn <= end ? startsOn <= ms && ms < end : startsOn <= ms || ms < end
}

function isZone(name: string): boolean {
  try {
    clockOf(name)
    return true
  } catch {
    // Intl says by a RangeError that it does not know the zone.
    return false
  }
}

/** By zone: of these there are some hundreds. */
const clocks = new Map<string, Intl.DateTimeFormat>()

function clockOf(timeZone: string): Intl.DateTimeFormat {
  const known = clocks.get(timeZone)
  if (known !== undefined) return known
  const made = new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    weekday: 'short',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  })
  clocks.set(timeZone, made)
  return made
}

const DAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun']

function wallClock(timeZone: string, ts: number): { readonly day: number; readonly ms: number } {
  const parts: Record<string, string> = {}
  for (const { type, value } of clockOf(timeZone).formatToParts(ts)) parts[type] = value
  const seconds = (Number(parts['hour']) * 60 + Number(parts['minute'])) * 60 + Number(parts['second'])
  const fraction = ((ts % 1000) + 1000) % 1000
  return { day: DAYS.indexOf(parts['weekday'] ?? '') + 1, ms: seconds * 1000 + fraction }
}
