/** TypeScript types of JSON schemas. */
import type { JsonObject, JsonValue } from '../../model/json.ts'
import { listOf, members, objectOf } from './description.ts'

/** Where a value stands: a body may be less than all that the server takes, an answer may be all that it gives. */
export type Place = 'answer' | 'body' | 'form'

export interface Style {
  readonly place: Place
  /** Before names of schemas, where they are another file's. */
  readonly prefix: '' | 'Api.'
}

const REFERENCE = '#/components/schemas/'
/** What would change the type in a way that is not written here. */
const UNKNOWN_KEYWORDS = ['allOf', 'not', 'if', '$defs', 'prefixItems', 'patternProperties']
const PLAIN_TYPES: Readonly<Record<string, string>> = {
  string: 'string',
  integer: 'number',
  number: 'number',
  boolean: 'boolean',
  null: 'null',
}

/** Throws on a schema that it can not say as a type. */
export function typeOf(schema: JsonObject, style: Style): string {
  const types = new Set(alternativesOf(schema, style))
  // Anything at all, beside others, stands in a body for forms that only this server's own code can send.
  const isWhole = style.place === 'answer' || [...types].every((type) => type === 'unknown' || type === 'null')
  if (types.has('unknown') && isWhole) return 'unknown'
  types.delete('unknown')
  return types.size === 0 ? 'never' : [...types].join(' | ')
}

function alternativesOf(schema: JsonObject, style: Style): readonly string[] {
  for (const keyword of UNKNOWN_KEYWORDS)
    if (keyword in schema) throw new Error(`the generator does not know '${keyword}': ${JSON.stringify(schema)}`)
  const { $ref, enum: choices, type } = schema
  const alternatives = schema['anyOf'] ?? schema['oneOf']
  if ($ref !== undefined) return [style.prefix + nameOf($ref)]
  if ('const' in schema) return [JSON.stringify(schema['const'])]
  if (choices !== undefined) return listOf(choices).map((choice) => JSON.stringify(choice))
  if (alternatives !== undefined) return listOf(alternatives).flatMap((one) => alternativesOf(objectOf(one), style))
  if (Array.isArray(type)) return type.flatMap((one) => alternativesOf({ ...schema, type: one }, style))
  return [plainType(schema, style)]
}

function plainType(schema: JsonObject, style: Style): string {
  const { type, format, items } = schema
  if (type === 'object') return objectType(schema, style)
  if (type === 'array') return `readonly (${typeOf(objectOf(items ?? {}), style)})[]`
  if (type === undefined) return style.place === 'form' ? 'Blob' : 'unknown'
  if (format === 'binary') return 'Blob'
  const plain = typeof type === 'string' ? PLAIN_TYPES[type] : undefined
  if (plain === undefined) throw new Error(`the generator does not know the type ${JSON.stringify(type)}`)
  return plain
}

function objectType(schema: JsonObject, style: Style): string {
  const { properties, additionalProperties } = schema
  const rest =
    additionalProperties === undefined || typeof additionalProperties === 'boolean'
      ? 'unknown'
      : typeOf(objectOf(additionalProperties), style)
  const known = properties === undefined ? [] : members(properties)
  if (known.length === 0)
    return additionalProperties === false ? 'Readonly<Record<string, never>>' : `Readonly<Record<string, ${rest}>>`
  const required = new Set<JsonValue>(schema['required'] === undefined ? [] : listOf(schema['required']))
  const lines = known.map(([name, member]) => memberLine(name, objectOf(member), required.has(name), style))
  // Of other members than these an answer says nothing; a body says so where it takes them.
  const isOpen = style.place !== 'answer' && additionalProperties !== undefined && additionalProperties !== false
  return `{ ${[...lines, ...(isOpen ? ['readonly [member: string]: unknown'] : [])].join('; ')} }`
}

function memberLine(name: string, schema: JsonObject, isRequired: boolean, style: Style): string {
  const type = typeOf(schema, style)
  if (isRequired) return `readonly ${propertyName(name)}: ${type}`
  return `readonly ${propertyName(name)}?: ${style.place === 'answer' ? type : orUndefined(type)}`
}

/** So that a member may be given as undefined too. */
export function orUndefined(type: string): string {
  return type === 'unknown' ? type : `${type} | undefined`
}

export function propertyName(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name)
}

function nameOf(reference: JsonValue): string {
  if (typeof reference !== 'string' || !reference.startsWith(REFERENCE))
    throw new Error(`a reference leads elsewhere: ${JSON.stringify(reference)}`)
  return reference.slice(REFERENCE.length)
}
