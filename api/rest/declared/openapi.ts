/** The API description (OpenAPI 3.1) of declared routes: paths, parameters, bodies and answers as the declarations have them. */
import { z } from 'zod'
import type { JsonObject, JsonValue } from '../../../model/json.ts'
import { ENTITY_TYPES } from '../../../model/entity-id.ts'
import { NamedSchemas } from './named-schemas.ts'
import { isUuid } from './declare.ts'
import type { AnyDeclared, AnyTarget, Ids } from './route.ts'

export interface DescriptionHead {
  readonly version: string
  /** Where the API is reached; '' for the host that the description came from. */
  readonly serverUrl: string
}

export function describeApi(routes: readonly AnyDeclared[], { version, serverUrl }: DescriptionHead): JsonObject {
  const paths: Record<string, Record<string, JsonObject>> = {}
  const schemas = new NamedSchemas()
  for (const route of routes) {
    const path = (paths[route.path] ??= {})
    const method = route.method.toLowerCase()
    const known = path[method]
    const operation = operationOf(route, schemas)
    path[method] = known === undefined ? operation : joined(known, operation)
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Millrace', version, description: 'REST API, wire-compatible with ThingsBoard.' },
    ...(serverUrl === '' ? {} : { servers: [{ url: serverUrl }] }),
    paths,
    components: {
      securitySchemes: {
        bearer: {
          type: 'apiKey',
          in: 'header',
          name: 'X-Authorization',
          description: 'Bearer, a blank, and the token of a login',
        },
      },
      schemas: { Error: ERROR, ...schemas.all },
    },
    security: [{ bearer: [] }],
  }
}

const ERROR: JsonObject = {
  type: 'object',
  properties: {
    status: { type: 'integer' },
    message: { type: 'string' },
    errorCode: { type: 'integer' },
    timestamp: { type: 'integer', description: 'Unix milliseconds' },
  },
  required: ['status', 'message', 'errorCode', 'timestamp'],
}
/** Any id, whatever it is asked for. */
const SAMPLE_IDS: Ids = new Proxy({}, { get: () => '784f394c-42b6-435a-983c-b7beff2784f9' })
const REFUSAL: JsonObject = { content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } } }

const REFUSED: JsonObject = {
  401: { description: 'Not logged in.', ...REFUSAL },
  403: { description: 'Not allowed.', ...REFUSAL },
}

const BODY_TYPES = {
  json: 'application/json',
  'json-text': 'application/json',
  optional: 'application/json',
  text: 'text/plain',
  form: 'multipart/form-data',
} as const

function operationOf(route: AnyDeclared, schemas: NamedSchemas): JsonObject {
  return {
    tags: [tagOf(route.path)],
    summary: route.about,
    description: audienceOf(route),
    operationId: operationId(route),
    parameters: [...pathParameters(route), ...queryParameters(route), ...headerParameters(route)],
    ...(route.body === undefined
      ? {}
      : {
          requestBody: {
            required: route.bodyIs !== 'optional',
            content: {
              [BODY_TYPES[route.bodyIs ?? 'json']]: contentOf(
                schemas.take(bodySchema(route.body)),
                route.example?.(SAMPLE_IDS),
              ),
            },
          },
        }),
    ...(route.authorities === 'public' && route.token === undefined ? { security: [] } : {}),
    responses: {
      ...successesOf(route, schemas),
      ...(route.body === undefined && Object.keys(route.query).length === 0
        ? {}
        : { 400: { description: 'Not valid; the message names the field.', ...REFUSAL } }),
      ...(route.authorities === 'public' ? {} : REFUSED),
      ...(Object.keys(route.targets).length === 0 ? {} : { 404: { description: 'Not there.', ...REFUSAL } }),
    },
  }
}

function audienceOf(route: AnyDeclared): string {
  if (route.authorities !== 'public') return `For ${route.authorities.join(', ')}.`
  return route.token === undefined ? 'For everybody.' : `For who has ${route.token}.`
}

/** By status. */
function successesOf(route: AnyDeclared, schemas: NamedSchemas): JsonObject {
  const isEmptyAtTimes = route.mayBeEmpty === true
  const answer = route.answer === undefined ? {} : answerOf(schemas.take(route.answer), isEmptyAtTimes)
  const description = isEmptyAtTimes ? 'Done; empty where there is nothing.' : 'Done.'
  if (route.authorities !== 'public') return { 200: { description, ...answer } }
  const others = Object.entries(route.alsoAnswers ?? {}).map(([status, text]) => [
    status,
    { description: text, ...answer },
  ])
  const first =
    route.redirects === true ? { 303: { description: 'Go to the page.' } } : { 200: { description, ...answer } }
  return { ...first, ...(Object.fromEntries(others) as JsonObject) }
}

/** No content type may stand beside an answer that may be empty: what it is otherwise is told under a name of ours. */
function answerOf(schema: JsonObject, mayBeEmpty: boolean): JsonObject {
  return mayBeEmpty ? { 'x-answer': schema } : { content: { 'application/json': { schema } } }
}

