/** Whether sessions of a device may go on when it is looked up again: what they are was decided when they began. */
import type { DeviceIdentity } from './gateway.ts'

/** False where the device has lost what it came in as: it logs in anew, as what it is now. */
export function mayGoOn(before: DeviceIdentity, now: DeviceIdentity): boolean {
  // Whoever is no gateway any more has devices behind it until its connection ends.
  if (before.isGateway === true && now.isGateway !== true) return false
  if (isEdgeNode(before) !== isEdgeNode(now)) return false
  const { transportType = 'DEFAULT' } = now
  return transportType === 'DEFAULT' || transportType === (before.transportType ?? 'DEFAULT')
}

function isEdgeNode({ mqtt }: DeviceIdentity): boolean {
  return mqtt?.sparkplug !== undefined
}
