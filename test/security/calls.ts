/** The calls of the route table, with parameters that fit what they declare. */
import { isDeclared } from '../../api/rest/declared/table.ts'
import type { DeclaredRoute } from '../../api/rest/declared/route.ts'
import type { RestRoute } from '../../api/rest/route.ts'
import type { Authority } from '../../model/entities.ts'
import type { JsonObject } from '../../model/json.ts'

/** One call: what shares method and path with another is a call of its own. */
export interface Walked {
  readonly route: RestRoute
  readonly declared: DeclaredRoute | undefined
}

export function callsOf(route: RestRoute): readonly Walked[] {
  if (!isDeclared(route)) return [{ route, declared: undefined }]
  return route.declared.map((declared) => ({ route, declared }))
}

export function authoritiesOf({ route, declared }: Walked): readonly Authority[] {
  return declared?.authorities ?? (route.authorities === 'public' ? [] : route.authorities)
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
  const { type, enum: choices } = schema
  if (isTypeName(parameter)) return 'DEVICE'
  const id = ids[parameter.replace(/Ids$/, 'Id')]
  if (id !== undefined) return id
  const [choice] = Array.isArray(choices) ? choices : []
  if (typeof choice === 'string') return choice
  if (type === 'integer') return parameter === 'pageSize' ? '100' : '0'
  return type === 'boolean' ? 'false' : `secret ${parameter.replace(/(Name|Title)$/, '')}`
}

/** `entityType`, `fromType`: beside an id, which is a device's. */
export function isTypeName(parameter: string): boolean {
  return /^(entity|from|to)Type$/.test(parameter)
}
