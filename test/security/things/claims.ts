import { devices } from '../../../services/entities/device.ts'
import type { MakeThings } from './make-things.ts'

/** Not what the call's example says. */
export const CLAIM_SECRET = 'known to nobody who walks'

/** A device that may be claimed: of the walk it stays the tenant's. */
export const makeClaims: MakeThings = async ({ services, tenant, tenantId }) => {
  const device = await services.declared.of(devices).saveByUser(tenant, { name: 'secret claimed device' })
  const { id: deviceId, name: deviceName, type: deviceType, deviceProfileId } = device
  const identity = { ...{ deviceId, tenantId, deviceName, deviceType, deviceProfileId }, customerId: null }
  const offer = { secretKey: CLAIM_SECRET, durationMs: 0 }
  await services.claims.offer({ ...identity, ruleChainId: null }, offer)
  return { deviceName }
}
