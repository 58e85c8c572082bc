/** What a script's value becomes, by what the script is for. Source: `rule-engine.md` 6.1. */
import { ScriptErrors } from '../errors.ts'
import { stringifyJson } from '../../../model/json.ts'
import { setMember } from '../../../model/members.ts'
import { mapEntries, mapGet, mapHas, type AnyMap } from './maps.ts'
import { isMap, textOf, toJson, typeName, type Value } from './values.ts'
import type { ScriptKind, ScriptResults, TransformedMessage } from '../script.ts'

/** Throws `SCRIPT_RESULT_TYPE`, `SCRIPT_RESULT_TOO_LARGE`. */
export type ResultConversion<Kind extends ScriptKind> = (value: Value, resultSize: number) => ScriptResults[Kind]

export const conversions: { readonly [Kind in ScriptKind]: ResultConversion<Kind> } = {
  filter: (value) => {
    if (typeof value === 'boolean') return value
    throw wrongType(value, 'boolean')
  },
  switch: toRelations,
  transform: toMessages,
  generate: (value, resultSize) => {
    if (isMap(value)) return toMessage(value, resultSize)
    throw wrongType(value, 'map')
  },
  log: (value, resultSize) => checkSize(typeof value === 'string' ? value : stringifyJson(toJson(value)), resultSize),
  json: (value, resultSize) => checkSize(stringifyJson(toJson(value)), resultSize),
}

function wrongType(value: Value, expected: string): Error {
  return ScriptErrors.SCRIPT_RESULT_TYPE({ actual: typeName(value), expected })
}

function checkSize(text: string, limit: number): string {
  if (text.length > limit) throw ScriptErrors.SCRIPT_RESULT_TOO_LARGE({ size: text.length, limit })
  return text
}

function toRelations(value: Value, resultSize: number): readonly string[] {
  if (typeof value === 'string') return [checkSize(value, resultSize)]
  if (!Array.isArray(value)) throw wrongType(value, 'string or list of strings')
  const relations = new Set<string>()
  let size = 0
  for (const item of value) {
    if (typeof item !== 'string') throw wrongType(item, 'string or list of strings')
    relations.add(item)
    size += item.length
  }
  if (size > resultSize) throw ScriptErrors.SCRIPT_RESULT_TOO_LARGE({ size, limit: resultSize })
  return [...relations]
}

function toMessages(value: Value, resultSize: number): readonly TransformedMessage[] {
  if (isMap(value)) return [toMessage(value, resultSize)]
  if (!Array.isArray(value)) throw wrongType(value, 'map or list of maps')
  return value.map((item) => {
    if (!isMap(item)) throw wrongType(item, 'map or list of maps')
    return toMessage(item, resultSize)
  })
}

/** A missing or null `msg`, and an absent or empty `msgType`, keep the original. */
function toMessage(map: AnyMap, resultSize: number): TransformedMessage {
  const message = mapGet(map, 'msg')
  const type = mapGet(map, 'msgType')
  const typeText = type === null ? '' : textOf(type)
  return {
    ...(message === null ? {} : { data: checkSize(stringifyJson(toJson(message)), resultSize) }),
    ...(mapHas(map, 'metadata') ? { metadata: toMetadata(mapGet(map, 'metadata'), resultSize) } : {}),
    ...(typeText === '' ? {} : { type: typeText }),
  }
}

/** Every value as its text, nulls dropped. */
function toMetadata(value: Value, resultSize: number): Record<string, string> {
  if (!isMap(value)) throw wrongType(value, 'map of metadata')
  const metadata: Record<string, string> = {}
  let size = 0
  for (const [key, member] of mapEntries(value)) {
    if (member === null) continue
    const text = textOf(member)
    size += text.length
    if (size > resultSize) throw ScriptErrors.SCRIPT_RESULT_TOO_LARGE({ size, limit: resultSize })
    setMember(metadata, String(key), text)
  }
  return metadata
}
