/** Calculated fields, and alarm rules, which are those of type ALARM under paths of their own. Source: `rest-api.md` 15.3. */
import { z } from 'zod'
import { ENTITY_TYPES, entityId } from '../../model/entity-id.ts'
import type { JsonObject, JsonValue } from '../../model/json.ts'
import type { Page } from '../../model/entities.ts'
import type { Principal } from '../../model/principal.ts'
import { CALCULATED_FIELD_TYPES, entitiesOf } from '../../model/calculated-fields/configuration.ts'
import { configurationOf } from '../../services/calculated-fields/configuration.ts'
import type { CalculatedFieldDraft, CalculatedFields } from '../../services/calculated-fields/calculated-fields.ts'
import { CalculatedFieldErrors } from '../../services/calculated-fields/errors.ts'
import { scriptTest } from '../../services/calculated-fields/test-script.ts'
import { calculatedFields, type CalculatedField } from '../../services/entities/calculated-field.ts'
import { jsonObject, optionalId, optionalVersion } from './body.ts'
import type { RouteMaker } from './declared/declare.ts'
import {
  choiceList,
  optionalChoice,
  optionalUuidList,
  paging,
  requiredChoice,
  textList,
  type QueryValues,
} from './declared/query.ts'
import type { BodyTarget, DeclaredRoute } from './declared/route.ts'
import { pageShape, recordShape } from './declared/shapes.ts'
import { EMPTY_ANSWER, TENANT } from './route.ts'

export interface CalculatedFieldRouteParts {
  readonly make: RouteMaker
  readonly fieldService: CalculatedFields
}

const FIELD_SHAPE = recordShape(calculatedFields)
const RULE_SHAPE = membersChanged(FIELD_SHAPE, ({ type: _type, ...others }) => others)
const NAMED: JsonObject = { entityName: { type: ['string', 'null'] } }

function membersChanged(shape: JsonObject, change: (members: JsonObject) => JsonObject): JsonObject {
  const properties = change(shape['properties'] as JsonObject)
  return { type: 'object', properties, required: Object.keys(properties) }
}

const { columns } = calculatedFields
const common = {
  id: optionalId,
  version: optionalVersion,
  entityId: columns.entityId.input.optional(),
  name: columns.name.input.optional(),
  debugSettings: columns.debugSettings.input.optional(),
  /** As older clients say it. */
  debugMode: z.boolean().nullish(),
  configurationVersion: columns.configurationVersion.input.optional(),
  configuration: jsonObject,
  additionalInfo: columns.additionalInfo.input.optional(),
}
const fieldSchema = z.object({ ...common, type: columns.type.input.optional() }).transform(watched)
const ruleSchema = z.object(common).transform((members) => watched({ ...members, type: 'ALARM' as const }))

/** `debugMode` is all of the settings, for some time. */
function watched<Members extends { debugMode?: boolean | null | undefined; debugSettings?: JsonValue | undefined }>({
  debugMode,
  ...members
}: Members) {
  if (debugMode !== true || (members.debugSettings ?? null) !== null) return members
  return { ...members, debugSettings: { failuresEnabled: true, allEnabled: true } }
}

const TEST_ANSWER: JsonObject = {
  type: 'object',
  properties: { output: { type: 'string', description: 'JSON' }, error: { type: 'string' } },
  required: ['output', 'error'],
}
const SCRIPT_TEST = {
  authorities: TENANT,
  targets: {},
  query: {},
  body: scriptTest,
  answer: TEST_ANSWER,
} as const
const TEST_EXAMPLE = {
  expression: 'return {"doubled": t * 2};',
  arguments: { t: { type: 'SINGLE_VALUE', ts: 1_700_000_000_000, value: 21 } },
}

/** What a save names: the field, the entity that it is about, and those whose values it reads. */
function namedBy({ id, entityId: entity, configuration }: CalculatedFieldDraft): readonly BodyTarget[] {
  const read = configurationOf(configuration as JsonObject)
  return [
    ...(id === undefined ? [] : [{ entity: entityId('CALCULATED_FIELD', id), operation: 'WRITE' as const }]),
    ...(entity === undefined || entity === null ? [] : [{ entity, operation: 'WRITE' as const }]),
    ...entitiesOf(read).map((source) => ({ entity: source, operation: 'READ' as const })),
  ]
}

export function calculatedFieldRoutes(parts: CalculatedFieldRouteParts): readonly DeclaredRoute[] {
  return [...fieldRoutes(parts), ...fieldLists(parts), ...ruleRoutes(parts), ...ruleLists(parts)]
}

