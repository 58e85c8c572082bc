/** Query parameters of a declared route, one function a kind; read with the reference's rules (`rest-api.md` 2.3, 3.2, 3.4). */
import type { PageQuery } from '../../../model/entities.ts'
import type { JsonObject } from '../../../model/json.ts'
import { ENTITY_TYPES, type EntityType } from '../../../model/entity-id.ts'
import { ATTRIBUTE_SCOPES, type AttributeScope } from '../../../model/value.ts'
import { RELATION_GROUPS, type RelationGroup } from '../../../model/relation.ts'
import { ParameterErrors } from '../../errors.ts'
import { MAX_IDS, oneOf, uuidOf, type Query } from '../query.ts'

/** One parameter, or a group such as paging. */
export interface QueryParameter<Value> {
  /** For the API description. */
  readonly parameters: readonly ParameterShape[]
  read(query: Query, name: string): Value
}

export interface ParameterShape {
  /** '' for the name that the route gives it. */
  readonly name: string
  readonly isRequired: boolean
  readonly schema: JsonObject
}

export type QuerySchema = Readonly<Record<string, QueryParameter<unknown>>>
export type QueryValues<Schema extends QuerySchema> = {
  readonly [Name in keyof Schema]: Schema[Name] extends QueryParameter<infer Value> ? Value : never
}

const TEXT: JsonObject = { type: 'string' }

/** Undefined when absent or blank. */
export const optionalText: QueryParameter<string | undefined> = {
  parameters: [{ name: '', isRequired: false, schema: TEXT }],
  read: (query, name) => query.text(name),
}

export const requiredText: QueryParameter<string> = {
  parameters: [{ name: '', isRequired: true, schema: TEXT }],
  read: (query, name) => query.required(name),
}

/** Unix ms. */
export const optionalTime: QueryParameter<number | undefined> = {
  parameters: [{ name: '', isRequired: false, schema: { type: 'integer', description: 'Unix milliseconds' } }],
  read: (query, name) => query.integer(name),
}

export const requiredTime: QueryParameter<number> = {
  parameters: [{ name: '', isRequired: true, schema: { type: 'integer', description: 'Unix milliseconds' } }],
  read: (query, name) => query.requiredInteger(name),
}

/** Keys of telemetry or attributes; empty where none is named. */
export const keyList: QueryParameter<readonly string[]> = {
  parameters: [
    { name: 'keys', isRequired: false, schema: { type: 'string', description: 'joined by commas' } },
    { name: 'key', isRequired: false, schema: { type: 'array', items: TEXT, description: 'in the place of keys' } },
  ],
  read: (query) => query.keys(),
}

/** The same where one must be named; the service refuses none in its own words. */
export const keysToDelete: QueryParameter<readonly string[]> = {
  parameters: keyList.parameters.map((parameter) =>
    parameter.name === 'keys' ? { ...parameter, isRequired: true } : parameter,
  ),
  read: (query) => query.keys(),
}

export const optionalUuid: QueryParameter<string | undefined> = {
  parameters: [{ name: '', isRequired: false, schema: { type: 'string', format: 'uuid' } }],
  read: (query, name) => query.uuid(name),
}

export const requiredUuid: QueryParameter<string> = {
  parameters: [{ name: '', isRequired: true, schema: { type: 'string', format: 'uuid' } }],
  read: (query, name) => uuidOf(name, query.required(name)),
}

export const requiredEntityType: QueryParameter<EntityType> = {
  parameters: [{ name: '', isRequired: true, schema: { type: 'string', enum: [...ENTITY_TYPES] } }],
  read: (query, name) => oneOf(name, query.required(name), ENTITY_TYPES),
}

/** Scopes joined by commas; empty for none named. */
export const scopeList: QueryParameter<readonly AttributeScope[]> = {
  parameters: [{ name: '', isRequired: false, schema: { type: 'string', enum: [...ATTRIBUTE_SCOPES] } }],
  read: (query, name) => query.items(name).map((scope) => oneOf(name, scope, ATTRIBUTE_SCOPES)),
}

/** What it does not know means `COMMON`, as in the reference. */
export const relationGroup: QueryParameter<RelationGroup> = {
  parameters: [{ name: '', isRequired: false, schema: { type: 'string', default: 'COMMON' } }],
  read: (query, name) => RELATION_GROUPS.find((group) => group === query.text(name)) ?? 'COMMON',
}

export const optionalInteger: QueryParameter<number | undefined> = {
  parameters: [{ name: '', isRequired: false, schema: { type: 'integer' } }],
  read: (query, name) => query.integer(name),
}

export function optionalChoice<const Choice extends string>(
  choices: readonly Choice[],
): QueryParameter<Choice | undefined> {
  return {
    parameters: [{ name: '', isRequired: false, schema: { type: 'string', enum: [...choices] } }],
    read: (query, name) => query.oneOf(name, choices),
  }
}

export function requiredChoice<const Choice extends string>(choices: readonly Choice[]): QueryParameter<Choice> {
  return {
    parameters: [{ name: '', isRequired: true, schema: { type: 'string', enum: [...choices] } }],
    read: (query, name) => oneOf(name, query.required(name), choices),
  }
}

