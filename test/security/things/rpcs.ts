import type { MakeThings } from './make-things.ts'

export const makeRpcs: MakeThings = async ({ services, tenantId, tenant, clock }) => {
  const device = await services.devices.saveByUser(tenant, { name: 'secret called device' })
  const rpcId = '77777777-1111-4111-8111-777777777777'
  await services.persistentCalls.accept({
    id: rpcId,
    tenantId,
    deviceId: device.id,
    method: 'secret method',
    params: '1',
    isOneway: true,
    isPersistent: true,
    expirationTime: clock.now() + 1_000_000,
    retries: null,
    additionalInfo: null,
    origin: '',
  })
  return { rpcId }
}