/** What a call is about: the first word of its path behind `/api`. */
function tagOf(path: string): string {
  const [first = '', second = ''] = path
    .replace(/^\/(api\/)?/, '')
    .replace(/^(\{\w+\}\/)+/, '')
    .split('/')
  return ['noauth', 'plugins', 'tenant', 'customer'].includes(first) && /^[a-z]/.test(second) ? second : first
}

/** Two calls that share method and path: parameters that only one of them asks for are optional. */
function joined(one: JsonObject, other: JsonObject): JsonObject {
  const parameters = new Map<string, JsonObject>()
  const lists = [one['parameters'], other['parameters']].map((list) => (Array.isArray(list) ? list : []))
  for (const [index, list] of lists.entries()) {
    for (const parameter of list) {
      if (!isObject(parameter)) continue
      const name = textOf(parameter['name'])
      const isInBoth = lists[1 - index]?.some((candidate) => isObject(candidate) && candidate['name'] === name) ?? false
      parameters.set(name, isInBoth || parameter['in'] === 'path' ? parameter : { ...parameter, required: false })
    }
  }
  const cases = [one, other].flatMap((operation) => operation['x-cases'] ?? caseOf(operation))
  return {
    ...one,
    'x-cases': cases,
    summary: `${textOf(one['summary'])} Or: ${textOf(other['summary'])}`,
    parameters: [...parameters.values()],
    responses: joinedResponses(one['responses'], other['responses']),
  }
}

/** What a client may hold to: which parameters lead to which answer. The standard has no word for it. */
function caseOf({ summary = '', parameters = [], responses = {} }: JsonObject): JsonObject {
  return { summary, parameters, responses }
}

/** By status; an answer is that of either. */
function joinedResponses(one: JsonValue | undefined, other: JsonValue | undefined): JsonObject {
  if (!isObject(one) || !isObject(other)) return {}
  const [schema, otherSchema] = [one, other].map((responses) => answerSchema(responses))
  const all = { ...other, ...one }
  if (schema === undefined || otherSchema === undefined) return all
  const answer = JSON.stringify(schema) === JSON.stringify(otherSchema) ? schema : { anyOf: [schema, otherSchema] }
  return { ...all, 200: { description: 'Done.', content: { 'application/json': { schema: answer } } } }
}

function answerSchema(responses: JsonObject): JsonObject | undefined {
  const place = ['200', 'content', 'application/json', 'schema']
  const schema = place.reduce<JsonValue | undefined>((held, key) => (isObject(held) ? held[key] : undefined), responses)
  return isObject(schema) ? schema : undefined
}

function isIdOf(target: AnyTarget | undefined): boolean {
  return target !== undefined && isUuid(target)
}

function pathParameters({ path, targets, words }: AnyDeclared): JsonObject[] {
  const types = new Set(Object.values(targets).map((target) => ('typedBy' in target ? target.typedBy : '')))
  const schemaOf = (name: string): JsonObject => {
    if (isIdOf(targets[name])) return { type: 'string', format: 'uuid' }
    const choices = types.has(name) ? ENTITY_TYPES : words[name]
    return choices === undefined ? { type: 'string' } : { type: 'string', enum: [...choices] }
  }
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    schema: schemaOf(name),
  }))
}

function queryParameters({ query }: AnyDeclared): JsonObject[] {
  return Object.entries(query).flatMap(([given, { parameters }]) =>
    parameters.map(({ name, isRequired, schema }) => ({
      name: name === '' ? given : name,
      in: 'query',
      required: isRequired,
      schema,
    })),
  )
}

function headerParameters({ headers = [] }: AnyDeclared): JsonObject[] {
  return headers.map((name) => ({ name, in: 'header', required: true, schema: { type: 'string' } }))
}

function contentOf(schema: JsonObject, example: JsonValue | undefined): JsonObject {
  return example === undefined ? { schema } : { schema, example }
}

/** As clients send it. What a schema reads by code of its own may be anything. */
function bodySchema(body: z.ZodType): JsonObject {
  const { $schema: _, ...schema } = z.toJSONSchema(body, { io: 'input', unrepresentable: 'any' })
  return JSON.parse(JSON.stringify(schema)) as JsonObject
}

/** `GET /api/asset/{assetId}` is `getAssetByAssetId`. */
function operationId({ method, path }: AnyDeclared): string {
  const words = path
    .replace(/^\/api\//, '')
    .split('/')
    .map((part) => (part.startsWith('{') ? `By${capital(part.slice(1, -1))}` : capital(part)))
  return `${method.toLowerCase()}${words.join('')}`
}

/** `rule-engine` is `RuleEngine`. */
function capital(text: string): string {
  return text
    .split(/[\W_]+/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    Object.getPrototypeOf(value) === Object.prototype
  )
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : ''
}
