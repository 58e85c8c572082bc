/**
 * Calculated fields: what is computed of the values of an entity, or of every entity of a profile; alarm rules are those of type ALARM. Stored
 * and checked here; they run in `services/calculated-fields/runtime/`. Source: `rest-api.md` 15.3, `rule-engine.md` section 8.
 */
import { CALCULATED_FIELD_TYPES, configurationJson } from '../../model/calculated-fields/configuration.ts'
import { ENTITY_TYPES, type EntityType } from '../../model/entity-id.ts'
import { isJsonObject, type JsonValue } from '../../model/json.ts'
import { configurationOf } from '../calculated-fields/configuration.ts'
import { CalculatedFieldErrors } from '../calculated-fields/errors.ts'
import { anyEntity, anyId, choice, integer, internal, json, name, type Column } from './column.ts'
import { defineEntity, type RecordOf } from './define.ts'
import { EntityViewErrors } from './entity-view-errors.ts'

const ON: readonly EntityType[] = ['DEVICE', 'ASSET', 'DEVICE_PROFILE', 'ASSET_PROFILE']

const COLUMNS = {
  entityId: anyEntity({ column: 'entity' }),
  /** What lists find it by, and what it goes with. */
  ownerType: internal(choice(ENTITY_TYPES, 'DEVICE')),
  ownerId: internal(anyId()),
  type: choice(CALCULATED_FIELD_TYPES, 'SIMPLE'),
  name: name(),
  debugSettings: json(),
  configurationVersion: integer(0),
  configuration: {
    ...json(),
    mentions: {
      entityTypes: ['DEVICE', 'ASSET', 'CUSTOMER'],
      except: 'ownerId',
      inUse: (type: EntityType) =>
        type === 'CUSTOMER'
          ? CalculatedFieldErrors.CUSTOMER_IN_USE()
          : EntityViewErrors.SOURCE_IN_USE({ type: type.toLowerCase() }),
    },
  } satisfies Column<JsonValue>,
  additionalInfo: json(),
}

export type CalculatedField = RecordOf<typeof COLUMNS>

export const calculatedFields = defineEntity({
  type: 'CALCULATED_FIELD',
  label: 'Calculated field',
  name: 'name',
  table: {
    name: 'calculated_field',
    version: 2,
    indexes: [
      { members: ['ownerId', 'name'] },
      { members: ['type', 'name'] },
      { members: ['ownerId'], isSystemWide: true, since: 2 },
    ],
  },
  columns: COLUMNS,
  unique: [{ members: ['entityId', 'type', 'name'], otherwise: () => CalculatedFieldErrors.NAME_TAKEN() }],
  lacks: ['externalId'],
  example: (ids) => ({
    entityId: { entityType: 'ASSET', id: ids['assetId'] ?? '' },
    type: 'SIMPLE',
    name: 'Fahrenheit',
    configuration: {
      type: 'SIMPLE',
      arguments: { t: { refEntityKey: { key: 'temperature', type: 'TS_LATEST' } } },
      expression: 't * 1.8 + 32',
      output: { type: 'TIME_SERIES', name: 'fahrenheit', decimalsByDefault: 1 },
    },
  }),
  permissions: { TENANT_ADMIN: 'all' },
  /** Who keeps those there are reads it again. */
  tells: ({ id }) => ({ kind: 'settings-changed', entity: { entityType: 'CALCULATED_FIELD', id } }),
  async prepare(record) {
    const { entityId, type, configuration } = record
    if (entityId === null) throw CalculatedFieldErrors.INVALID({ member: 'entityId', reason: 'must not be null' })
    const { entityType, id } = entityId
    if (!ON.includes(entityType) && !(type === 'ALARM' && entityType === 'CUSTOMER'))
      throw CalculatedFieldErrors.ENTITY_TYPE({ type, entityType })
    if (!isJsonObject(configuration))
      throw CalculatedFieldErrors.INVALID({ member: 'configuration', reason: 'must not be null' })
    const read = configurationOf(configuration)
    if (read.type !== type)
      throw CalculatedFieldErrors.INVALID({ member: 'configuration.type', reason: `must be ${type}` })
    return { record: { ...record, ownerType: entityType, ownerId: id, configuration: configurationJson(read) } }
  },
})
