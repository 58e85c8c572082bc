/** The bytes of the firmware or software that a device is to have, whole or in parts (`device-api.md` 6, 10). */
import { DeviceErrors } from '../../engine/device/errors.ts'
import type { DeviceIdentity, PackagePart, PackageRequest } from '../../engine/device/gateway.ts'
import { PACKAGE_MEMBERS } from '../entities/assigned-packages.ts'
import { deviceProfiles } from '../entities/device-profile.ts'
import { devices, packagesOf } from '../entities/device.ts'
import type { EntityRegistry } from '../entities/entity-registry.ts'
import { otaPackages, type OtaPackage } from '../entities/ota-package.ts'
import { ContentErrors } from './errors.ts'
import type { FileRoom, HeldBytes } from './file-room.ts'
import { bytesRead, type StoredBytes } from './stored-bytes.ts'

export interface OtaDownloadsParts {
  readonly declared: EntityRegistry
  readonly bytes: Pick<StoredBytes, 'readPart'>
  readonly room: FileRoom
}

export class OtaDownloads {
  private readonly parts: OtaDownloadsParts

  constructor(parts: OtaDownloadsParts) {
    this.parts = parts
  }

  /** Throws `NOT_FOUND`, `device.PACKAGE_ELSEWHERE`, `OTA_OTHER`, `FILES_BUSY`. */
  async part(device: DeviceIdentity, request: PackageRequest): Promise<PackagePart> {
    const { kind, packageId, title, version, size, chunk } = request
    const wanted =
      packageId === undefined
        ? await this.wanted(device, kind)
        : await this.parts.declared.of(otaPackages).find(device.tenantId, packageId)
    if (wanted === undefined) throw ContentErrors.NOT_FOUND()
    if (!wanted.hasData) throw wanted.url === null ? ContentErrors.NOT_FOUND() : DeviceErrors.PACKAGE_ELSEWHERE()
    if ((title ?? wanted.title) !== wanted.title || (version ?? wanted.packageVersion) !== wanted.packageVersion)
      throw ContentErrors.OTA_OTHER({ title: wanted.title, version: wanted.packageVersion })
    const whole = wanted.dataSize ?? 0
    const start = size * chunk
    const length = Math.max(0, Math.min(size === 0 ? whole : size, whole - start))
    return {
      packageId: wanted.id,
      title: wanted.title,
      version: wanted.packageVersion,
      fileName: wanted.fileName ?? wanted.title,
      contentType: wanted.contentType ?? 'application/octet-stream',
      wholeBytes: whole,
      ...(await this.read(wanted.id, start, length, whole)),
    }
  }

  /** A fleet that asks for whole packages at once must not fill the memory. */
  private async read(id: string, start: number, length: number, whole: number): Promise<HeldBytes> {
    if (length === 0) return { bytes: Buffer.alloc(0), release: () => undefined }
    const { room, bytes } = this.parts
    return room.hold(bytesRead(start, length, whole), 'known', () => bytes.readPart(id, start, length))
  }

  private async wanted(
    { deviceId, tenantId }: DeviceIdentity,
    kind: PackageRequest['kind'],
  ): Promise<OtaPackage | undefined> {
    const { declared } = this.parts
    const device = await declared.of(devices).find(tenantId, deviceId)
    if (device === undefined) return undefined
    const profile = await declared.of(deviceProfiles).find(tenantId, device.deviceProfileId)
    const id = packagesOf(device, profile)[PACKAGE_MEMBERS[kind]]
    return id === null ? undefined : declared.of(otaPackages).find(tenantId, id)
  }
}
