/** JSON schemas of answers, from the declarations of entities: what the API description shows and its tests hold answers to. */
import type { JsonObject } from '../../../model/json.ts'
import type { ColumnSet, EntityDefinition } from '../../../services/entities/define.ts'

export function recordShape<Columns extends ColumnSet>({
  type,
  columns,
  lacks = [],
}: EntityDefinition<Columns>): JsonObject {
  const properties: JsonObject = {
    id: idShape(type),
    createdTime: { type: 'integer', description: 'Unix milliseconds' },
    ...(lacks.includes('tenantId') ? {} : { tenantId: idShape('TENANT') }),
    ...(lacks.includes('externalId') ? {} : { externalId: {} }),
    ...(lacks.includes('version') ? {} : { version: { type: 'integer' } }),
  }
  for (const [member, column] of Object.entries(columns))
    if (column.isInternal !== true) properties[member] = column.shape
  return { title: titleOf(type), type: 'object', properties, required: Object.keys(properties) }
}

/** `ASSET_PROFILE` is `AssetProfile`: under its title a schema stands once in the API description. */
function titleOf(entityType: string): string {
  return entityType
    .split('_')
    .map((word) => word.charAt(0) + word.slice(1).toLowerCase())
    .join('')
}

/** With the names that lists show. */
export function shownShape<Columns extends ColumnSet>(definition: EntityDefinition<Columns>): JsonObject {
  const shape = recordShape(definition)
  const properties: JsonObject = { ...(shape['properties'] as JsonObject) }
  for (const [name, { isFlag }] of Object.entries(definition.shows ?? {}))
    properties[name] = { type: isFlag === true ? 'boolean' : ['string', 'null'] }
  if ('customerId' in definition.columns) properties['customerIsPublic'] = { type: 'boolean' }
  return { title: `${titleOf(definition.type)}Info`, type: 'object', properties, required: Object.keys(properties) }
}

export function listShape(items: JsonObject): JsonObject {
  return { type: 'array', items }
}

export function pageShape(items: JsonObject): JsonObject {
  const { title } = items
  return {
    ...(typeof title === 'string' ? { title: `PageOf${title}` } : {}),
    type: 'object',
    properties: {
      data: listShape(items),
      totalPages: { type: 'integer' },
      totalElements: { type: 'integer' },
      hasNext: { type: 'boolean' },
    },
    required: ['data', 'totalPages', 'totalElements', 'hasNext'],
  }
}

export function idShape(entityType: string): JsonObject {
  return {
    title: `${titleOf(entityType)}Id`,
    type: 'object',
    properties: { entityType: { const: entityType }, id: { type: 'string', format: 'uuid' } },
    required: ['entityType', 'id'],
  }
}
