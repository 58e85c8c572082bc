import { entityViews } from '../../../services/entities/entity-view.ts'
import type { MakeThings } from './make-things.ts'

export const makeEntityViews: MakeThings = async ({ services, tenant }, { assetId = '' }) => {
  const view = await services.declared.of(entityViews).saveByUser(tenant, {
    name: 'secret entityView',
    type: 'secret type',
    entityId: { entityType: 'ASSET', id: assetId },
  })
  return { entityViewId: view.id }
}
