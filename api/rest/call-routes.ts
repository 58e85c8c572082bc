/** Calls to devices (RPC) and to the rule engine. Source: `rest-api.md` section 6. */
import { z } from 'zod'
import type { Clock } from '../../model/clock.ts'
import { isUuid, type EntityId } from '../../model/entity-id.ts'
import { isMillraceError } from '../../model/errors.ts'
import { parseJson, stringifyJson, type JsonObject, type JsonValue } from '../../model/json.ts'
import type { Principal } from '../../model/principal.ts'
import { CALL_STATUSES, type CallDraft } from '../../services/rpc/call-service.ts'
import { flagInput, wholeInput } from '../../services/entities/lenient-input.ts'
import { rpcJson } from '../../services/rpc/persistent-calls.ts'
import type { AccessControl } from '../../services/access/access-control.ts'
import type { Operation } from '../../services/access/permissions.ts'
import type { Services } from '../../services/services.ts'
import { ParameterErrors } from '../errors.ts'
import { anyJson } from './body.ts'
import { RouteMaker, rawAnswer } from './declared/declare.ts'
import { optionalChoice, paging } from './declared/query.ts'
import type { DeclaredRoute } from './declared/route.ts'
import { idShape, pageShape } from './declared/shapes.ts'
import { found } from './authorize.ts'
import { EMPTY_ANSWER, EVERYBODY, TENANT, TENANT_AND_CUSTOMER, jsonTextAnswer, type Answer } from './route.ts'
import { accessError, TelemetryRouteErrors } from './telemetry-errors.ts'

const DEFAULT_TIMEOUT_MS = 10_000
const MIN_TIMEOUT_MS = 5000
/** A caller who waits holds a connection. */
const MAX_WAIT_MS = 3_600_000

const DEVICE = { type: 'DEVICE', label: 'Device' } as const
const RPC = { type: 'RPC', label: 'Rpc' } as const

const milliseconds = z
  .unknown()
  .optional()
  .transform((value) => (value === undefined || value === null ? undefined : Math.trunc(Number(value)) || 0))

const callSchema = z.object({
  method: z.string().min(1),
  params: anyJson.optional(),
  timeout: milliseconds,
  expirationTime: milliseconds,
  persistent: flagInput,
  retries: wholeInput.refine((count) => (count ?? 0) >= 0, 'no less than 0 are expected'),
  additionalInfo: anyJson.optional(),
  requestUUID: z.string().refine(isUuid, 'a UUID is expected').nullish(),
})

/** What is no JSON is refused in the reference's words. */
const callText = z.preprocess((sent) => (typeof sent === 'string' ? jsonIn(sent) : sent), callSchema)

const RPC_SHAPE: JsonObject = {
  type: 'object',
  properties: {
    id: idShape('RPC'),
    createdTime: { type: 'integer' },
    tenantId: idShape('TENANT'),
    deviceId: idShape('DEVICE'),
    expirationTime: { type: 'integer' },
    request: { type: 'object' },
    response: {},
    status: { enum: [...CALL_STATUSES] },
    additionalInfo: {},
  },
  required: ['id', 'createdTime', 'tenantId', 'deviceId', 'expirationTime', 'request', 'response', 'status'],
}

/** What a caller is answered whose device did not: the two prefixes differ. */
const PREFIXES = [
  { path: '/api/plugins/rpc', timeout: 408, noConnection: 409 },
  { path: '/api/rpc', timeout: 504, noConnection: 504 },
] as const

export function callRoutes(services: Services, clock: Clock): readonly DeclaredRoute[] {
  const texts = new RouteMaker(inTexts(services), () => Promise.resolve(true))
  const plain = new RouteMaker(services.access, (target, id) =>
    target.entity.type === 'RPC' ? services.calls.find(id) : Promise.resolve(true),
  )
  return [
    ...PREFIXES.flatMap((prefix) => [
      deviceCall(texts, services, clock, prefix, 'oneway'),
      deviceCall(texts, services, clock, prefix, 'twoway'),
    ]),
    ...persistentRoutes(plain, services),
    ...ruleEngineRoutes(texts, services),
  ]
}

