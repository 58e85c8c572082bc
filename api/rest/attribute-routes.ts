/** Attributes of entities in their three scopes. Source: `rest-api.md` 4.1, 4.2, 4.5, 4.8. */
import { valueJson } from '../../model/entry-json.ts'
import type { EntityId } from '../../model/entity-id.ts'
import type { AttributeScope } from '../../model/value.ts'
import type { Services } from '../../services/services.ts'
import {
  EMPTY_ANSWER,
  EVERYBODY,
  jsonAnswer,
  jsonTextAnswer,
  type Answer,
  type RestRoute,
  type UserCall,
} from './route.ts'
import { attributesOf } from './telemetry-body.ts'
import { deviceOf, entityOf, scopeOf } from './telemetry-entity.ts'

const TELEMETRY = '/api/plugins/telemetry'
const PREFIX = `${TELEMETRY}/:entityType/:entityId`

export function attributeRoutes(services: Services, castStrings: boolean): readonly RestRoute[] {
  return [...readRoutes(services), ...saveRoutes(services, castStrings), ...deleteRoutes(services)]
}

function readRoutes({ attributes, access }: Services): readonly RestRoute[] {
  const keys = async (call: UserCall, scope: AttributeScope | undefined): Promise<Answer> =>
    jsonAnswer([...(await attributes.keys(await entityOf(access, call, 'READ_ATTRIBUTES'), scope))])
  const values = async (call: UserCall, scope: AttributeScope | undefined): Promise<Answer> => {
    const names = call.query.keys()
    const entity = await entityOf(access, call, 'READ_ATTRIBUTES')
    const { value } = await attributes.find(entity, scope, names.length === 0 ? undefined : names)
    const items = value.map(
      (attribute) =>
        `{"lastUpdateTs":${attribute.lastUpdateTs},"key":${JSON.stringify(attribute.key)},"value":${valueJson(attribute)}}`,
    )
    return jsonTextAnswer(`[${items.join(',')}]`)
  }
  const route = (pattern: string, handle: (call: UserCall) => Promise<Answer>): RestRoute => ({
    method: 'GET',
    pattern: `${PREFIX}${pattern}`,
    authorities: EVERYBODY,
    errorsAsText: true,
    handle,
  })
  return [
    route('/keys/attributes', (call) => keys(call, undefined)),
    route('/keys/attributes/:scope', async (call) => keys(call, scopeOf(call.parameter(2)))),
    route('/values/attributes', (call) => values(call, undefined)),
    route('/values/attributes/:scope', async (call) => values(call, scopeOf(call.parameter(2)))),
    // The requirements name this path too (4.6); the reference does not serve it.
    route('/:scope', async (call) => values(call, scopeOf(call.parameter(2)))),
  ]
}

function saveRoutes({ attributes, access }: Services, castStrings: boolean): readonly RestRoute[] {
  const save = async (call: UserCall, scope: AttributeScope, entity: EntityId): Promise<Answer> => {
    await attributes.saveByUser(call.principal, entity, scope, attributesOf(call.text(), castStrings))
    return EMPTY_ANSWER
  }
  const byEntity = (pattern: string): RestRoute => ({
    method: 'POST',
    pattern: `${PREFIX}${pattern}`,
    authorities: EVERYBODY,
    errorsAsText: true,
    handle: async (call) => save(call, scopeOf(call.parameter(2)), await entityOf(access, call, 'WRITE_ATTRIBUTES')),
  })
  return [
    byEntity('/:scope'),
    byEntity('/attributes/:scope'),
    {
      method: 'POST',
      pattern: `${TELEMETRY}/:deviceId/:scope`,
      authorities: EVERYBODY,
      errorsAsText: true,
      handle: async (call) => save(call, scopeOf(call.parameter(1)), await deviceOf(access, call, 'WRITE_ATTRIBUTES')),
    },
  ]
}

function deleteRoutes({ attributes, access }: Services): readonly RestRoute[] {
  const remove = async (call: UserCall, scope: AttributeScope, entity: EntityId): Promise<Answer> => {
    await attributes.deleteByUser(call.principal, entity, scope, call.query.keys())
    return EMPTY_ANSWER
  }
  return [
    {
      method: 'DELETE',
      pattern: `${PREFIX}/:scope`,
      authorities: EVERYBODY,
      errorsAsText: true,
      handle: async (call) =>
        remove(call, scopeOf(call.parameter(2)), await entityOf(access, call, 'WRITE_ATTRIBUTES')),
    },
    {
      method: 'DELETE',
      pattern: `${TELEMETRY}/:deviceId/:scope`,
      authorities: EVERYBODY,
      errorsAsText: true,
      handle: async (call) =>
        remove(call, scopeOf(call.parameter(1)), await deviceOf(access, call, 'WRITE_ATTRIBUTES')),
    },
  ]
}
