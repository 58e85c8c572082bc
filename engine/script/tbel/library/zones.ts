/** Time zones by the platform's names: regions, `UTC`, `GMT+2`, `+02:00`. */
import { lruMap } from '../../../../model/lru-map.ts'
import { Fault } from '../fault.ts'

export interface Zone {
  readonly id: string
  /** Always the same offset: it has no names but its own. */
  readonly isFixed: boolean
  /** Milliseconds east of UTC at an instant. */
  offsetAt(time: number): number
}

const DAY = 86_400_000
const MINUTE = 60_000
const OFFSET = /^(?:UTC|GMT|UT)?([+-])(\d{1,2})(?::?(\d\d))?(?::?(\d\d))?$/
const known = lruMap<Zone>(100)

export const UTC: Zone = { id: 'UTC', isFixed: true, offsetAt: () => 0 }

/** Undefined where there is no such zone. */
export function findZone(id: string): Zone | undefined {
  if (id === 'Z' || id === 'UTC' || id === 'GMT' || id === 'UT') return id === 'UTC' ? UTC : { ...UTC, id }
  if (id.length > 100) return undefined
  const cached = known.get(id)
  if (cached !== undefined) return cached
  const zone = fixedZone(id) ?? regionZone(id)
  if (zone !== undefined) known.set(id, zone)
  return zone
}

export function zoneOf(id: string): Zone {
  const zone = findZone(id)
  if (zone === undefined) throw new Fault(`unknown time zone '${id.slice(0, 100)}'`)
  return zone
}

/** The offset a text such as `+02:00` names. */
export function offsetOfText(text: string): number | undefined {
  const match = OFFSET.exec(text)
  if (match === null) return undefined
  const [hours, minutes, seconds] = [2, 3, 4].map((group) => Number(match[group] ?? 0)) as [number, number, number]
  if (hours > 18 || minutes > 59 || seconds > 59) return undefined
  return (match[1] === '-' ? -1 : 1) * (hours * 60 + minutes) * MINUTE + (match[1] === '-' ? -1 : 1) * seconds * 1000
}

function fixedZone(id: string): Zone | undefined {
  const offset = offsetOfText(id)
  return offset === undefined ? undefined : { id: fixedId(id, offset), isFixed: true, offsetAt: () => offset }
}

/** `GMT+02:00` for `GMT+2`. */
function fixedId(id: string, offset: number): string {
  const minutes = Math.abs(offset) / MINUTE
  const pad = (value: number): string => String(Math.floor(value)).padStart(2, '0')
  const name = id.replace(/[+-].*$/, '')
  return offset === 0 ? name || 'Z' : `${name}${offset < 0 ? '-' : '+'}${pad(minutes / 60)}:${pad(minutes % 60)}`
}

function regionZone(id: string): Zone | undefined {
  let format: Intl.DateTimeFormat
  try {
    format = new Intl.DateTimeFormat('en-US', {
      ...{ timeZone: id, calendar: 'gregory', numberingSystem: 'latn', hourCycle: 'h23', era: 'short' },
      ...{ year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric', second: 'numeric' },
    })
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
  return { id, isFixed: false, offsetAt: (time) => localTime(format, time) - Math.floor(time / 1000) * 1000 }
}

function localTime(format: Intl.DateTimeFormat, time: number): number {
  const parts = new Map(format.formatToParts(time).map(({ type, value }) => [type, value]))
  const part = (type: Intl.DateTimeFormatPartTypes): number => Number(parts.get(type))
  const year = parts.get('era') === 'BC' ? 1 - part('year') : part('year')
  return utcTime(year, part('month'), part('day'), part('hour'), part('minute'), part('second'), 0)
}

/** As `Date.UTC`, with months from 1 and no years of two digits. */
export function utcTime(
  year: number,
  month: number,
  day: number,
  hour: number,
  minute: number,
  second: number,
  millisecond: number,
): number {
  const date = new Date(0)
  date.setUTCFullYear(year, month - 1, day)
  return date.setUTCHours(hour, minute, second, millisecond)
}

/** The instant of a local time: in a gap it moves on by the gap, of two it is the earlier. */
export function instantOf(local: number, zone: Zone): number {
  const before = zone.offsetAt(local - DAY)
  const after = zone.offsetAt(local + DAY)
  if (zone.offsetAt(local - before) === before) return local - before
  return zone.offsetAt(local - after) === after ? local - after : local - before
}
