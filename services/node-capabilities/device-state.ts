/** What chains say of a device's connection: told to the device's owner, which is this process for the messages that it takes. */
import type { NodeIdentity } from '../../engine/rulechain/capabilities.ts'
import type { NodeDeviceState } from '../../engine/rulechain/capabilities/device-state.ts'
import type { DeviceOwner } from '../../engine/device/owner/device-owner.ts'
import { entityId } from '../../model/entity-id.ts'
import { itemNotFound } from '../errors.ts'
import type { Services } from '../services.ts'
import { NodeCapabilityErrors } from './errors.ts'

export function nodeDeviceState(
  { devices }: Pick<Services, 'devices'>,
  owner: Pick<DeviceOwner, 'report'>,
): (node: NodeIdentity) => NodeDeviceState {
  return ({ tenantId }) => ({
    report: async (deviceId, event, ts) => {
      const identity = await devices.findIdentity(deviceId)
      if (identity?.tenantId !== tenantId) throw itemNotFound(entityId('DEVICE', deviceId))
      if (!owner.report(deviceId, event, ts)) throw NodeCapabilityErrors.DEVICE_ELSEWHERE({ device: deviceId })
    },
  })
}
