/** Packages of firmware and software for whole-system tests, made and filled over REST. */
import type { RestClient } from './clients.ts'

export interface NewPackage {
  readonly deviceProfileId: string
  readonly type: 'FIRMWARE' | 'SOFTWARE'
  readonly title: string
  readonly version: string
  readonly image: Buffer<ArrayBuffer>
}

/** What a device or a profile names as its package. */
export async function uploadPackage(
  rest: RestClient,
  { deviceProfileId, image, ...named }: NewPackage,
): Promise<object> {
  const { id } = await rest.expect<{ id: { id: string } }>('POST', '/api/otaPackage', {
    ...{ deviceProfileId: { entityType: 'DEVICE_PROFILE', id: deviceProfileId }, ...named },
  })
  await rest.upload(`/api/otaPackage/${id.id}?checksumAlgorithm=SHA256`, image)
  return { entityType: 'OTA_PACKAGE', id: id.id }
}
