/** What is special about OTA packages: their bytes, the checksum that proves them, and the share of a tenant (`rest-api.md` 14.3). */
import type { Clock } from '../../model/clock.ts'
import type { Page, PageQuery } from '../../model/entities.ts'
import type { Principal } from '../../model/principal.ts'
import type { Condition } from '../../storage/entities/tables/row-store.ts'
import type { EntityRegistry } from '../entities/entity-registry.ts'
import type { EntityService } from '../entities/entity-service.ts'
import { otaPackages, type OtaPackage } from '../entities/ota-package.ts'
import { itemNotFound } from '../errors.ts'
import { checksumOf, type ChecksumAlgorithm } from './checksums.ts'
import { displayedSize } from './displayed-size.ts'
import { ContentErrors } from './errors.ts'
import type { FileRoom, HeldBytes } from './file-room.ts'
import type { StoredBytes } from './stored-bytes.ts'
import { shareOf } from './shares.ts'

export interface UploadedBytes {
  readonly fileName: string
  readonly contentType: string
  readonly bytes: Buffer
}

export interface OtaPackagesParts {
  readonly room: FileRoom
  readonly declared: EntityRegistry
  readonly bytes: StoredBytes
  readonly clock: Clock
}

export class OtaPackages {
  private readonly parts: OtaPackagesParts
  private readonly service: EntityService<typeof otaPackages.columns>

  constructor(parts: OtaPackagesParts) {
    this.parts = parts
    this.service = parts.declared.of(otaPackages)
  }

  page(
    tenantId: string,
    filter: { readonly deviceProfileId?: string; readonly type?: string },
    query: PageQuery,
  ): Promise<Page<OtaPackage>> {
    const where: Condition[] = [{ column: 'tenant_id', is: tenantId }]
    const { deviceProfileId, type } = filter
    if (deviceProfileId !== undefined) where.push({ column: 'device_profile_id', is: deviceProfileId })
    if (type !== undefined) where.push({ column: 'type', is: type })
    // For devices of the profile: what they could load.
    if (type !== undefined) where.push({ column: 'is_loadable', is: 1 })
    return this.service.pageWhere({
      where,
      query,
      search: ['title', 'package_version', 'tag'],
      sort: { version: 'package_version' },
    })
  }

  /** Once. Throws `OTA_CHECKSUM`, `OTA_UPLOADED`, `SHARE_USED_UP`. */
  async upload(
    principal: Principal,
    id: string,
    algorithm: ChecksumAlgorithm,
    expected: string | undefined,
    { fileName, contentType, bytes }: UploadedBytes,
  ): Promise<OtaPackage> {
    const before = await this.required(id)
    if (before.hasData || (before.url ?? '') !== '') throw ContentErrors.OTA_FIXED({ what: 'otaPackage content type' })
    if (bytes.length === 0) throw ContentErrors.FILE_EMPTY()
    const checksum = await checksumOf(algorithm, bytes, this.parts.clock)
    if (expected !== undefined && expected.toLowerCase() !== checksum) throw ContentErrors.OTA_CHECKSUM()
    const { declared } = this.parts
    const limit = await shareOf(declared, before.tenantId, 'maxOtaPackagesInBytes')
    const members = {
      ...{ hasData: true, isLoadable: true, fileName, contentType, checksum },
      ...{ checksumAlgorithm: algorithm, dataSize: bytes.length },
    }
    const tooMuch = (): Error => ContentErrors.SHARE_USED_UP({ what: 'Ota packages', limit: displayedSize(limit ?? 0) })
    const within = limit === undefined ? [] : [this.service.within(before, 'dataSize', limit, tooMuch)]
    return this.service.changeByUser(principal, before, members, {
      statements: [...within, ...this.parts.bytes.replace(before, bytes)],
      type: 'ENTITY_UPDATED',
    })
  }

  /** To be sent. Throws `NOT_FOUND`, `FILES_BUSY`. */
  async download(id: string): Promise<HeldBytes & { readonly record: OtaPackage }> {
    const record = await this.required(id)
    if (!record.hasData) throw ContentErrors.NOT_FOUND()
    const { bytes, room } = this.parts
    return { record, ...(await room.hold(record.dataSize ?? 0, 'known', () => bytes.read(id))) }
  }

  /** For devices: a part of a package. */
  part(id: string, start: number, length: number): Promise<Buffer> {
    return this.parts.bytes.readPart(id, start, length)
  }

  private async required(id: string): Promise<OtaPackage> {
    const record = await this.service.findAnywhere(id)
    if (record === undefined) throw itemNotFound({ entityType: 'OTA_PACKAGE', id })
    return record
  }
}
