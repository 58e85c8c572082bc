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

/** Parameters of paths that are no ids: nobody's own. */
const WORDS: Readonly<Record<string, string>> = {
  scope: 'SERVER_SCOPE',
  ttl: '0',
  timeout: '0',
  componentDescriptorClazz: 'test.Node',
  componentType: 'ACTION',
  key: 'general',
}

/** The path of a call; throws where the world has no such thing. */
export function pathOf({ route, declared }: Walked, ids: Readonly<Record<string, string>>): string {
  return route.pattern.replace(/:(\w+)/g, (_whole, name: string) => {
    if (isTypeName(name)) return 'DEVICE'
    const word = WORDS[name] ?? ids[name] ?? declared?.words[name]?.[0]
    if (word === undefined || word === '') throw new Error(`an id for :${name} is missing: add one to rest-world.ts`)
    return encodeURIComponent(word)
  })
}

/** `entityType`, `fromType`: beside an id, which is a device's. */
export function isTypeName(parameter: string): boolean {
  return /^(entity|from|to)Type$/.test(parameter)
}
