/** Assets and their profiles. Source: `rest-api.md` 5.7. */
import { assetProfiles } from '../../services/entities/asset-profile.ts'
import { assets } from '../../services/entities/asset.ts'
import { assignment, crud, infos, lists, type EntityRoutesParts } from './declared/entity-routes.ts'
import type { DeclaredRoute } from './declared/route.ts'
import { TENANT } from './route.ts'

const ASSET = {
  one: 'asset',
  many: 'assets',
  nameParameter: 'assetName',
  filters: { type: 'text', assetProfileId: 'uuid' },
} as const
const ASSET_PROFILE = { one: 'assetProfile', many: 'assetProfiles', nameParameter: 'assetProfileName' } as const

export function assetRoutes(parts: EntityRoutesParts): readonly DeclaredRoute[] {
  const { declared } = parts
  const assetService = declared.of(assets)
  return [
    ...crud(parts, assetService, ASSET),
    ...lists(parts, assetService, ASSET),
    ...infos(parts, assetService, ASSET),
    ...assignment(parts, assetService, ASSET),
    ...crud(parts, declared.of(assetProfiles), ASSET_PROFILE, { read: TENANT, save: TENANT }),
  ]
}