function fieldRoutes({ make, fieldService: service }: CalculatedFieldRouteParts): readonly DeclaredRoute[] {
  const target = (operation: 'READ' | 'DELETE') => ({
    calculatedFieldId: { entity: calculatedFields, operation },
  })
  return [
    make.route({
      method: 'POST',
      path: '/api/calculatedField',
      about: 'Makes a calculated field, or replaces the one that the body names.',
      authorities: TENANT,
      targets: {},
      query: {},
      body: fieldSchema,
      example: (ids) => calculatedFields.example(ids),
      creates: ({ id }) => (id === undefined ? 'CALCULATED_FIELD' : undefined),
      bodyTargets: namedBy,
      answer: FIELD_SHAPE,
      handle: async ({ principal, body }) => calculatedFields.jsonOf(await service.saveByUser(principal, body)),
    }),
    make.route({
      method: 'GET',
      path: '/api/calculatedField/{calculatedFieldId}',
      about: 'One calculated field.',
      authorities: TENANT,
      targets: target('READ'),
      query: {},
      body: undefined,
      answer: FIELD_SHAPE,
      handle: async ({ path }) => calculatedFields.jsonOf(await service.get(path.calculatedFieldId)),
    }),
    make.route({
      method: 'DELETE',
      path: '/api/calculatedField/{calculatedFieldId}',
      about: 'Deletes a calculated field.',
      authorities: TENANT,
      targets: target('DELETE'),
      query: {},
      body: undefined,
      answer: undefined,
      handle: async ({ principal, path }) => {
        await service.deleteByUser(principal, path.calculatedFieldId)
        return EMPTY_ANSWER
      },
    }),
    make.route({
      ...SCRIPT_TEST,
      method: 'POST',
      path: '/api/calculatedField/testScript',
      about: 'Runs a script once, with the values that the body gives its arguments.',
      example: () => TEST_EXAMPLE,
      handle: async ({ principal, body }) => service.test(principal, body),
    }),
  ]
}

const ON_ENTITY = { entityId: { typedBy: 'entityType', operation: 'READ' } } as const
const OF_ENTITY = { type: optionalChoice(CALCULATED_FIELD_TYPES), page: paging } as const
const NAMES = pageShape({ type: 'string' })

function fieldLists({ make, fieldService: service }: CalculatedFieldRouteParts): readonly DeclaredRoute[] {
  const list = { method: 'GET', authorities: TENANT, body: undefined } as const
  const ofEntity = async (principal: Principal, id: string, query: QueryValues<typeof OF_ENTITY>) => {
    const types = query.type === undefined ? [] : [query.type]
    return rendered(await service.page(principal, { entityId: id, types }, query.page), fieldJson)
  }
  return [
    ...(['/api/calculatedField/{entityType}/{entityId}', '/api/{entityType}/{entityId}/calculatedFields'] as const).map(
      (path) =>
        make.route({
          ...list,
          path,
          about: 'The calculated fields of an entity or a profile.',
          targets: ON_ENTITY,
          query: OF_ENTITY,
          answer: pageShape(FIELD_SHAPE),
          handle: ({ principal, targets, query }) => ofEntity(principal, targets.entityId.id, query),
        }),
    ),
    make.route({
      ...list,
      path: '/api/calculatedFields',
      about: 'The calculated fields of the tenant, with the names of what they are about.',
      targets: {},
      query: {
        types: choiceList(CALCULATED_FIELD_TYPES),
        entityType: optionalChoice(ENTITY_TYPES),
        entities: optionalUuidList,
        name: textList,
        page: paging,
      },
      answer: pageShape(membersChanged(FIELD_SHAPE, (members) => ({ ...members, ...NAMED }))),
      handle: async ({ principal, query }) => {
        const { types, entityType, entities, name, page } = query
        const found = await service.page(principal, { types, entityType, entityIds: entities, names: name }, page)
        return withNames(service, principal, found, fieldJson)
      },
    }),
    make.route({
      ...list,
      path: '/api/calculatedFields/names',
      about: 'Names of the calculated fields of a type.',
      targets: {},
      query: { type: requiredChoice(CALCULATED_FIELD_TYPES), page: paging },
      answer: NAMES,
      handle: async ({ principal, query }) =>
        rendered(await service.pageOfNames(principal, query.type, query.page), (name) => name),
    }),
  ]
}

