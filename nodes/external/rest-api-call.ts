/** Calls a REST service with each message and goes on with what it answers (`rule-nodes.md` 72). */
import { z } from 'zod'
import type { HttpAnswer, HttpCall, HttpTarget } from '../../engine/rulechain/capabilities/outbound.ts'
import type { JsonObject } from '../../model/json.ts'
import { parseJson } from '../../model/json.ts'
import type { Message } from '../../model/message.ts'
import { withMetadata } from '../body.ts'
import { defineNode, orZero } from '../define-node.ts'
import { NodeErrors } from '../errors.ts'
import { jsonPattern, pattern } from '../pattern.ts'
import { SECRET, SECRET_BY_NAME, SECRET_LOGIN } from '../secrets.ts'
import {
  bytesOf,
  callingNode,
  certificatesOf,
  checkCredentials,
  credentialsSchema,
  failure,
  made,
  plainText,
  proxyOf,
  type Credentials,
  type Outcome,
} from './outcome.ts'

const NAME = 'rest api call'
const WITH_BODY: readonly string[] = ['POST', 'PUT', 'PATCH', 'DELETE']
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'TRACE'] as const
const MAX_BUFFER_KB = 25_000

const configuration = z.looseObject({
  restEndpointUrlPattern: z
    .string()
    .min(1)
    .meta({
      ...SECRET_LOGIN,
      title: 'Endpoint URL',
      description: 'May hold ${metadata} and $[data]. Encoded already where queryParams is a list.',
    }),
  requestMethod: z.enum(METHODS).meta({ title: 'Method', description: 'POST, PUT, PATCH and DELETE send a body.' }),
  queryParams: z
    .array(z.looseObject({ key: z.string(), value: z.string() }))
    .nullish()
    .meta({
      ...SECRET_BY_NAME,
      title: 'Query parameters',
      description: 'May hold ${metadata} and $[data], encoded once. Null: the URL is encoded as a whole.',
    }),
  headers: orZero(z.record(z.string(), z.string()), {}).meta({
    ...SECRET_BY_NAME,
    title: 'Headers',
    description: 'Names and values may hold ${metadata} and $[data].',
  }),
  readTimeoutMs: orZero(z.int().min(0), 0).meta({
    title: 'Timeout',
    description: 'In ms; 0 for OUTBOUND_TIMEOUT_MS, which is the most.',
  }),
  maxParallelRequestsCount: orZero(z.int().min(0), 0).meta({
    title: 'Calls at a time',
    description: 'The others wait; 0 for OUTBOUND_NODE_CALLS.',
  }),
  parseToPlainText: orZero(z.boolean(), false).meta({
    title: 'Plain text',
    description: 'A JSON string is sent without its quotes.',
  }),
  enableProxy: orZero(z.boolean(), false).meta({ title: 'Proxy', description: 'Calls go through an HTTP proxy.' }),
  useSystemProxyProperties: orZero(z.boolean(), false),
  proxyHost: z.string().nullish(),
  proxyPort: z.int().nullish(),
  proxyUser: z.string().nullish(),
  proxyPassword: z.string().nullish().meta(SECRET),
  credentials: credentialsSchema,
  ignoreRequestBody: orZero(z.boolean(), false).meta({ title: 'No body', description: 'Sends none.' }),
  requestBodyTemplate: z.string().nullish().meta({
    title: 'Body',
    description: 'May hold ${metadata} and $[data], escaped as JSON; null sends the message’s data.',
  }),
  maxInMemoryBufferSizeInKb: orZero(z.int().min(0).max(MAX_BUFFER_KB), 256).meta({
    title: 'Answer buffer',
    description: 'KiB; a larger answer fails.',
  }),
})
type Configuration = z.output<typeof configuration>

export const restApiCall = defineNode({
  type: 'org.thingsboard.rule.engine.rest.TbRestApiCallNode',
  name: NAME,
  category: 'EXTERNAL',
  relations: ['Success'],
  description:
    'Calls a REST service; its answer is the body, its status and headers are metadata. An answer that is no 2xx goes through Failure. Redirects are not followed. Each call has an Idempotency-Key of message and node.',
  triedWith: 'an HTTP server, and a proxy',
  differs:
    'Internal addresses are refused unless OUTBOUND_ALLOWED_ADDRESSES names them. A node that asks for the proxy of the system does not start.',
  configurationVersion: 4,
  configuration,
  defaults: {
    restEndpointUrlPattern: 'http://localhost/api',
    requestMethod: 'POST',
    queryParams: [],
    headers: { 'Content-Type': 'application/json' },
    readTimeoutMs: 0,
    maxParallelRequestsCount: 0,
    parseToPlainText: false,
    enableProxy: false,
    useSystemProxyProperties: false,
    proxyHost: null,
    proxyPort: 0,
    proxyUser: null,
    proxyPassword: null,
    credentials: { type: 'anonymous' },
    ignoreRequestBody: false,
    requestBodyTemplate: null,
    maxInMemoryBufferSizeInKb: 256,
  },
  examples: [],
  uses: ['outbound'],
  effects: true,
  upgrade,
  create: async (config, { services: { outbound }, ruleNodeId }) => {
    const credentials = config.credentials ?? { type: 'anonymous' }
    checkCredentials(NAME, credentials, ['anonymous', 'basic', 'cert.PEM'])
    const callOf = calls(config, credentials, ruleNodeId)
    const limits = { parallel: config.maxParallelRequestsCount, timeoutMs: config.readTimeoutMs }
    const client = await made(outbound.open('http', targetOf(config, credentials), limits))
    return callingNode(outbound, client, async (message) => {
      const call = callOf(message)
      return outcomeOf(message, await client.call(call, bytesOf(call.url, call.body)))
    })
  },
})

