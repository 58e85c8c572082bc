/** Assets and their profiles. Source: `rest-api.md` 5.7. */
import { assetProfiles } from '../../services/entities/asset-profile.ts'
import { assets } from '../../services/entities/asset.ts'
import { byRelation, type RelatedRoutesParts } from './declared/by-relation.ts'
import { assignment, crud, infos, lists, pageOf } from './declared/entity-routes.ts'
import { saveUnlike } from './declared/crud-routes.ts'
import { crudWithImages, type ImageRoutesParts } from './declared/image-crud.ts'
import { profileRoutes, typesRoute } from './declared/profile-routes.ts'
import type { DeclaredRoute } from './declared/route.ts'
import { TENANT, TENANT_AND_CUSTOMER } from './route.ts'

const ASSET = {
  one: 'asset',
  many: 'assets',
  nameParameter: 'assetName',
  filters: { type: 'text', assetProfileId: 'uuid' },
} as const
const ASSET_PROFILE = { one: 'assetProfile', many: 'assetProfiles', nameParameter: 'assetProfileName' } as const

export function assetRoutes(parts: RelatedRoutesParts & ImageRoutesParts): readonly DeclaredRoute[] {
  const { declared } = parts
  const assetService = declared.of(assets)
  const profileService = declared.of(assetProfiles)
  const used = { service: declared.of(assets), by: 'assetProfileId' }
  const both = { read: TENANT_AND_CUSTOMER, save: TENANT_AND_CUSTOMER }
  return [
    ...crud(parts, assetService, ASSET, both, assetService, saveUnlike(parts, assetService, ASSET, both.save)),
    ...lists(parts, assetService, ASSET),
    ...infos(parts, assetService, ASSET),
    ...assignment(parts, assetService, ASSET),
    typesRoute(parts, assetService, ASSET),
    byRelation(parts, assetService, ASSET, 'assetTypes'),
    ...crudWithImages(parts, profileService, ASSET_PROFILE, { read: TENANT, save: TENANT }),
    pageOf(parts, profileService, ASSET_PROFILE, '/api/assetProfiles'),
    ...profileRoutes(parts, profileService, { ...ASSET_PROFILE, shown: ['image', 'defaultDashboardId'], used }),
  ]
}
