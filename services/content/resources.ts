/** What is special about files: their bytes, the share of a tenant, lists over the own ones and the system's (`rest-api.md` 14.3). */
import type { Page, PageQuery } from '../../model/entities.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../model/json.ts'
import type { Principal } from '../../model/principal.ts'
import type { Condition } from '../../storage/entities/tables/row-store.ts'
import { SYSTEM_TENANT } from '../changes/changes.ts'
import { draftOf } from '../entities/define.ts'
import type { EntityRegistry } from '../entities/entity-registry.ts'
import type { EntityService } from '../entities/entity-service.ts'
import { RESOURCE_TYPES, tbResources, type ResourceType, type TbResource } from '../entities/tb-resource.ts'
import { itemNotFound } from '../errors.ts'
import { displayedSize } from './displayed-size.ts'
import type { FileRoom, HeldBytes } from './file-room.ts'
import { keyOfModel, objectJson, parseModel, titleOfModel } from './lwm2m-models.ts'
import { referencesTo, type References } from './references.ts'
import { ResourceErrors } from './resource-errors.ts'
import { shareOf } from './shares.ts'
import { previewOf, type StoredBytes } from './stored-bytes.ts'

export interface ResourcesParts {
  readonly declared: EntityRegistry
  readonly bytes: StoredBytes
  readonly room: FileRoom
}

/** What a save says of a file; undefined members stay as they are. */
export interface ResourceDraft {
  readonly id?: string | undefined
  readonly title?: string | undefined
  readonly resourceType?: string | null | undefined
  readonly resourceSubType?: string | null | undefined
  readonly resourceKey?: string | null | undefined
  readonly fileName?: string | null | undefined
  readonly descriptor?: JsonValue | undefined
}

export interface ResourceFilter {
  readonly types?: readonly ResourceType[]
  readonly subTypes?: readonly string[]
  /** Without those of the system. */
  readonly isOwnOnly?: boolean
}

export interface DeleteResult {
  readonly success: boolean
  readonly references: References | null
}

/** What lists show that name no type: the others have lists of their own. */
const LISTED: readonly ResourceType[] = RESOURCE_TYPES.filter(
  (type) => type !== 'JS_MODULE' && type !== 'IMAGE' && type !== 'DASHBOARD',
)
/** Whose bytes stay as they are, of a tenant. */
const FIXED: readonly ResourceType[] = ['JKS', 'PKCS_12']
const MAX_OBJECTS = 1_000

export class Resources {
  readonly service: EntityService<typeof tbResources.columns>
  private readonly parts: ResourcesParts

  constructor(parts: ResourcesParts) {
    this.parts = parts
    this.service = parts.declared.of(tbResources)
  }

  /** A new one needs bytes. Throws `resources.…`. */
  async save(principal: Principal, draft: ResourceDraft, bytes?: Buffer): Promise<TbResource> {
    const before = draft.id === undefined ? undefined : await this.required(draft.id)
    const resourceType = draft.resourceType ?? before?.resourceType
    if (resourceType === 'IMAGE') throw ResourceErrors.IMAGE_AS_RESOURCE()
    if (before === undefined && (bytes === undefined || bytes.length === 0)) throw ResourceErrors.DATA_MISSING()
    if (before !== undefined && bytes !== undefined && isFixed(before)) throw ResourceErrors.DATA_FIXED()
    const members = { ...withoutUndefined(draft), resourceType }
    if (resourceType !== 'LWM2M_MODEL' || bytes === undefined) return this.store(principal, members, bytes)
    const model = await parseModel(bytes, draft.fileName ?? before?.fileName ?? '')
    const resourceKey = keyOfModel(model)
    return this.store(
      principal,
      {
        ...members,
        ...(before === undefined ? { title: titleOfModel(model) } : {}),
        ...{ resourceKey, searchText: `${resourceKey}:${model.name}`, lwm2mObject: objectJson(model) ?? null },
      },
      bytes,
    )
  }

