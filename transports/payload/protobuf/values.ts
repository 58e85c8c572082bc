/** Typed values as messages (`device-api.md` 5.4). */
import { parseJson } from '../../../model/json.ts'
import type { Entry } from '../../../model/value.ts'
import type { StoredEntry } from '../../../engine/device/gateway.ts'
import { PayloadErrors } from '../errors.ts'
import { messageType, textOf, type Message, type MessageValue } from './message-type.ts'

export const VALUE = messageType({
  1: ['key', 'string'],
  2: ['type', 'enum'],
  3: ['bool_v', 'bool'],
  4: ['long_v', 'int64'],
  5: ['double_v', 'double'],
  6: ['string_v', 'string'],
  7: ['json_v', 'string'],
})
export const STORED_VALUE = messageType({ 1: ['ts', 'int64'], 2: ['kv', VALUE] })
/** Type number and field of a value. */
const VALUES = {
  BOOLEAN: [0, 'bool_v'],
  LONG: [1, 'long_v'],
  DOUBLE: [2, 'double_v'],
  STRING: [3, 'string_v'],
  JSON: [4, 'json_v'],
} as const satisfies Record<Entry['type'], readonly [number, string]>

/** What is stored without a known time has `now` (Unix ms). */
export function storedValue(entry: StoredEntry, now: number): Message {
  const [type, field] = VALUES[entry.type]
  const kv = new Map<string, MessageValue>([
    ['key', entry.key],
    ['type', type],
    [field, entry.value],
  ])
  return new Map<string, MessageValue>([
    ['ts', entry.lastUpdateTs ?? now],
    ['kv', kv],
  ])
}

/** Throws NOT_PROTOBUF where it has no key, a number that JSON has not, or another type; and what parsing JSON throws. */
export function entryOf(value: Message): Entry {
  const key = textOf(value, 'key')
  if (key === '') throw refused('a key is empty')
  switch (value.get('type') ?? VALUES.BOOLEAN[0]) {
    case VALUES.BOOLEAN[0]:
      return { key, type: 'BOOLEAN', value: value.get('bool_v') === true }
    case VALUES.LONG[0]:
      return { key, type: 'LONG', value: long(value.get('long_v')) }
    case VALUES.DOUBLE[0]: {
      const double = Number(value.get('double_v') ?? 0)
      if (!Number.isFinite(double)) throw refused('a value is no finite number')
      return { key, type: 'DOUBLE', value: double }
    }
    case VALUES.STRING[0]:
      return { key, type: 'STRING', value: textOf(value, 'string_v') }
    case VALUES.JSON[0]: {
      const text = textOf(value, 'json_v')
      parseJson(text)
      return { key, type: 'JSON', value: text }
    }
    default:
      throw refused('a value is of no known type')
  }
}

function long(value: MessageValue | undefined): number | bigint {
  if (typeof value !== 'bigint') return 0
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : value
}

function refused(reason: string): Error {
  return PayloadErrors.NOT_PROTOBUF({ reason })
}
