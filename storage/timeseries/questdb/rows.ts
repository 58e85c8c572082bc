/**
 * Points as rows of QuestDB: which columns hold which value, and the text of the line protocol. No value is lost: the least LONG is
 * QuestDB's null and is read back as such, what no DOUBLE column holds has a kind of its own,
 * and texts are escaped as those in PostgreSQL are.
 */
import type { DataPoint, TypedValue } from '../../../model/value.ts'
import { longValue } from '../../../model/value.ts'
import { fromPostgresText, toPostgresText } from '../../postgres/text.ts'
import type { PointsWrite } from '../store.ts'
import type { LineWriter } from './line-writer.ts'
import { shardOf } from './shards.ts'

/** Codes in the column `kind`: never change one, add new ones. */
export const KIND = {
  /** A point that was deleted. */
  DELETED: -1,
  FALSE: 0,
  TRUE: 1,
  LONG: 2,
  DOUBLE: 3,
  STRING: 4,
  JSON: 5,
  NOT_A_NUMBER: 6,
  INFINITY: 7,
  MINUS_INFINITY: 8,
} as const

/** QuestDB holds times from 1970 to the end of 9999 (microseconds in 64 bits, none before 1970). */
export const MIN_TS = 0
export const MAX_TS = 253_402_300_799_999
const MAX_DATE = 8.64e15
const LONG_MIN = -(2n ** 63n)

/** True where QuestDB itself can hold the time. */
export function isInRange(ts: number): boolean {
  return ts >= MIN_TS && ts <= MAX_TS
}

/** A time in range, as a literal of SQL. */
export function isoOf(ts: number): string {
  return `'${new Date(ts).toISOString()}'`
}

/** Of the rows of one series: `entityId` is checked to be a UUID, `key` the number of its key. */
export function conditionOf(entityId: string, key: number): string {
  return `${entityCondition(entityId)} and key = ${key}`
}

/** Of the rows of all its series. */
export function entityCondition(entityId: string): string {
  return `shard = '${shardOf(entityId)}' and entity = '${entityId}'`
}

export function kindOf({ type, value }: TypedValue): number {
  switch (type) {
    case 'BOOLEAN':
      return value ? KIND.TRUE : KIND.FALSE
    case 'LONG':
      return KIND.LONG
    case 'DOUBLE':
      if (Number.isFinite(value)) return KIND.DOUBLE
      return Number.isNaN(value) ? KIND.NOT_A_NUMBER : value > 0 ? KIND.INFINITY : KIND.MINUS_INFINITY
    case 'STRING':
      return KIND.STRING
    case 'JSON':
      return KIND.JSON
  }
}

/**
 * The value of a row whose number is not that of a DOUBLE or a LONG; the text of a LONG is its digits. Throws a RangeError for a kind that
 * this version does not know.
 */
export function valueOf(kind: number, text: string | null): TypedValue {
  switch (kind) {
    case KIND.FALSE:
    case KIND.TRUE:
      return { type: 'BOOLEAN', value: kind === KIND.TRUE }
    case KIND.LONG:
      return { type: 'LONG', value: longValue(text === null ? LONG_MIN : BigInt(text)) }
    case KIND.STRING:
    case KIND.JSON:
      return { type: kind === KIND.STRING ? 'STRING' : 'JSON', value: fromPostgresText(text ?? '') }
    case KIND.DOUBLE:
    case KIND.NOT_A_NUMBER:
      return { type: 'DOUBLE', value: NaN }
    case KIND.INFINITY:
      return { type: 'DOUBLE', value: Infinity }
    case KIND.MINUS_INFINITY:
      return { type: 'DOUBLE', value: -Infinity }
    default:
      throw new RangeError(`value kind ${kind}`)
  }
}

const TEXT_SPECIAL = /["\\\n\r]/

/** What the lines of a group have in common. */
export interface LineSettings {
  /** Numbers of the key dictionary. */
  readonly keys: { get(key: string): number | undefined }
  /** Of the newest deletion that the write has seen. */
  readonly version: number
  /** From when on a time to live counts, Unix ms. */
  readonly now: number
}

/** Writes points as lines of the line protocol (version 1 with times in microseconds; a double's shortest text is exact). */
export class RowEncoder {
  private readonly start: string

  constructor(table: string) {
    this.start = `${table},shard=`
  }

  /** Appends the lines of those points that QuestDB can hold. The keys of all points have numbers. */
  append(lines: LineWriter, write: PointsWrite, { keys, version, now }: LineSettings): void {
    let end = version > 0 ? `,version=${version}i ` : ' '
    const expires = expiryOf(write, now)
    if (expires !== null) end = `,expires=${expires}i${end}`
    let start = 0
    let startBytes = 0
    for (const point of write.points) {
      if (!isInRange(point.ts)) continue
      if (startBytes > 0) lines.repeat(start, startBytes)
      else {
        start = lines.length
        this.begin(lines, write.entityId)
        startBytes = lines.length - start
      }
      lines.whole(numberOf(keys, point.key))
      lines.ascii('i,kind=')
      lines.whole(kindOf(point))
      lines.ascii('i')
      appendColumn(lines, point)
      lines.ascii(end)
      lines.whole(point.ts)
      lines.ascii('000t\n')
    }
  }

  private begin(lines: LineWriter, entityId: string): void {
    lines.ascii(this.start)
    lines.whole(shardOf(entityId))
    lines.ascii(' entity="')
    lines.text(entityId)
    lines.ascii('",key=')
  }
}

function numberOf(keys: LineSettings['keys'], key: string): number {
  const number = keys.get(key)
  if (number === undefined) throw new RangeError(`the key ${key} has no number`)
  return number
}

/** Unix ms from which on the points of a write are gone, null for never. */
export function expiryOf({ ttlSeconds }: PointsWrite, now: number): number | null {
  return ttlSeconds > 0 ? Math.min(now + ttlSeconds * 1000, MAX_DATE) : null
}

function appendColumn(lines: LineWriter, point: DataPoint): void {
  switch (point.type) {
    case 'BOOLEAN':
      return
    case 'LONG':
      lines.ascii(',long_v=')
      if (typeof point.value === 'number' && point.value >= 0) lines.whole(point.value)
      else lines.ascii(String(point.value))
      lines.ascii('i')
      return
    case 'DOUBLE':
      if (!Number.isFinite(point.value)) return
      lines.ascii(',dbl_v=')
      // The text of -0 is 0.
      lines.ascii(Object.is(point.value, -0) ? '-0.0' : String(point.value))
      return
    default:
      lines.ascii(',text_v="')
      lines.text(escapeText(toPostgresText(point.value)))
      lines.ascii('"')
  }
}

function escapeText(text: string): string {
  return TEXT_SPECIAL.test(text) ? text.replace(/["\\\n\r]/g, '\\$&') : text
}
