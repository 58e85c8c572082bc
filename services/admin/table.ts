/** Where the system administrator's settings are kept, and how they are read where none of their secrets is asked for. */
import { isJsonObject, parseJson, type JsonObject } from '../../model/json.ts'
import type { EntityStore } from '../../storage/entities/entity-store.ts'
import { EntityStoreErrors } from '../../storage/entities/errors.ts'
import type { EntityTable, Row } from '../../storage/entities/tables/entity-table.ts'
import type { RowStore } from '../../storage/entities/tables/row-store.ts'
import { SYSTEM_TENANT } from '../changes/changes.ts'

export const ADMIN_SETTINGS: EntityTable = {
  name: 'admin_settings',
  version: 1,
  columns: [
    { name: 'key', type: 'text', isNullable: false },
    { name: 'value', type: 'text', isNullable: false },
  ],
  unique: [{ columns: ['tenant_id', 'key'] }],
  indexes: [],
}

export function findAdminSettingsRow(rows: RowStore, key: string): Promise<Row | undefined> {
  return rows.find([
    { column: 'tenant_id', is: SYSTEM_TENANT },
    { column: 'key', is: key },
  ])
}

/** As it lies there, its secrets sealed; undefined where nobody saved any. */
export async function readAdminSetting(
  { rows }: Pick<EntityStore, 'rows'>,
  key: string,
): Promise<JsonObject | undefined> {
  const overtaken = () => EntityStoreErrors.FAILED({ reason: 'settings were changed by a read' })
  const row = await findAdminSettingsRow(rows(ADMIN_SETTINGS, { taken: {}, overtaken }), key)
  return row && storedValue(row)
}

export function storedValue(row: Row): JsonObject {
  const value = parseJson(String(row['value']))
  if (!isJsonObject(value))
    throw EntityStoreErrors.FAILED({ reason: `the settings ${String(row['key'])} are no object` })
  return value
}