function deviceCall(
  make: RouteMaker,
  { calls }: Services,
  clock: Clock,
  prefix: (typeof PREFIXES)[number],
  kind: 'oneway' | 'twoway',
): DeclaredRoute {
  return make.route({
    method: 'POST',
    path: `${prefix.path}/${kind}/{deviceId}` as '/api/rpc/oneway/{deviceId}',
    about: kind === 'oneway' ? 'Calls a device that need not answer.' : 'Calls a device and waits for its answer.',
    authorities: EVERYBODY,
    targets: { deviceId: { entity: DEVICE, operation: 'RPC_CALL' } },
    query: {},
    bodyIs: 'json-text',
    body: callText,
    answer: {},
    // Already over: nobody who only looks waits for it.
    example: () => ({ method: 'setValue', params: { value: 1 }, expirationTime: 1 }),
    errorsAsText: true,
    handle: async ({ principal, path, body }) => {
      const draft = draftOf(body, kind === 'oneway', clock.now())
      const outcome = await calls.callDeviceByUser(principal, path.deviceId, draft)
      if (outcome.isKept === true) return { rpcId: outcome.id }
      if (outcome.error === 'TIMEOUT') return statusAnswer(prefix.timeout)
      if (outcome.error === 'NO_ACTIVE_CONNECTION') return statusAnswer(prefix.noConnection)
      return responseAnswer(outcome.response ?? '')
    },
  })
}

function draftOf(body: z.output<typeof callSchema>, isOneway: boolean, now: number): CallDraft {
  const timeoutMs = Math.max(MIN_TIMEOUT_MS, body.timeout ?? DEFAULT_TIMEOUT_MS)
  const isPersistent = body.persistent === true
  const expirationTime = body.expirationTime ?? now + timeoutMs
  return {
    method: body.method,
    params: stringifyJson(body.params ?? null),
    isOneway,
    isPersistent,
    expirationTime: isPersistent ? expirationTime : Math.min(expirationTime, now + MAX_WAIT_MS),
    retries: body.retries ?? null,
    additionalInfo:
      body.additionalInfo === undefined || body.additionalInfo === null ? null : stringifyJson(body.additionalInfo),
    requestId: body.requestUUID?.toLowerCase() ?? undefined,
  }
}

/** The device's own JSON as it is. */
function responseAnswer(text: string): Answer {
  if (text === '') return EMPTY_ANSWER
  try {
    JSON.parse(text)
    return rawAnswer(jsonTextAnswer(text))
  } catch {
    // The caller is told by the status; the text is nobody's JSON.
    return statusAnswer(406)
  }
}

function statusAnswer(status: number): Answer {
  return rawAnswer({ ...EMPTY_ANSWER, status })
}

function persistentRoutes(make: RouteMaker, { calls }: Services): readonly DeclaredRoute[] {
  return [
    make.route({
      method: 'GET',
      path: '/api/rpc/persistent/{rpcId}',
      about: 'A persistent call: what was asked, how far it came, what the device answered.',
      authorities: TENANT_AND_CUSTOMER,
      targets: { rpcId: { entity: RPC, operation: 'READ' } },
      query: {},
      body: undefined,
      answer: RPC_SHAPE,
      handle: async ({ path }) => rpcJson(found(await calls.find(path.rpcId), 'Rpc', path.rpcId)),
    }),
    make.route({
      method: 'GET',
      path: '/api/rpc/persistent/device/{deviceId}',
      about: 'The persistent calls of a device.',
      authorities: TENANT_AND_CUSTOMER,
      targets: { deviceId: { entity: DEVICE, operation: 'READ' } },
      query: { page: paging, rpcStatus: optionalChoice(CALL_STATUSES.filter((status) => status !== 'DELETED')) },
      body: undefined,
      answer: pageShape(RPC_SHAPE),
      handle: async ({ path, query }) => {
        const page = await calls.page(path.deviceId, query.rpcStatus, query.page)
        return { ...page, data: page.data.map(rpcJson) }
      },
    }),
    make.route({
      method: 'DELETE',
      path: '/api/rpc/persistent/{rpcId}',
      about: 'Deletes a persistent call; one that the device has not got is withdrawn.',
      authorities: TENANT,
      targets: { rpcId: { entity: RPC, operation: 'DELETE' } },
      query: {},
      body: undefined,
      answer: undefined,
      handle: async ({ principal, path }) => {
        await calls.deleteByUser(principal, path.rpcId)
        return EMPTY_ANSWER
      },
    }),
  ]
}

