import { assets } from '../../../services/entities/asset.ts'
import type { MakeThings } from './make-things.ts'

export const makeAssets: MakeThings = async ({ services, tenant }) => {
  const asset = await services.declared.of(assets).saveByUser(tenant, { name: 'secret asset' })
  return { assetId: asset.id, assetProfileId: asset.assetProfileId }
}
