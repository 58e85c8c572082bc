/** What is special about images: what the bytes say, keys of their own, and who may see them without a login (`rest-api.md` 14.3). */
import type { Random } from '../../model/clock.ts'
import { isJsonObject, type JsonObject } from '../../model/json.ts'
import type { Principal } from '../../model/principal.ts'
import type { TbResource } from '../entities/tb-resource.ts'
import { linkOf } from '../entities/tb-resource.ts'
import { freeKey } from './free-name.ts'
import { isVector, readPicture, type Picture } from './pictures.ts'
import { ResourceErrors } from './resource-errors.ts'
import { etagOf, type Resources } from './resources.ts'

export interface ImageDraft {
  readonly title?: string | undefined
  readonly subType?: string | undefined
  readonly fileName: string
  readonly bytes: Buffer
  /** Default: yes. */
  readonly public?: boolean | undefined
  readonly publicResourceKey?: string | undefined
}

export class Images {
  private readonly resources: Resources
  private readonly random: Random

  constructor(resources: Resources, random: Random) {
    this.resources = resources
    this.random = random
  }

  async create(principal: Principal, draft: ImageDraft): Promise<TbResource> {
    const { fileName, bytes, subType = 'IMAGE' } = draft
    const picture = await readImage(bytes, subType)
    const members = {
      title: filled(draft.title) ?? fileName,
      resourceType: 'IMAGE',
      resourceSubType: subType,
      resourceKey: await this.freeKey(principal, fileName),
      fileName,
      public: draft.public ?? true,
      publicResourceKey: await this.publicKey(draft.publicResourceKey),
      descriptor: await descriptorOf(picture, bytes),
    }
    return this.resources.store(principal, members, bytes, picture.preview?.bytes)
  }

  /** Other bytes under the same key. */
  async replace(principal: Principal, before: TbResource, fileName: string, bytes: Buffer): Promise<TbResource> {
    const picture = await readImage(bytes, before.resourceSubType)
    const members = { id: before.id, fileName, descriptor: await descriptorOf(picture, bytes) }
    return this.resources.store(principal, members, bytes, picture.preview?.bytes)
  }

  rename(principal: Principal, { id }: TbResource, title: string): Promise<TbResource> {
    return this.resources.store(principal, { id, title })
  }

  setPublic(principal: Principal, { id }: TbResource, isPublic: boolean): Promise<TbResource> {
    return this.resources.store(principal, { id, public: isPublic })
  }

  /** To be imported elsewhere. */
  async exported(record: TbResource): Promise<{ readonly image: JsonObject; readonly release: () => void }> {
    const { bytes, release } = await this.resources.hold(record)
    return { image: exportedFile(record, bytes), release }
  }

  private freeKey(principal: Principal, fileName: string): Promise<string> {
    const isTaken = async (key: string) =>
      (await this.resources.findByKey(principal, 'IMAGE', false, key)) !== undefined
    return freeKey(fileName || 'image', isTaken, this.random)
  }

  private async publicKey(wanted: string | undefined): Promise<string> {
    const isFree = filled(wanted) !== undefined && (await this.isFree(wanted ?? ''))
    return isFree ? (wanted ?? '') : this.random.uuid().replaceAll('-', '')
  }

  private async isFree(publicResourceKey: string): Promise<boolean> {
    return (await this.resources.service.findAnywhereBy({ publicResourceKey })) === undefined
  }
}

/** As other servers take it (`ResourceExportData`). */
export function exportedFile(record: TbResource, bytes: Buffer): JsonObject {
  return {
    link: linkOf(record),
    title: record.title,
    type: record.resourceType,
    subType: record.resourceSubType,
    resourceKey: record.resourceKey,
    fileName: record.fileName,
    publicResourceKey: record.publicResourceKey,
    mediaType: mediaTypeOf(record),
    data: bytes.toString('base64'),
    public: record.public,
  }
}

export function mediaTypeOf({ descriptor }: TbResource): string {
  return textIn(descriptor, 'mediaType') ?? 'application/octet-stream'
}

/** What its preview is: the picture itself where that is small. */
export function previewDescriptorOf({ descriptor, etag }: TbResource): { mediaType: string; etag: string } {
  const preview = isJsonObject(descriptor) ? descriptor['previewDescriptor'] : null
  return {
    mediaType: textIn(preview, 'mediaType') ?? 'application/octet-stream',
    etag: textIn(preview, 'etag') ?? etag ?? '',
  }
}

async function readImage(bytes: Buffer, subType: string | null): Promise<Picture> {
  const picture = await readPicture(bytes)
  if (subType === 'SCADA_SYMBOL' && !isVector(picture)) throw ResourceErrors.SCADA_NOT_SVG()
  return picture
}

async function descriptorOf({ preview, ...picture }: Picture, bytes: Buffer): Promise<JsonObject> {
  const itself = { ...picture, size: bytes.length, etag: await etagOf(bytes) }
  if (preview === undefined) return { ...itself, previewDescriptor: itself }
  const { mediaType, width, height } = preview
  const size = preview.bytes.length
  return { ...itself, previewDescriptor: { mediaType, width, height, size, etag: await etagOf(preview.bytes) } }
}

function textIn(value: unknown, member: string): string | undefined {
  if (typeof value !== 'object' || value === null || !(member in value)) return undefined
  const text: unknown = Reflect.get(value, member)
  return typeof text === 'string' ? text : undefined
}

function filled(text: string | undefined): string | undefined {
  return text === undefined || text.trim() === '' ? undefined : text
}
