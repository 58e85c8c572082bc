/** What device credentials may be (`rest-api.md` 5.3): access tokens so far. */
import type { Device, DeviceCredentials } from '../model/entities.ts'
import { ServiceErrors } from './errors.ts'
import { checkText } from './names.ts'
import { ACCESS_TOKEN_LENGTH, randomText } from './secrets.ts'

/** Throws `CREDENTIALS_TYPE_UNSUPPORTED`, `CREDENTIALS_ID_MISSING`. */
export function checkCredentials(credentials: Pick<DeviceCredentials, 'credentialsType' | 'credentialsId'>): void {
  const { credentialsType, credentialsId } = credentials
  if (credentialsType !== 'ACCESS_TOKEN') throw ServiceErrors.CREDENTIALS_TYPE_UNSUPPORTED({ credentialsType })
  if (credentialsId.trim() === '') throw ServiceErrors.CREDENTIALS_ID_MISSING()
  checkText('credentialsId', credentialsId)
}

/** The credentials of a new device; a random token where none is given. */
export function newAccessToken(device: Device, id: string, accessToken: string | undefined): DeviceCredentials {
  const credentials: DeviceCredentials = {
    id,
    createdTime: device.createdTime,
    version: 1,
    tenantId: device.tenantId,
    deviceId: device.id,
    credentialsType: 'ACCESS_TOKEN',
    credentialsId: accessToken ?? randomText(ACCESS_TOKEN_LENGTH),
    credentialsValue: null,
  }
  checkCredentials(credentials)
  return credentials
}