function targetOf(config: Configuration, credentials: Credentials): HttpTarget {
  const certificates = certificatesOf(credentials)
  const maxAnswerBytes = config.maxInMemoryBufferSizeInKb * 1024
  const shared = {
    maxAnswerBytes,
    ...(credentials.type === 'basic' ? { secret: loginOf(credentials) } : {}),
    ...(certificates === undefined ? {} : { certificates }),
  }
  if (!config.enableProxy) return shared
  const refused = (field: string, reason: string) => NodeErrors.CONFIGURATION_INVALID({ node: NAME, field, reason })
  // The process's own proxy may lead where a tenant must not go.
  if (config.useSystemProxyProperties) throw refused('useSystemProxyProperties', 'name the proxy here')
  return { ...shared, proxy: proxyOf(NAME, config) }
}

function calls(config: Configuration, credentials: Credentials, ruleNodeId: string): (message: Message) => HttpCall {
  const { requestMethod: method, parseToPlainText, ignoreRequestBody, requestBodyTemplate } = config
  const urlOf = urls(config)
  const headers = Object.entries(config.headers).map(([name, value]) => [pattern(name), pattern(value)] as const)
  const template = requestBodyTemplate ? jsonPattern(requestBodyTemplate) : undefined
  const authorization = credentials.type === 'basic' ? { Authorization: `Basic ${loginOf(credentials)}` } : {}
  const bodyOf = (message: Message): string => {
    const text = template === undefined ? message.data : template(message)
    if (parseToPlainText) return plainText(text)
    parseJson(text)
    return text
  }
  return (message) => ({
    method,
    url: urlOf(message),
    headers: {
      'Idempotency-Key': `${message.id}-${ruleNodeId}`,
      ...authorization,
      ...Object.fromEntries(headers.map(([name, value]) => [name(message), value(message)])),
    },
    ...(WITH_BODY.includes(method) && !ignoreRequestBody ? { body: bodyOf(message) } : {}),
  })
}

function loginOf({ username, password }: Credentials): string {
  return Buffer.from(`${username ?? ''}:${password ?? ''}`).toString('base64')
}

function urls({ restEndpointUrlPattern, queryParams }: Configuration): (message: Message) => string {
  const base = pattern(restEndpointUrlPattern)
  // Chains of before this member was there.
  if (queryParams === null || queryParams === undefined) return (message) => encodedBehindHost(base(message))
  const parameters = queryParams.map(({ key, value }) => [pattern(key), pattern(value)] as const)
  if (parameters.length === 0) return base
  return (message) => {
    const url = base(message)
    const query = parameters.map(
      ([key, value]) => `${encodeURIComponent(key(message))}=${encodeURIComponent(value(message))}`,
    )
    const [address = '', fragment] = url.split('#', 2)
    const joint = address.includes('?') ? '&' : '?'
    return `${address}${joint}${query.join('&')}${fragment === undefined ? '' : `#${fragment}`}`
  }
}

function encodedBehindHost(url: string): string {
  const [, host = '', rest = url] = /^([a-z][a-z0-9+.-]*:\/\/[^/?#]*)(.*)$/is.exec(url) ?? []
  return `${host}${encodeURI(rest)}`
}

function outcomeOf(message: Message, answer: HttpAnswer): Outcome {
  const { status, body } = answer
  const phrase = phraseOf(status) ?? answer.reason
  if (status >= 400) {
    const error = Object.assign(new Error(`${status} ${phrase}`), { name: 'HttpStatus' })
    return failure(message, error, { status: phrase, statusCode: String(status), error_body: body })
  }
  const headers = answer.headers.map(([name, values]) => [name, headerText(values)] as const)
  const words = phrase.toUpperCase().replaceAll(/[^A-Z0-9]+/g, '_')
  const said = { status: words, statusCode: String(status), statusReason: phrase }
  const isSuccess = status >= 200 && status < 300
  const more = isSuccess ? said : { ...said, error_body: body }
  const told = withMetadata(message, [...headers, ...Object.entries(more)])
  if (!isSuccess) return { message: told, relations: ['Failure'], error: new Error(`${status} ${phrase}`) }
  return { message: told.with({ data: body === '' ? '{}' : body }), relations: ['Success'] }
}

function headerText(values: readonly string[]): string {
  const [first = ''] = values
  return values.length === 1 ? first : JSON.stringify(values)
}

const MEMBERS_OF_VERSION_3 = [
  ...['restEndpointUrlPattern', 'requestMethod', 'headers', 'readTimeoutMs', 'maxParallelRequestsCount'],
  ...['parseToPlainText', 'enableProxy', 'useSystemProxyProperties', 'proxyHost', 'proxyPort', 'proxyUser'],
  ...['proxyPassword', 'credentials', 'ignoreRequestBody', 'maxInMemoryBufferSizeInKb'],
]

function upgrade(before: JsonObject, fromVersion: number): JsonObject {
  const config: Record<string, JsonObject[string]> = { ...before }
  if (fromVersion < 1 && 'trimDoubleQuotes' in config) config['parseToPlainText'] = config['trimDoubleQuotes'] ?? false
  if (fromVersion < 3) config['maxInMemoryBufferSizeInKb'] ??= 256
  const kept = Object.entries(config).filter(([name]) => MEMBERS_OF_VERSION_3.includes(name))
  return { ...Object.fromEntries(kept), requestBodyTemplate: null }
}

/** An import of the module would load a client with it that nothing here uses, in every process. */
function phraseOf(status: number): string | undefined {
  return process.getBuiltinModule('node:http').STATUS_CODES[status]
}
