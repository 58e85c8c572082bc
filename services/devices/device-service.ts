/** Devices beyond what their declaration says: credentials, and who presents which. */
import type { DeviceIdentity, PreSharedKey } from '../../engine/device/gateway.ts'
import type { JsonObject } from '../../model/json.ts'
import type { DeviceCredentials } from '../../model/entities.ts'
import type { Principal } from '../../model/principal.ts'
import type { PresentedCredentials } from './device-credentials.ts'
import type { DraftOf } from '../entities/define.ts'
import type { Device, devices } from '../entities/device.ts'
import type { SaveOptions } from '../entities/service-parts.ts'

export type CredentialsDraft = PresentedCredentials & {
  readonly deviceId: string
  readonly id?: string
  readonly version?: number | undefined
}

export type DeviceSaveOptions = Omit<SaveOptions<typeof devices.columns>, 'following'>

export interface DeviceService {
  /** With a token or other credentials: a new device gets these, not a random token; an old one changes to them. */
  saveByUser(
    principal: Principal,
    draft: DraftOf<typeof devices.columns>,
    credentials?: string | PresentedCredentials,
    options?: DeviceSaveOptions,
  ): Promise<Device>
  credentials(tenantId: string, deviceId: string): Promise<DeviceCredentials | undefined>
  saveCredentialsByUser(principal: Principal, credentials: CredentialsDraft): Promise<DeviceCredentials>
  /** For the device gateway: who has these, as `credentialKey` writes them. What is not in the answer is nobody's. */
  findByCredentials(keys: readonly string[]): Promise<ReadonlyMap<string, DeviceIdentity>>
  /** For the device gateway: with which a client of LwM2M that names this identity proves who it is. */
  findPreSharedKey(identity: string): Promise<PreSharedKey | undefined>
  /** For the device gateway: what a client of LwM2M is told of itself by the bootstrap server. */
  findBootstrapCredentials(device: Pick<DeviceIdentity, 'tenantId' | 'deviceId'>): Promise<JsonObject | undefined>
  /** For the device gateway: devices, newest change first, whose credentials changed or which were deleted since (Unix ms). */
  findCredentialsChanged(since: number, limit: number): Promise<readonly string[]>
  /** For the device's owner. */
  findIdentity(deviceId: string): Promise<DeviceIdentity | undefined>
  /** The same: `EdgeNodeDirectory`. */
  findDevicesOfEdgeNode(device: DeviceIdentity): Promise<readonly DeviceIdentity[] | undefined>
  /** The same: ids of devices whose attribute `active` is true, or that are connected by their attributes, behind `after` in their order, at most `limit`. */
  findActive(after: string, limit: number): Promise<readonly string[]>
}
