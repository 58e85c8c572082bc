/**
 * Texts of a configuration with places for what a message holds (`rule-engine.md` 6.7): `${key}` is metadata, `$[a.b]` a scalar of the
 * body, `${*}` and `$[*]` all of either as JSON. Metadata goes in first, and what it brings may name data; nothing else is read twice. A
 * place without a value stays as it is written.
 */
import { isJsonObject, stringifyJson } from '../model/json.ts'
import type { JsonObject, JsonValue } from '../model/json.ts'
import type { Message, Metadata } from '../model/message.ts'
import { NodeErrors } from './errors.ts'

/** Throws `PATTERN_BODY` where the body is no JSON, also for a text without places: one rule for every message of a node; `PATTERN_SIZE`. */
export type Pattern = (message: Message) => string

/** Characters that go in, over all places of a call: a short text with many places for all of a message would hold the thread and the memory. */
const MAX_CHARACTERS = 2 ** 20

type Escape = (value: string) => string
type Filler = (message: Message, room: Room) => string

const asItIs: Escape = (value) => value
/** For a value between the quotes of a JSON text. */
const insideQuotes: Escape = (value) => JSON.stringify(value).slice(1, -1)

export function pattern(text: string): Pattern {
  const fill = compile(text, asItIs)
  return (message) => fill(message, new Room())
}

/** A text that is JSON itself: what goes in is escaped, so that no value leaves its quotes. */
export function jsonPattern(text: string): Pattern {
  const fill = compile(text, insideQuotes)
  return (message) => fill(message, new Room())
}

/** The texts in their order; they share the bound. */
export function patterns(texts: readonly string[]): (message: Message) => readonly string[] {
  const fillers = texts.map((text) => compile(text, asItIs))
  return (message) => {
    const room = new Room()
    return fillers.map((fill) => fill(message, room))
  }
}

class Room {
  private left = MAX_CHARACTERS

  take(text: string): string {
    this.left -= text.length
    if (this.left < 0) throw NodeErrors.PATTERN_SIZE({ limit: MAX_CHARACTERS })
    return text
  }
}

function compile(text: string, escape: Escape): Filler {
  if (!text.includes('$')) {
    return (message) => {
      bodyOf(message)
      return text
    }
  }
  return (message, room) => {
    const put: Escape = (value) => room.take(escape(value))
    return withData(withMetadata(text, message.metadata, put), bodyOf(message), put)
  }
}

function bodyOf(message: Message): JsonValue {
  try {
    return message.json()
  } catch (error) {
    throw NodeErrors.PATTERN_BODY({}, error)
  }
}

/** Metadata and bodies as JSON: a node fills several texts from one message. */
const wholeTexts = new WeakMap<object, string>()

function wholeText(of: object, value: JsonValue): string {
  const known = wholeTexts.get(of)
  if (known !== undefined) return known
  const text = stringifyJson(value)
  wholeTexts.set(of, text)
  return text
}

// Neither reaches over another opening, so that an unclosed one takes no time and hides no place behind it.
const METADATA_PLACE = /\$\{((?:(?!\$\{)[^}])*)\}/g
const DATA_PLACE = /\$\[((?:(?!\$\[)[^\]\n])*)\]/g

function withMetadata(text: string, metadata: Metadata, put: Escape): string {
  return text.replace(METADATA_PLACE, (place: string, key: string) => {
    if (key === '*') return put(wholeText(metadata, { ...metadata }))
    const value = Object.hasOwn(metadata, key) ? metadata[key] : undefined
    return value === undefined ? place : put(value)
  })
}

function withData(text: string, body: JsonValue, put: Escape): string {
  return text.replace(DATA_PLACE, (place: string, path: string) => {
    if (path === '*')
      return put(isJsonObject(body) || Array.isArray(body) ? wholeText(body, body) : stringifyJson(body))
    const value = isJsonObject(body) ? scalarAt(body, path) : undefined
    return value === undefined ? place : put(value)
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