/** The same in letters of any case: the choices are in capitals. */
export function requiredChoiceOfAnyCase<const Choice extends string>(
  choices: readonly Choice[],
): QueryParameter<Choice> {
  const { parameters } = requiredChoice(choices)
  return { parameters, read: (query, name) => oneOf(name, query.required(name).toUpperCase(), choices) }
}

/** Texts, repeated or joined by commas; empty when absent. */
export const textList: QueryParameter<readonly string[]> = {
  parameters: [{ name: '', isRequired: false, schema: { type: 'array', items: TEXT } }],
  read: (query, name) => bounded(name, query.items(name)),
}

/** The same of ids. */
export const optionalUuidList: QueryParameter<readonly string[]> = {
  parameters: [{ name: '', isRequired: false, schema: { type: 'array', items: { type: 'string', format: 'uuid' } } }],
  read: (query, name) => bounded(name, query.items(name)).map((item) => uuidOf(name, item)),
}

/** The same of few words. */
export function choiceList<const Choice extends string>(choices: readonly Choice[]): QueryParameter<readonly Choice[]> {
  const items = { type: 'string', enum: [...choices] }
  return {
    parameters: [{ name: '', isRequired: false, schema: { type: 'array', items } }],
    read: (query, name) => bounded(name, query.items(name)).map((item) => oneOf(name, item, choices)),
  }
}

/** The same where one must be named. */
export function requiredChoices<const Choice extends string>(
  choices: readonly Choice[],
): QueryParameter<readonly Choice[]> {
  const list = choiceList(choices)
  return {
    parameters: list.parameters.map((parameter) => ({ ...parameter, isRequired: true })),
    read: (query, name) => {
      query.required(name)
      return list.read(query, name)
    },
  }
}

function bounded(name: string, items: readonly string[]): readonly string[] {
  if (items.length > MAX_IDS)
    throw ParameterErrors.INVALID({ name, value: `${items.length} items`, expected: `at most ${MAX_IDS}` })
  return [...new Set(items)]
}

export function flag(absent: boolean): QueryParameter<boolean> {
  return {
    parameters: [{ name: '', isRequired: false, schema: { type: 'boolean', default: absent } }],
    read: (query, name) => query.boolean(name, absent),
  }
}

export const requiredFlag: QueryParameter<boolean> = {
  parameters: [{ name: '', isRequired: true, schema: { type: 'boolean' } }],
  read: (query, name) => {
    query.required(name)
    return query.boolean(name, false)
  },
}

/** Undefined when absent or blank. */
export function optionalCount(least: number, most?: number): QueryParameter<number | undefined> {
  const schema = { type: 'integer', minimum: least, ...(most === undefined ? {} : { maximum: most }) }
  return {
    parameters: [{ name: '', isRequired: false, schema }],
    read: (query, name) => {
      const value = query.integer(name)
      if (value === undefined || (value >= least && (most === undefined || value <= most))) return value
      const expected = most === undefined ? `at least ${least}` : `${least} to ${most}`
      throw ParameterErrors.INVALID({ name, value, expected })
    },
  }
}

/** From 1 to `most`. */
export function requiredCount(most: number): QueryParameter<number> {
  return {
    parameters: [{ name: '', isRequired: true, schema: { type: 'integer', minimum: 1, maximum: most } }],
    read: (query, name) => {
      const value = query.requiredInteger(name)
      if (value < 1 || value > most)
        throw ParameterErrors.INVALID({ name, value: String(value), expected: `from 1 to ${most}` })
      return value
    },
  }
}

/** Undefined when absent or blank. */
export const optionalFlag: QueryParameter<boolean | undefined> = {
  parameters: [{ name: '', isRequired: false, schema: { type: 'boolean' } }],
  read: (query, name) => (query.text(name) === undefined ? undefined : query.boolean(name, false)),
}

/** Ids joined by commas, lower case, each once. */
export const uuidList: QueryParameter<readonly string[]> = {
  parameters: [{ name: '', isRequired: true, schema: { type: 'string', description: 'UUIDs joined by commas' } }],
  read: (query, name) => query.uuids(name),
}

export const paging: QueryParameter<PageQuery> = {
  parameters: [
    { name: 'pageSize', isRequired: true, schema: { type: 'integer', minimum: 1 } },
    { name: 'page', isRequired: true, schema: { type: 'integer', minimum: 0 } },
    { name: 'textSearch', isRequired: false, schema: TEXT },
    { name: 'sortProperty', isRequired: false, schema: TEXT },
    { name: 'sortOrder', isRequired: false, schema: { type: 'string', enum: ['ASC', 'DESC'] } },
  ],
  read: (query) => query.page(),
}

export function readQuery<Schema extends QuerySchema>(schema: Schema, query: Query): QueryValues<Schema> {
  const values = Object.entries(schema).map(([name, parameter]) => [name, parameter.read(query, name)])
  return Object.fromEntries(values) as QueryValues<Schema>
}