  /** Members over those that are there, with the bytes in one transaction. Throws `TOO_LARGE`, `SHARE_USED_UP`. */
  async store(
    principal: Principal,
    members: Readonly<Record<string, unknown>>,
    bytes?: Buffer,
    preview: Buffer = Buffer.alloc(0),
  ): Promise<TbResource> {
    const id = members['id']
    const before = typeof id === 'string' ? await this.required(id) : undefined
    if (bytes === undefined) return this.service.saveByUser(principal, ...over(before, members))
    const tenantId = before?.tenantId ?? this.service.tenantOf(principal)
    const largest = await shareOf(this.parts.declared, tenantId, 'maxResourceSize')
    if (largest !== undefined && bytes.length > largest)
      throw ResourceErrors.TOO_LARGE({ limit: displayedSize(largest) })
    const limit = await shareOf(this.parts.declared, tenantId, 'maxResourcesInBytes')
    const dataSize = bytes.length + preview.length
    const ofBytes = { etag: await etagOf(bytes), dataSize, previewSize: preview.length }
    const [draft, options] = over(before, { ...members, ...ofBytes })
    const tooMuch = (): Error => ResourceErrors.SHARE_USED_UP({ limit: displayedSize(limit ?? 0) })
    return this.service.saveByUser(principal, draft, {
      ...options,
      following: (record) => [
        ...(limit === undefined ? [] : [this.service.within(record, 'dataSize', limit, tooMuch)]),
        ...this.parts.bytes.replace(record, bytes),
        ...this.parts.bytes.replace({ id: previewOf(record.id), tenantId }, preview),
      ],
    })
  }

  /** `references` where it is still shown, and nothing was deleted. */
  async delete(principal: Principal, record: TbResource, isForced: boolean): Promise<DeleteResult> {
    const references = isForced ? undefined : await referencesTo(this.parts.declared, record)
    if (references !== undefined) return { success: false, references }
    await this.service.deleteByUser(principal, record.id)
    return { success: true, references: null }
  }

  read({ id }: TbResource): Promise<Buffer> {
    return this.parts.bytes.read(id)
  }

  /** Of a picture; itself where it is small. */
  readPreview({ id, previewSize }: TbResource): Promise<Buffer> {
    return this.parts.bytes.read(previewSize === 0 ? id : previewOf(id))
  }

  /** To be sent. Throws `FILES_BUSY`. */
  hold(record: TbResource, who: 'known' | 'unknown' = 'known'): Promise<HeldBytes> {
    return this.parts.room.hold((record.dataSize ?? 0) - (record.previewSize ?? 0), who, () => this.read(record))
  }

  holdPreview(record: TbResource): Promise<HeldBytes> {
    if (record.previewSize === 0) return this.hold(record)
    return this.parts.room.hold(record.previewSize ?? 0, 'known', () => this.readPreview(record))
  }

  /** As links name it: the own one, or the system's. */
  findByKey(
    principal: Principal,
    resourceType: ResourceType,
    isSystem: boolean,
    resourceKey: string,
  ): Promise<TbResource | undefined> {
    const tenantId = isSystem || principal.tenantId === null ? SYSTEM_TENANT : principal.tenantId
    return this.service.findBy(tenantId, { resourceType, resourceKey })
  }

  /** For everybody. */
  async findPublic(publicResourceKey: string): Promise<TbResource | undefined> {
    return this.service.findAnywhereBy({ publicResourceKey, resourceType: 'IMAGE', public: true })
  }

  /** The tenant's, or one of the system. */
  async findShared(tenantId: string, id: string): Promise<TbResource | undefined> {
    return (await this.service.find(tenantId, id)) ?? this.service.find(SYSTEM_TENANT, id)
  }

  byIds(principal: Principal, ids: readonly string[]): Promise<readonly TbResource[]> {
    return this.service.findWhere([visible(principal, false), { column: 'id', in: ids }])
  }