/** A refusal in the words of these calls (`rest-api.md` 2.6): a device of another tenant is one that is not there. */
function inTexts({ access, devices }: Services): AccessControl {
  const check = async (principal: Principal, operation: Operation, entity: EntityId): Promise<void> => {
    try {
      await access.check(principal, operation, entity)
    } catch (error) {
      const isDenied = isMillraceError(error) && error.status === 403 && principal.tenantId !== null
      if (isDenied && entity.entityType === 'DEVICE') {
        const device = await devices.findIdentity(entity.id)
        if (device?.tenantId !== principal.tenantId)
          throw TelemetryRouteErrors.ENTITY_NOT_FOUND({ type: 'Device' }, error)
      }
      throw accessError(error, principal, entity.entityType) ?? error
    }
  }
  return {
    checkAuthority: (principal, operation, entityType) => access.checkAuthority(principal, operation, entityType),
    allowed: (principal, operation, entityType, entities) => access.allowed(principal, operation, entityType, entities),
    check,
  }
}

const RULE_ENGINE_BODY = z.custom<string>((body) => typeof body === 'string').meta({ description: 'Any JSON' })
const DEFAULT_REPLY_MS = 10_000
const ENTITY = { entityId: { typedBy: 'entityType', operation: 'WRITE' } } as const

/** The chain of the entity gets the body, and answers by a node. */
function ruleEngineRoutes(make: RouteMaker, { calls }: Services): readonly DeclaredRoute[] {
  const common = {
    method: 'POST',
    authorities: EVERYBODY,
    query: {},
    body: RULE_ENGINE_BODY,
    bodyIs: 'json-text',
    answer: {},
    example: (): JsonValue => ({ question: 1 }),
    errorsAsText: true,
  } as const
  const ask = async (
    principal: Principal,
    entity: EntityId,
    body: string,
    { timeout, queueName }: { readonly timeout?: string; readonly queueName?: string } = {},
  ): Promise<Answer> => {
    const timeoutMs = timeout === undefined ? DEFAULT_REPLY_MS : timeoutOf(timeout)
    // The chain gets the text as it was sent.
    jsonIn(body)
    const answer = await calls.callRuleEngineByUser(principal, entity, {
      data: body,
      timeoutMs,
      queueName,
    })
    return answer === undefined ? statusAnswer(408) : rawAnswer(jsonTextAnswer(answer))
  }
  return [
    make.route({
      ...common,
      path: '/api/rule-engine/',
      about: 'Gives the body to the root chain as a message of the caller, and waits for its answer.',
      targets: {},
      isAboutTheCaller: true,
      handle: ({ principal, body }) => ask(principal, { entityType: 'USER', id: principal.userId }, body),
    }),
    make.route({
      ...common,
      path: '/api/rule-engine/{entityType}/{entityId}',
      about: 'Gives the body to the chain of an entity, and waits for its answer.',
      targets: ENTITY,
      handle: ({ principal, targets, body }) => ask(principal, targets.entityId, body),
    }),
    make.route({
      ...common,
      path: '/api/rule-engine/{entityType}/{entityId}/{timeout}',
      about: 'The same, waiting for so many milliseconds.',
      targets: ENTITY,
      handle: ({ principal, path, targets, body }) => ask(principal, targets.entityId, body, { timeout: path.timeout }),
    }),
    make.route({
      ...common,
      path: '/api/rule-engine/{entityType}/{entityId}/{queueName}/{timeout}',
      about: 'The same by a queue.',
      targets: ENTITY,
      handle: ({ principal, path, targets, body }) =>
        ask(principal, targets.entityId, body, { timeout: path.timeout, queueName: path.queueName }),
    }),
  ]
}

/** Throws `BODY_MISSING`, `BODY_REFUSED`. */
function jsonIn(text: string): JsonValue {
  if (text.trim() === '') throw ParameterErrors.BODY_MISSING()
  try {
    return parseJson(text)
  } catch (error) {
    throw ParameterErrors.BODY_REFUSED({}, error)
  }
}

function timeoutOf(text: string): number {
  const value = Number(text)
  if (!/^\d{1,10}$/.test(text))
    throw ParameterErrors.INVALID({ name: 'timeout', value: text, expected: 'a whole number' })
  return Math.min(value, MAX_WAIT_MS)
}
