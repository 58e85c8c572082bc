/** Calls of the platform to one client, and their answers as the reference gives them. Source: `device-api.md` 13.8. */
import { errorText, isMillraceError } from '../../model/errors.ts'
import { stringifyJson, type JsonObject } from '../../model/json.ts'
import type { CallRequest } from '../../engine/device/gateway.ts'
import { answeredText } from './answer-text.ts'
import { Format } from './codecs/records.ts'
import { Lwm2mErrors } from './errors.ts'
import type { ObservedAnswer } from './observations.ts'
import type { ReachedClient } from './reached-client.ts'
import { observationKey, type Operation } from './operation.ts'
import { operationOf } from './operations.ts'

const RESULTS: ReadonlyMap<string, string> = new Map([
  ['2.01', 'CREATED'],
  ['2.02', 'DELETED'],
  ['2.04', 'CHANGED'],
  ['2.05', 'CONTENT'],
  ['4.00', 'BAD_REQUEST'],
  ['4.01', 'UNAUTHORIZED'],
  ['4.03', 'FORBIDDEN'],
  ['4.04', 'NOT_FOUND'],
  ['4.05', 'METHOD_NOT_ALLOWED'],
  ['4.06', 'NOT_ACCEPTABLE'],
  ['4.08', 'REQUEST_ENTITY_INCOMPLETE'],
  ['4.12', 'PRECONDITION_FAILED'],
  ['4.13', 'REQUEST_ENTITY_TOO_LARGE'],
  ['4.15', 'UNSUPPORTED_CONTENT_FORMAT'],
  ['5.00', 'INTERNAL_SERVER_ERROR'],
])
const RESULT_BY_STATUS: ReadonlyMap<number, string> = new Map([
  [404, 'NOT_FOUND'],
  [405, 'METHOD_NOT_ALLOWED'],
])

/** Rejects nothing that the caller could do something about: what went wrong is the answer. */
export async function answerCall(client: ReachedClient, { id, method, params }: CallRequest): Promise<void> {
  const { session } = client.registration
  let answer: JsonObject
  try {
    answer = await answered(client, method, params, () => session.callDelivered(id, 'DELIVERED'))
  } catch (error) {
    client.failed(error)
    answer = failure(error)
  }
  session.answerCall(id, stringifyJson(answer))
}

async function answered(
  client: ReachedClient,
  method: string,
  params: string,
  delivered: () => void,
): Promise<JsonObject> {
  if (method === 'ObserveReadAll' || method === 'DiscoverAll' || method === 'ObserveCancelAll') {
    delivered()
    return ofAll(client, method)
  }
  const operation = await operationOf(method, params, client.context)
  if (operation.observe === 1) {
    const cancelled = await client.endObservation(observationKey(operation))
    delivered()
    return { result: 'CONTENT', value: cancelled === undefined ? '0' : '1' }
  }
  if (operation.observe === 0 && client.observations.isFull && !client.observations.has(observationKey(operation)))
    throw Lwm2mErrors.BAD_CALL({ method, reason: 'the client is observed for as much as it may be' })
  const answer = await client.ask(operation)
  delivered()
  return told(client, operation, answer)
}

async function told(client: ReachedClient, operation: Operation, answer: ObservedAnswer): Promise<JsonObject> {
  const result = RESULTS.get(answer.code) ?? answer.code
  if (!answer.code.startsWith('2.')) {
    const said = answer.payload.toString('utf8')
    return { result, error: said === '' ? result : said }
  }
  if (operation.written !== undefined) await client.store(operation.written)
  if (operation.created !== undefined) {
    const at = answer.location.length > 0 ? answer.location : operation.created
    return { result, value: `location=${at.join('/')}` }
  }
  if (answer.code !== '2.05') return { result }
  if (answer.contentFormat === Format.LINK) return { result, value: answer.payload.toString('utf8') }
  const records = await client.recordsOf(answer, operation.path)
  const value = answeredText(records, operation, (path) => client.modelAt(path))
  if (answer.isOvertaken !== true) await client.store(records)
  return { result, value }
}

/** What the server knows itself. */
async function ofAll(client: ReachedClient, method: string): Promise<JsonObject> {
  const { observations, registration } = client
  const { keys } = observations
  if (method === 'ObserveReadAll') {
    const kind = (key: string): string => (key.startsWith('[') ? 'CompositeObservation' : 'SingleObservation')
    const value = stringifyJson(keys.map((key) => `${kind(key)}:${key}`))
    return { result: 'CONTENT', value }
  }
  if (method === 'ObserveCancelAll') {
    for (const key of keys) await client.endObservation(key)
    return { result: 'CONTENT', value: String(keys.length) }
  }
  const links = [...registration.offer.objects].flatMap(([id, { version, instances }]) => {
    const ver = version === undefined ? '' : `;ver=${version}`
    const own = instances.length === 0 || version !== undefined ? [`</${id}>${ver}`] : []
    return [...own, ...instances.map((instance) => `</${id}/${instance}>`)]
  })
  return { result: 'CONTENT', value: links.join(',') }
}

function failure(error: unknown): JsonObject {
  if (!isMillraceError(error)) return { result: 'INTERNAL_SERVER_ERROR', error: 'Internal error' }
  const result =
    RESULT_BY_STATUS.get(error.status) ?? (error.kind === 'invalid' ? 'BAD_REQUEST' : 'INTERNAL_SERVER_ERROR')
  return { result, error: errorText(error) }
}
