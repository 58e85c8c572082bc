/** Files of a tenant or of the system: images, key stores, scripts of widgets, LwM2M models. Their bytes are beside. Source: `rest-api.md` 14.3. */
import { ResourceErrors } from '../content/resource-errors.ts'
import { forgetBytes, previewOf } from '../content/stored-bytes.ts'
import { NULL_UUID } from '../../model/entity-id.ts'
import { flag, integer, json, name, optionalText, type Column } from './column.ts'
import { defineEntity, type RecordOf } from './define.ts'

export const RESOURCE_TYPES = ['LWM2M_MODEL', 'JKS', 'PKCS_12', 'JS_MODULE', 'IMAGE', 'DASHBOARD', 'GENERAL'] as const
export type ResourceType = (typeof RESOURCE_TYPES)[number]

export const RESOURCE_SUB_TYPES = ['IMAGE', 'SCADA_SYMBOL', 'EXTENSION', 'MODULE'] as const

/** What pages of customers' users load. */
const OPEN_TO_CUSTOMERS: readonly (string | null)[] = ['IMAGE', 'JS_MODULE', 'DASHBOARD'] satisfies ResourceType[]

export const tbResources = defineEntity({
  type: 'TB_RESOURCE',
  label: 'Resource',
  name: 'title',
  table: { name: 'tb_resource', version: 1 },
  columns: {
    title: name(),
    resourceType: oneOf(RESOURCE_TYPES),
    resourceSubType: oneOf(RESOURCE_SUB_TYPES),
    /** By which links name it; made of the file's name where it is left out. */
    resourceKey: optionalText(),
    public: flag(false, { column: 'is_public' }),
    /** By which everybody names it, while it is public. */
    publicResourceKey: optionalText(),
    /** SHA-256 of the bytes. */
    etag: optionalText(),
    fileName: optionalText(),
    descriptor: json(),
    /** Of the file and its preview. */
    dataSize: internal(integer(0)),
    previewSize: internal(integer(0)),
    searchText: internal(optionalText()),
    /** Of an LwM2M model: what editors of device profiles choose from. */
    lwm2mObject: internal(json()),
  },
  unique: [
    { members: ['resourceType', 'resourceKey'], otherwise: () => ResourceErrors.TAKEN({ property: 'resourceKey' }) },
    {
      members: ['publicResourceKey'],
      isSystemWide: true,
      otherwise: () => ResourceErrors.TAKEN({ property: 'publicResourceKey' }),
    },
  ],
  lacks: ['version'],
  example: () => ({
    title: 'Clock',
    resourceType: 'JS_MODULE',
    fileName: 'clock.js',
    resourceKey: 'clock.js',
    publicResourceKey: 'clock',
  }),
  permissions: { SYS_ADMIN: 'all', TENANT_ADMIN: 'all', CUSTOMER_USER: ['READ'] },
  mayBeSystems: true,
  isSharedBySystem: true,
  isOpenInTenant: ({ resourceType }) => OPEN_TO_CUSTOMERS.includes(resourceType),
  moreJson: (record) => ({
    name: record.title,
    link: linkOf(record),
    publicLink: publicLinkOf(record.resourceType, record.public, record.publicResourceKey),
  }),
  async prepare(record, { before, siblings }) {
    const { tenantId, resourceType, fileName } = record
    if (resourceType === null) throw ResourceErrors.MISSING({ property: 'type' })
    if (before !== undefined && before.resourceType !== resourceType) throw ResourceErrors.TYPE_FIXED()
    const resourceKey = filled(record.resourceKey) ?? before?.resourceKey ?? filled(fileName)
    if (resourceKey === null) throw ResourceErrors.MISSING({ property: 'file name' })
    if (fileName !== before?.fileName && /[/\\]/.test(fileName ?? '')) throw ResourceErrors.FILE_NAME()
    const twin = await siblings.findBy(tenantId, { resourceType, resourceKey })
    if (twin !== undefined && twin.id !== record.id)
      throw ResourceErrors.TAKEN({ property: resourceType === 'LWM2M_MODEL' ? 'resourceKey' : 'fileName' })
    // That of a model says more than its title.
    const isOfTitle = before !== undefined && record.searchText === before.title
    const searchText = isOfTitle ? null : filled(record.searchText)
    return { record: { ...record, resourceKey, searchText: searchText ?? record.title } }
  },
  beforeDelete: async ({ id }, { store }) => [forgetBytes(store, id), forgetBytes(store, previewOf(id))],
})

export type TbResource = RecordOf<typeof tbResources.columns>

/** As much as a link says. */
interface Linked {
  readonly tenantId: string
  readonly resourceType: string | null
  readonly resourceKey: string | null
}

/** By what widgets and dashboards load it. */
export function linkOf({ tenantId, resourceType, resourceKey }: Linked): string {
  const scope = tenantId === NULL_UUID ? 'system' : 'tenant'
  const key = resourceKey ?? ''
  if (resourceType === 'IMAGE') return `/api/images/${scope}/${key}`
  return `/api/resource/${(resourceType ?? '').toLowerCase()}/${scope}/${key}`
}

function publicLinkOf(type: string | null, isPublic: boolean, publicResourceKey: string | null): string | null {
  return type === 'IMAGE' && isPublic && publicResourceKey !== null ? `/api/images/public/${publicResourceKey}` : null
}

function filled(text: string | null): string | null {
  return text === null || text === '' ? null : text
}

/** Of few words, or none. */
function oneOf(choices: readonly string[]): Column<string | null> {
  const column = optionalText()
  return {
    ...column,
    input: column.input.refine((value) => isNone(value) || choices.includes(value), `one of ${choices.join(', ')}`),
    shape: { type: ['string', 'null'], enum: [...choices, null] },
  }
}

function isNone(value: string | null | undefined): value is null | undefined {
  return value === null || value === undefined
}

function internal<Value>(column: Column<Value>): Column<Value> {
  return { ...column, isInternal: true, isSorted: false }
}
