/** Widget types: how a widget looks and what it shows. Those of the system are there for every tenant. Source: `rest-api.md` 14.2. */
import { isJsonObject, type JsonObject, type JsonValue } from '../../model/json.ts'
import { ContentErrors } from '../content/errors.ts'
import { freeName, wordOf } from '../content/free-name.ts'
import { flag, internal, json, madeName, name, optionalText } from './column.ts'
import { defineEntity, type RecordOf } from './define.ts'

export const widgetTypes = defineEntity({
  type: 'WIDGET_TYPE',
  label: 'Widgets type',
  name: 'name',
  table: { name: 'widget_type', version: 1, indexes: [{ members: ['name'] }] },
  columns: {
    /** Made of the name where it is left out. */
    fqn: madeName(),
    name: name(),
    deprecated: flag(false),
    scada: flag(false),
    descriptor: json(),
    image: optionalText({ isFree: true, sort: false }),
    description: optionalText({ isFree: true, search: true }),
    tags: json(),
    /** `type` of the descriptor, for lists. */
    widgetKind: internal(optionalText()),
  },
  unique: [
    {
      members: ['fqn'],
      isMadeUnlike: true,
      otherwise: () => ContentErrors.TAKEN({ name: 'Widget type with such fqn' }),
    },
  ],
  example: () => ({ name: 'Card', fqn: 'card', descriptor: { type: 'latest', sizeX: 3, sizeY: 2 } }),
  permissions: { SYS_ADMIN: 'all', TENANT_ADMIN: 'all', CUSTOMER_USER: ['READ'] },
  mayBeSystems: true,
  isSharedBySystem: true,
  isSharedInTenant: true,
  moreJson: () => ({ resources: null }),
  messageJson: (json) => ({ ...json, descriptor: null, image: null }),
  async prepare(record, { before, siblings }) {
    const { descriptor, tenantId } = record
    if (!isJsonObject(descriptor) || Object.keys(descriptor).length === 0) throw ContentErrors.DESCRIPTOR_MISSING()
    const tags = textsOf(record.tags)
    const widgetKind = typeof descriptor['type'] === 'string' ? descriptor['type'] : null
    if (before !== undefined) {
      if (record.fqn !== '' && record.fqn !== before.fqn) throw ContentErrors.FIXED({ what: 'widget type fqn' })
      return { record: { ...record, fqn: before.fqn, tags, widgetKind } }
    }
    const wanted = record.fqn === '' ? wordOf(record.name) : record.fqn
    const fqn = await freeName(wanted, async (candidate) => (await siblings.count(tenantId, { fqn: candidate })) > 0)
    return { record: { ...record, fqn, tags, widgetKind } }
  },
})

export type WidgetType = RecordOf<typeof widgetTypes.columns>

function textsOf(value: JsonValue): string[] | null {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : null
}

/** What dashboards load. */
export function widgetTypeOnly(details: JsonObject): JsonObject {
  const { image: _i, description: _d, tags: _t, externalId: _e, resources: _r, ...type } = details
  return type
}

/** What lists show, without the bundles. */
export function widgetTypeInfo({ widgetKind }: WidgetType, details: JsonObject): JsonObject {
  const { descriptor: _d, externalId: _e, resources: _r, ...info } = details
  return { ...info, widgetType: widgetKind }
}