  /** The system's are left out of which the tenant has its own by the same key. */
  async page(principal: Principal, filter: ResourceFilter, query: PageQuery): Promise<Page<TbResource>> {
    const isOwnOnly = filter.isOwnOnly === true
    const where: Condition[] = [
      visible(principal, isOwnOnly),
      { column: 'resource_type', in: filter.types ?? LISTED },
      ...(isOwnOnly ? [] : await this.shadowed(principal)),
    ]
    const { subTypes = [] } = filter
    if (subTypes.length > 0) where.push({ column: 'resource_sub_type', in: subTypes })
    return this.service.pageWhere({
      where,
      query,
      search: ['title', 'search_text'],
      sort: { name: 'title', id: 'search_text' },
    })
  }

  /** What editors choose from: objects of these keys (`5_1.0`). */
  async lwm2mObjects(principal: Principal, keys: readonly string[]): Promise<readonly JsonObject[]> {
    const found = await this.service.findWhere(
      [
        visible(principal, false),
        { column: 'resource_type', is: 'LWM2M_MODEL' },
        { column: 'resource_key', in: keys },
        ...(await this.shadowed(principal)),
      ],
      MAX_OBJECTS,
    )
    return objectsOf(found)
  }

  async lwm2mPage(principal: Principal, query: PageQuery): Promise<readonly JsonObject[]> {
    const { data } = await this.page(principal, { types: ['LWM2M_MODEL'] }, query)
    return objectsOf(data)
  }

  private async shadowed(principal: Principal): Promise<readonly Condition[]> {
    const { tenantId } = principal
    if (tenantId === null) return []
    const ownKeys = { table: tbResources.storedAs.name, column: 'resource_key', where: { tenant_id: tenantId } }
    const alike = await this.service.findWhere([
      { column: 'tenant_id', is: SYSTEM_TENANT },
      { column: 'resource_key', among: ownKeys },
    ])
    if (alike.length === 0) return []
    const own = await this.service.findWhere([
      { column: 'tenant_id', is: tenantId },
      { column: 'resource_key', in: alike.map(({ resourceKey }) => resourceKey) },
    ])
    const taken = new Set(own.map((each) => `${each.resourceType} ${each.resourceKey}`))
    return alike
      .filter((each) => taken.has(`${each.resourceType} ${each.resourceKey}`))
      .map(({ id }): Condition => ({ column: 'id', isNot: id }))
  }

  private async required(id: string): Promise<TbResource> {
    const record = await this.service.findAnywhere(id)
    if (record === undefined) throw itemNotFound({ entityType: 'TB_RESOURCE', id })
    return record
  }
}

export async function etagOf(bytes: Buffer): Promise<string> {
  return Buffer.from(await crypto.subtle.digest('SHA-256', new Uint8Array(bytes))).toString('hex')
}

function visible({ tenantId }: Principal, isOwnOnly: boolean): Condition {
  if (tenantId === null) return { column: 'tenant_id', is: SYSTEM_TENANT }
  return { column: 'tenant_id', in: isOwnOnly ? [tenantId] : [tenantId, SYSTEM_TENANT] }
}

function objectsOf(records: readonly TbResource[]): readonly JsonObject[] {
  return records.flatMap(({ lwm2mObject }) => (isJsonObject(lwm2mObject) ? [lwm2mObject] : []))
}

/** Servers in use hold what was read of it. */
function isFixed({ resourceType, tenantId }: TbResource): boolean {
  return FIXED.some((type) => type === resourceType) && tenantId !== SYSTEM_TENANT
}

/** At each try over what is stored then: another save may change other members meanwhile. */
function over(before: TbResource | undefined, members: Readonly<Record<string, unknown>>) {
  const draftOver = (stored: TbResource | undefined) =>
    draftOf<typeof tbResources.columns>({ ...stored, ...members, version: undefined })
  return [draftOver(before), { over: draftOver }] as const
}

function withoutUndefined(draft: ResourceDraft): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(draft).filter(([, value]) => value !== undefined))
}
