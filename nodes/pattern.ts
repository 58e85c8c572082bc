/**
 * Texts of a configuration with places for what a message holds (`rule-engine.md` 6.7): `${key}` is metadata, `$[a.b]` a scalar of the
 * body, `${*}` and `$[*]` all of either as JSON. Metadata goes in first, and what it brings may name data; nothing else is read twice. A
 * place without a value stays as it is written.
 */
import { isJsonObject, stringifyJson } from '../model/json.ts'
import type { JsonObject, JsonValue } from '../model/json.ts'
import type { Message, Metadata } from '../model/message.ts'
import { NodeErrors } from './errors.ts'

/** Throws `PATTERN_BODY` where the body is no JSON, also for a text without places: one rule for every message of a node. */
export type Pattern = (message: Message) => string

type Escape = (value: string) => string

const asItIs: Escape = (value) => value
/** For a value between the quotes of a JSON text. */
const insideQuotes: Escape = (value) => JSON.stringify(value).slice(1, -1)

export function pattern(text: string): Pattern {
  return compile(text, asItIs)
}

/** A text that is JSON itself: what goes in is escaped, so that no value leaves its quotes. */
export function jsonPattern(text: string): Pattern {
  return compile(text, insideQuotes)
}

/** The texts in their order. */
export function patterns(texts: readonly string[]): (message: Message) => readonly string[] {
  const compiled = texts.map(pattern)
  return (message) => compiled.map((each) => each(message))
}

function compile(text: string, escape: Escape): Pattern {
  if (!text.includes('$')) {
    return (message) => {
      bodyOf(message)
      return text
    }
  }
  return (message) => withData(withMetadata(text, message.metadata, escape), bodyOf(message), escape)
}

function bodyOf(message: Message): JsonValue {
  try {
    return message.json()
  } catch (error) {
    throw NodeErrors.PATTERN_BODY({}, error)
  }
}

// Neither reaches over another opening, so that an unclosed one takes no time and hides no place behind it.
const METADATA_PLACE = /\$\{((?:(?!\$\{)[^}])*)\}/g
const DATA_PLACE = /\$\[((?:(?!\$\[)[^\]\n])*)\]/g

function withMetadata(text: string, metadata: Metadata, escape: Escape): string {
  return text.replace(METADATA_PLACE, (place: string, key: string) => {
    if (key === '*') return escape(stringifyJson({ ...metadata }))
    const value = Object.hasOwn(metadata, key) ? metadata[key] : undefined
    return value === undefined ? place : escape(value)
  })
}

function withData(text: string, body: JsonValue, escape: Escape): string {
  return text.replace(DATA_PLACE, (place: string, path: string) => {
    if (path === '*') return escape(stringifyJson(body))
    const value = isJsonObject(body) ? scalarAt(body, path) : undefined
    return value === undefined ? place : escape(value)
  })
}

function scalarAt(body: JsonObject, path: string): string | undefined {
  let value: JsonValue = body
  for (const key of path.split('.')) {
    if (!isJsonObject(value) || !Object.hasOwn(value, key)) return undefined
    value = value[key] ?? null
  }
  if (typeof value === 'string') return value
  return Array.isArray(value) || isJsonObject(value) ? undefined : stringifyJson(value)
}
