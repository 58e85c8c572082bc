/** Attributes of entities in their three scopes. Source: `rest-api.md` 4.1, 4.2, 4.5, 4.8. */
import { valueJson } from '../../model/entry-json.ts'
import { entityId, type EntityId } from '../../model/entity-id.ts'
import type { JsonObject } from '../../model/json.ts'
import type { Principal } from '../../model/principal.ts'
import { ATTRIBUTE_SCOPES, type AttributeScope } from '../../model/value.ts'
import type { Services } from '../../services/services.ts'
import { rawAnswer, type RouteMaker } from './declared/declare.ts'
import { keyList, keysToDelete } from './declared/query.ts'
import type { DeclaredRoute } from './declared/route.ts'
import { listShape } from './declared/shapes.ts'
import { EMPTY_ANSWER, EVERYBODY, jsonTextAnswer, type Answer } from './route.ts'
import { telemetryMaker } from './telemetry-access.ts'
import { ATTRIBUTES_BODY, attributesOf } from './telemetry-body.ts'

const TELEMETRY = '/api/plugins/telemetry'
const PREFIX = `${TELEMETRY}/{entityType}/{entityId}`
const DEVICE = { type: 'DEVICE', label: 'Device' } as const

const SCOPES = { scope: ATTRIBUTE_SCOPES } as const
const READ = { entityId: { typedBy: 'entityType', operation: 'READ_ATTRIBUTES' } } as const
const WRITE = { entityId: { typedBy: 'entityType', operation: 'WRITE_ATTRIBUTES' } } as const
const WRITE_DEVICE = { deviceId: { entity: DEVICE, operation: 'WRITE_ATTRIBUTES' } } as const
const COMMON = { authorities: EVERYBODY, errorsAsText: true } as const

const ATTRIBUTE: JsonObject = {
  title: 'AttributeData',
  type: 'object',
  properties: {
    lastUpdateTs: { type: 'integer', description: 'Unix milliseconds' },
    key: { type: 'string' },
    value: {},
  },
  required: ['lastUpdateTs', 'key', 'value'],
}
const ATTRIBUTES = listShape(ATTRIBUTE)
const KEYS = listShape({ type: 'string' })

export function attributeRoutes(services: Services, castStrings: boolean): readonly DeclaredRoute[] {
  const make = telemetryMaker(services.access)
  return [
    ...keyRoutes(make, services),
    ...valueRoutes(make, services),
    ...saveRoutes(make, services, castStrings),
    ...deleteRoutes(make, services),
  ]
}

function keyRoutes(make: RouteMaker, { attributes }: Services): readonly DeclaredRoute[] {
  const common = { ...COMMON, method: 'GET', targets: READ, query: {}, body: undefined, answer: KEYS } as const
  return [
    make.route({
      ...common,
      path: `${PREFIX}/keys/attributes`,
      about: 'Names the attributes of an entity.',
      handle: async ({ targets }) => [...(await attributes.keys(targets.entityId, undefined))],
    }),
    make.route({
      ...common,
      path: `${PREFIX}/keys/attributes/{scope}`,
      about: 'Names the attributes of one scope.',
      words: SCOPES,
      handle: async ({ targets, path }) => [...(await attributes.keys(targets.entityId, path.scope))],
    }),
  ]
}

function valueRoutes(make: RouteMaker, { attributes }: Services): readonly DeclaredRoute[] {
  const values = async (
    entity: EntityId,
    scope: AttributeScope | undefined,
    keys: readonly string[],
  ): Promise<Answer> => {
    const { value } = await attributes.find(entity, scope, keys.length === 0 ? undefined : keys)
    const items = value.map(
      (attribute) =>
        `{"lastUpdateTs":${attribute.lastUpdateTs},"key":${JSON.stringify(attribute.key)},"value":${valueJson(attribute)}}`,
    )
    return rawAnswer(jsonTextAnswer(`[${items.join(',')}]`))
  }
  const common = {
    ...COMMON,
    method: 'GET',
    targets: READ,
    query: { keys: keyList },
    body: undefined,
    answer: ATTRIBUTES,
  } as const
  const ofScope = (path: `${typeof PREFIX}/values/attributes/{scope}`): DeclaredRoute =>
    make.route({
      ...common,
      path,
      about: 'Attributes of one scope, all or those named.',
      words: SCOPES,
      handle: ({ targets, path: { scope }, query }) => values(targets.entityId, scope, query.keys),
    })
  return [
    make.route({
      ...common,
      path: `${PREFIX}/values/attributes`,
      about: 'Attributes of an entity, all or those named.',
      handle: ({ targets, query }) => values(targets.entityId, undefined, query.keys),
    }),
    ofScope(`${PREFIX}/values/attributes/{scope}`),
    // The requirements name this path too (4.6); the reference does not serve it.
    ofScope(`${PREFIX}/{scope}` as `${typeof PREFIX}/values/attributes/{scope}`),
  ]
}

function saveRoutes(make: RouteMaker, { attributes }: Services, castStrings: boolean): readonly DeclaredRoute[] {
  const save = async (principal: Principal, entity: EntityId, scope: AttributeScope, text: string): Promise<Answer> => {
    await attributes.saveByUser(principal, entity, scope, attributesOf(text, castStrings))
    return EMPTY_ANSWER
  }
  const common = {
    ...COMMON,
    method: 'POST',
    words: SCOPES,
    query: {},
    body: ATTRIBUTES_BODY,
    bodyIs: 'json-text',
    answer: undefined,
    example: () => ({ secretAttribute: 1 }),
  } as const
  const ofEntity = (path: `${typeof PREFIX}/{scope}`): DeclaredRoute =>
    make.route({
      ...common,
      path,
      about: 'Saves attributes of an entity.',
      targets: WRITE,
      handle: (call) => save(call.principal, call.targets.entityId, call.path.scope, call.body),
    })
  return [
    ofEntity(`${PREFIX}/{scope}`),
    ofEntity(`${PREFIX}/attributes/{scope}` as `${typeof PREFIX}/{scope}`),
    make.route({
      ...common,
      path: `${TELEMETRY}/{deviceId}/{scope}`,
      about: 'Saves attributes of a device.',
      targets: WRITE_DEVICE,
      handle: ({ principal, path, body }) => save(principal, entityId('DEVICE', path.deviceId), path.scope, body),
    }),
  ]
}

function deleteRoutes(make: RouteMaker, { attributes }: Services): readonly DeclaredRoute[] {
  const common = {
    ...COMMON,
    method: 'DELETE',
    words: SCOPES,
    query: { keys: keysToDelete },
    body: undefined,
    answer: undefined,
  } as const
  return [
    make.route({
      ...common,
      path: `${PREFIX}/{scope}`,
      about: 'Deletes attributes of an entity.',
      targets: WRITE,
      handle: async ({ principal, targets, path, query }) => {
        await attributes.deleteByUser(principal, targets.entityId, path.scope, query.keys)
        return EMPTY_ANSWER
      },
    }),
    make.route({
      ...common,
      path: `${TELEMETRY}/{deviceId}/{scope}`,
      about: 'Deletes attributes of a device.',
      targets: WRITE_DEVICE,
      handle: async ({ principal, path, query }) => {
        await attributes.deleteByUser(principal, entityId('DEVICE', path.deviceId), path.scope, query.keys)
        return EMPTY_ANSWER
      },
    }),
  ]
}
