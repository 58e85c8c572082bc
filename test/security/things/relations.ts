import type { MakeThings } from './make-things.ts'

export const makeRelations: MakeThings = async ({ services, tenant }) => {
  const from = await services.devices.saveByUser(tenant, { name: 'secret whole' })
  const to = await services.devices.saveByUser(tenant, { name: 'secret part' })
  await services.relations.saveByUser(tenant, {
    from: { entityType: 'DEVICE', id: from.id },
    to: { entityType: 'DEVICE', id: to.id },
    type: 'secret relationType',
    typeGroup: 'COMMON',
    additionalInfo: null,
  })
  return { fromId: from.id, toId: to.id, relationType: 'secret relationType' }
}
