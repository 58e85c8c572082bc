/** The calls of the route table, with parameters that fit what they declare. */
import assert from 'node:assert/strict'
import type { DeclaredRoute } from '../../api/rest/declared/route.ts'
import type { DeclaredRow, RestRoute } from '../../api/rest/rows.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../model/json.ts'

/** One call: what shares method and path with another is a call of its own. */
export interface Walked {
  readonly route: DeclaredRow
  readonly declared: DeclaredRoute
}

/** None where everybody may call. */
export function callsOf(route: RestRoute): readonly Walked[] {
  if (route.authorities === 'public') return []
  return route.declared.map((declared) => ({ route, declared }))
}

/** Parameters of a declared call: those that it must have, with values that fit. */
export function declaredQuery({ query, onlyWith = [] }: DeclaredRoute, ids: Readonly<Record<string, string>>): string {
  const values = new URLSearchParams()
  for (const [name, { parameters }] of Object.entries(query)) {
    for (const { name: own, isRequired, schema } of parameters) {
      const parameter = own === '' ? name : own
      if (isRequired || onlyWith.includes(parameter)) values.set(parameter, valueOf(parameter, schema, ids))
    }
  }
  return values.toString()
}

function valueOf(parameter: string, schema: JsonObject, ids: Readonly<Record<string, string>>): string {
  const { type, enum: choices, items } = schema
  if (isTypeName(parameter)) return 'DEVICE'
  const id = ids[parameter.replace(/Ids$/, 'Id')]
  if (id !== undefined && (!Array.isArray(choices) || choices.includes(id))) return id
  if (parameter === 'ids' || (isJsonObject(items) && items['format'] === 'uuid')) return ids['deviceId'] ?? ''
  const ofItems = isJsonObject(items) ? items['enum'] : undefined
  const [choice] = [choices, ofItems].find((words) => Array.isArray(words)) ?? []
  if (typeof choice === 'string') return choice
  if (type === 'integer') return parameter === 'pageSize' ? '100' : String(Number(schema['minimum'] ?? 0))
  return type === 'boolean' ? 'false' : `secret ${parameter.replace(/(Name|Title)$/, '')}`
}

/** Parameters of paths that are no ids: nobody's own. */
const WORDS: Readonly<Record<string, string>> = {
  scope: 'SERVER_SCOPE',
  ttl: '0',
  timeout: '0',
  componentDescriptorClazz: 'test.Node',
  componentType: 'ACTION',
  key: 'general',
  messageId: '44444444-4444-4444-8444-444444444444',
}

/** The path of a call; throws where the world has no such thing. */
export function pathOf({ route, declared }: Walked, ids: Readonly<Record<string, string>>): string {
  return route.pattern.replace(/:(\w+)/g, (_whole, name: string) => {
    if (isTypeName(name)) return 'DEVICE'
    const word = WORDS[name] ?? ids[name] ?? declared.words[name]?.[0]
    if (word === undefined || word === '') throw new Error(`an id for :${name} is missing: add one to rest-world.ts`)
    return encodeURIComponent(word)
  })
}

/** The example as it is sent; nothing where the call takes no body. */
export function bodyOfDeclared(declared: DeclaredRoute, ids: Readonly<Record<string, string>>): RequestInit {
  if (declared.body === undefined) return {}
  assert.ok(declared.example !== undefined, `${declared.method} ${declared.path} takes a body and declares no example`)
  const example = declared.example(ids)
  return { body: declared.bodyIs === 'form' ? formBody(example) : JSON.stringify(example) }
}

/** Texts as they are, files as `{ text, fileName }` or `{ base64, fileName }`. */
function formBody(example: JsonValue): FormData {
  const form = new FormData()
  assert.ok(isJsonObject(example))
  for (const [name, value] of Object.entries(example)) {
    if (typeof value === 'string') form.append(name, value)
    else if (isJsonObject(value)) form.append(name, new Blob([bytesIn(value)]), textIn(value, 'fileName'))
  }
  return form
}

function textIn(members: JsonObject, name: string): string {
  const value = members[name]
  return typeof value === 'string' ? value : ''
}

/** `entityType`, `fromType`: beside an id, which is a device's. */
export function isTypeName(parameter: string): boolean {
  return /^(entity|from|to)Type$/.test(parameter)
}

function bytesIn(file: JsonObject): Buffer<ArrayBuffer> {
  return 'base64' in file ? Buffer.from(textIn(file, 'base64'), 'base64') : Buffer.from(textIn(file, 'text'))
}
