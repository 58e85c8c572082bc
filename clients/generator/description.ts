/** As much of an API description as the generator reads. */
import type { JsonObject, JsonValue } from '../../model/json.ts'

export interface Operation {
  readonly operationId: string
  readonly method: string
  readonly path: string
  /** For whom it is. */
  readonly description: string
  readonly body: Body | undefined
  /** All that any of its cases takes. */
  readonly parameters: readonly Parameter[]
  /** More than one where parameters decide what is answered. */
  readonly cases: readonly Case[]
}

export interface Case {
  readonly summary: string
  readonly parameters: readonly Parameter[]
  /** Undefined where there is nothing but the status. */
  readonly answer: JsonObject | undefined
  readonly mayBeEmpty: boolean
}

export interface Parameter {
  readonly name: string
  readonly in: string
  readonly isRequired: boolean
  readonly schema: JsonObject
}

export interface Body {
  readonly kind: 'json' | 'text' | 'form'
  readonly isRequired: boolean
  readonly schema: JsonObject
}

const BODY_KINDS: Readonly<Record<string, Body['kind']>> = {
  'application/json': 'json',
  'text/plain': 'text',
  'multipart/form-data': 'form',
}

/** By name, so that the order of declarations changes nothing. Throws on what the generator does not know. */
export function operationsOf(description: JsonObject): readonly Operation[] {
  return members(description['paths'])
    .flatMap(([path, methods]) =>
      members(methods).map(([method, operation]) => operationOf(method.toUpperCase(), path, objectOf(operation))),
    )
    .sort((one, other) => (one.operationId < other.operationId ? -1 : 1))
}

export interface NamedSchema {
  readonly name: string
  readonly schema: JsonObject
  /** Whether bodies hold it. */
  readonly isSent: boolean
}

export function namedSchemasOf(description: JsonObject): readonly NamedSchema[] {
  const schemas = new Map(
    members(objectOf(description['components'])['schemas']).map(([name, schema]) => [name, objectOf(schema)]),
  )
  const sent = new Set<string>()
  const note = (schema: JsonObject) => {
    for (const [, name = ''] of JSON.stringify(schema).matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)) {
      if (sent.has(name)) continue
      sent.add(name)
      note(schemas.get(name) ?? {})
    }
  }
  for (const { body } of operationsOf(description)) note(body?.schema ?? {})
  return [...schemas].map(([name, schema]) => ({ name, schema, isSent: sent.has(name) }))
}

function operationOf(method: string, path: string, operation: JsonObject): Operation {
  const whole = caseOf(operation)
  const cases = operation['x-cases']
  return {
    operationId: textOf(operation['operationId']),
    method,
    path,
    description: textOf(operation['description']),
    body: operation['requestBody'] === undefined ? undefined : bodyOf(objectOf(operation['requestBody'])),
    parameters: whole.parameters,
    cases: cases === undefined ? [whole] : listOf(cases).map((one) => caseOf(objectOf(one))),
  }
}

function caseOf(operation: JsonObject): Case {
  const responses = objectOf(operation['responses'])
  const done = objectOf(responses['200'] ?? responses['303'])
  const content = done['content'] === undefined ? undefined : objectOf(done['content'])['application/json']
  const answer = done['x-answer'] ?? (content === undefined ? undefined : objectOf(content)['schema'])
  return {
    summary: textOf(operation['summary']),
    parameters: listOf(operation['parameters']).map((parameter) => parameterOf(objectOf(parameter))),
    answer: answer === undefined ? undefined : objectOf(answer),
    mayBeEmpty: 'x-answer' in done,
  }
}

function parameterOf(parameter: JsonObject): Parameter {
  return {
    name: textOf(parameter['name']),
    in: textOf(parameter['in']),
    isRequired: parameter['required'] === true,
    schema: objectOf(parameter['schema']),
  }
}

function bodyOf(body: JsonObject): Body {
  const [[type = '', content] = []] = members(body['content'])
  const kind = BODY_KINDS[type]
  if (kind === undefined) throw new Error(`a body of the type '${type}' is not known`)
  return { kind, isRequired: body['required'] === true, schema: objectOf(objectOf(content)['schema']) }
}

export function members(value: JsonValue | undefined): readonly (readonly [string, JsonValue])[] {
  return Object.entries(objectOf(value))
}

export function objectOf(value: JsonValue | undefined): JsonObject {
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype)
    throw new Error(`an object is expected: ${JSON.stringify(value)}`)
  return value as JsonObject
}

export function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  if (!Array.isArray(value)) throw new Error(`a list is expected: ${JSON.stringify(value)}`)
  return value
}

function textOf(value: JsonValue | undefined): string {
  if (typeof value !== 'string') throw new Error(`a text is expected: ${JSON.stringify(value)}`)
  return value
}
