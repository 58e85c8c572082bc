/** A value in the notation of `TbelRunner.java`, so that types are compared too. */
import { LongDecimal, WholeDouble, javaDouble } from '../../../model/json.ts'
import { MapEntry, textOf, ValueSet, isMap, rankOf, type Value } from '../../../engine/script/tbel/values.ts'
import { mapEntries } from '../../../engine/script/tbel/maps.ts'

export function typedText(value: Value): string {
  if (value === null) return 'N'
  if (typeof value === 'boolean') return value ? 'B1' : 'B0'
  if (typeof value === 'string') return `S${quoted(value)}`
  const rank = rankOf(value)
  if (rank === 109) return `D${javaDouble(Number(value))}`
  if (rank !== 0) return `${rank === 106 ? 'I' : 'L'}${textOf(value)}`
  if (Array.isArray(value)) return `[${value.map(typedText).join(',')}]`
  if (isMap(value))
    return `{${mapEntries(value)
      .map(([key, member]) => `${quoted(String(key))}:${typedText(member)}`)
      .join(',')}}`
  return `?${value instanceof ValueSet ? 'set' : value instanceof MapEntry ? 'entry' : value instanceof WholeDouble || value instanceof LongDecimal ? 'number' : 'date'}`
}

function quoted(text: string): string {
  const escaped = text.replace(/["\\]/g, '\\$&')
  return `"${escaped.replace(/[^ -~]/g, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`)}"`
}
