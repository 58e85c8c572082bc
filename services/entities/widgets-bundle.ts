/** Widgets bundles: widget types in an order, for the editor's palette. Source: `rest-api.md` 14.2. */
import { ContentErrors } from '../content/errors.ts'
import { freeName, wordOf } from '../content/free-name.ts'
import type { EntityTable } from '../../storage/entities/tables/entity-table.ts'
import { flag, madeName, name, optionalInteger, optionalText } from './column.ts'
import { defineEntity, type RecordOf } from './define.ts'

export const widgetsBundles = defineEntity({
  type: 'WIDGETS_BUNDLE',
  label: 'Widgets bundle',
  name: 'title',
  table: { name: 'widgets_bundle', version: 1 },
  columns: {
    /** Made of the title where it is left out. */
    alias: madeName(),
    title: name(),
    image: optionalText({ isFree: true, sort: false }),
    scada: flag(false),
    description: optionalText({ isFree: true }),
    order: optionalInteger({ column: 'position' }),
  },
  unique: [
    {
      members: ['alias'],
      isMadeUnlike: true,
      otherwise: () => ContentErrors.TAKEN({ name: 'Widgets bundle with such alias' }),
    },
  ],
  example: () => ({ title: 'Cards' }),
  permissions: { SYS_ADMIN: 'all', TENANT_ADMIN: 'all', CUSTOMER_USER: ['READ'] },
  mayBeSystems: true,
  isSharedBySystem: true,
  isSharedInTenant: true,
  moreJson: ({ title }) => ({ name: title }),
  messageJson: (json) => ({ ...json, image: null }),
  async prepare(record, { before, siblings }) {
    if (before !== undefined) {
      if (record.alias !== '' && record.alias !== before.alias)
        throw ContentErrors.FIXED({ what: 'widgets bundle alias' })
      return { record: { ...record, alias: before.alias } }
    }
    const wanted = record.alias === '' ? wordOf(record.title) : record.alias
    const isTaken = async (alias: string) => (await siblings.count(record.tenantId, { alias })) > 0
    return { record: { ...record, alias: await freeName(wanted, isTaken) } }
  },
})

export type WidgetsBundle = RecordOf<typeof widgetsBundles.columns>

/** Which types a bundle holds; a row goes with either. */
export const BUNDLE_WIDGETS: EntityTable = {
  name: 'widgets_bundle_widget',
  version: 1,
  columns: [
    {
      name: 'widgets_bundle_id',
      type: 'text',
      isNullable: false,
      references: { table: 'widgets_bundle', whenDeleted: 'delete' },
    },
    {
      name: 'widget_type_id',
      type: 'text',
      isNullable: false,
      references: { table: 'widget_type', whenDeleted: 'delete' },
    },
    { name: 'position', type: 'integer', isNullable: false },
  ],
  unique: [{ columns: ['widgets_bundle_id', 'widget_type_id'] }],
  indexes: [{ columns: ['widget_type_id'] }],
}