function ruleRoutes({ make, fieldService: service }: CalculatedFieldRouteParts): readonly DeclaredRoute[] {
  const target = (operation: 'READ' | 'DELETE') => ({
    alarmRuleId: { entity: calculatedFields, operation, otherwise: () => CalculatedFieldErrors.NOT_A_RULE() },
  })
  return [
    make.route({
      method: 'POST',
      path: '/api/alarm/rule',
      about: 'Makes an alarm rule, or replaces the one that the body names: its name is the type of the alarms.',
      authorities: TENANT,
      targets: {},
      query: {},
      body: ruleSchema,
      example: (ids) => RULE_EXAMPLE(ids),
      creates: ({ id }) => (id === undefined ? 'CALCULATED_FIELD' : undefined),
      bodyTargets: namedBy,
      answer: RULE_SHAPE,
      handle: async ({ principal, body }) => {
        if (body.id !== undefined) await service.getRule(body.id)
        return ruleJson(await service.saveByUser(principal, body))
      },
    }),
    make.route({
      method: 'GET',
      path: '/api/alarm/rule/{alarmRuleId}',
      about: 'One alarm rule.',
      authorities: TENANT,
      targets: target('READ'),
      query: {},
      body: undefined,
      answer: RULE_SHAPE,
      handle: async ({ path }) => ruleJson(await service.getRule(path.alarmRuleId)),
    }),
    make.route({
      method: 'DELETE',
      path: '/api/alarm/rule/{alarmRuleId}',
      about: 'Deletes an alarm rule; the alarms that it raised stay.',
      authorities: TENANT,
      targets: target('DELETE'),
      query: {},
      body: undefined,
      answer: undefined,
      handle: async ({ principal, path }) => {
        const { id } = await service.getRule(path.alarmRuleId)
        await service.deleteByUser(principal, id)
        return EMPTY_ANSWER
      },
    }),
    make.route({
      ...SCRIPT_TEST,
      method: 'POST',
      path: '/api/alarm/rule/testScript',
      about: 'Runs the script of a condition once, with the values that the body gives its arguments.',
      example: () => ({ ...TEST_EXAMPLE, expression: 'return t > 20;' }),
      handle: async ({ principal, body }) => service.test(principal, body),
    }),
  ]
}

function ruleLists({ make, fieldService: service }: CalculatedFieldRouteParts): readonly DeclaredRoute[] {
  const list = { method: 'GET', authorities: TENANT, body: undefined } as const
  const types = ['ALARM'] as const
  return [
    make.route({
      ...list,
      path: '/api/alarm/rules',
      about: 'The alarm rules of the tenant, with the names of what they are about.',
      targets: {},
      query: { entityType: optionalChoice(ENTITY_TYPES), entities: optionalUuidList, page: paging },
      answer: pageShape(membersChanged(RULE_SHAPE, (members) => ({ ...members, ...NAMED }))),
      handle: async ({ principal, query }) => {
        const { entityType, entities, page } = query
        const found = await service.page(principal, { types, entityType, entityIds: entities }, page)
        return withNames(service, principal, found, ruleJson)
      },
    }),
    make.route({
      ...list,
      path: '/api/alarm/rules/names',
      about: 'Names of alarm rules.',
      targets: {},
      query: { page: paging },
      answer: NAMES,
      handle: async ({ principal, query }) =>
        rendered(await service.pageOfNames(principal, 'ALARM', query.page), (name) => name),
    }),
    make.route({
      ...list,
      path: '/api/alarm/rules/{entityType}/{entityId}',
      about: 'The alarm rules of an entity or a profile.',
      targets: ON_ENTITY,
      query: { page: paging },
      answer: pageShape(RULE_SHAPE),
      handle: async ({ principal, targets, query }) =>
        rendered(await service.page(principal, { entityId: targets.entityId.id, types }, query.page), ruleJson),
    }),
  ]
}

const RULE_EXAMPLE = (ids: Readonly<Record<string, string>>): JsonObject => ({
  entityId: { entityType: 'ASSET', id: ids['assetId'] ?? '' },
  name: 'High temperature',
  configuration: {
    type: 'ALARM',
    arguments: { t: { refEntityKey: { key: 'temperature', type: 'TS_LATEST' } } },
    createRules: {
      MAJOR: { condition: { type: 'SIMPLE', expression: { type: 'TBEL', expression: 'return t > 50;' } } },
    },
    clearRule: { condition: { type: 'SIMPLE', expression: { type: 'TBEL', expression: 'return t < 40;' } } },
  },
})

function fieldJson(field: CalculatedField): JsonObject {
  return calculatedFields.jsonOf(field)
}

/** The same without its type. */
function ruleJson(rule: CalculatedField): JsonObject {
  const { type: _type, ...others } = calculatedFields.jsonOf(rule)
  return others
}

function rendered<Item>(page: Page<Item>, jsonOf: (item: Item) => JsonObject | string): JsonObject {
  return { ...page, data: page.data.map(jsonOf) }
}

async function withNames(
  service: CalculatedFields,
  principal: Principal,
  page: Page<CalculatedField>,
  jsonOf: (field: CalculatedField) => JsonObject,
): Promise<JsonObject> {
  const names = await service.namesOf(principal, page.data)
  return rendered(page, (field) => ({ ...jsonOf(field), entityName: names.get(field.ownerId) ?? null }))
}
