/** Devices behind a gateway: known by tenant and name, in the cache of what devices present, so that changes reach them as any other. */
import type { CredentialCache } from './credential-cache.ts'
import { childKey } from './credential-keys.ts'
import { DeviceErrors } from './errors.ts'
import type { DeviceIdentity, NamedChild } from './gateway.ts'
import type { DeviceOnboarding } from './onboarding.ts'

/** Rejects as `ChildDevices.connectChild`. */
export async function connectChild(
  credentials: Pick<CredentialCache, 'find' | 'deviceChanged'>,
  onboarding: Pick<DeviceOnboarding, 'connectChild'>,
  gateway: DeviceIdentity,
  child: NamedChild,
): Promise<DeviceIdentity> {
  const deviceId = await onboarding.connectChild(gateway, child)
  const key = childKey(gateway.tenantId, child.name)
  const known = await credentials.find(key)
  if (known?.deviceId === deviceId) return known
  // Just made, or made anew: what is remembered of the name is of before.
  if (known !== undefined) credentials.deviceChanged(known.deviceId)
  credentials.deviceChanged(deviceId)
  const device = await credentials.find(key)
  if (device?.deviceId !== deviceId) throw DeviceErrors.CHILD_GONE()
  return device
}
