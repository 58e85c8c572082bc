/** A file that comes with what shows it is kept once: where its bytes are there already, that one is shown. */
import { isMillraceError } from '../../model/errors.ts'
import type { Principal } from '../../model/principal.ts'
import { SYSTEM_TENANT } from '../changes/changes.ts'
import type { TbResource } from '../entities/tb-resource.ts'
import { etagOf, type Resources } from './resources.ts'

/** Others may save a file of the same name at the same time. */
const MAX_TRIES = 5

/** The caller's own one of this kind and these bytes, the system's, or else what `make` makes. Throws what `make` throws. */
export async function keptOnce(
  { service }: Pick<Resources, 'service'>,
  principal: Principal,
  kind: Partial<Pick<TbResource, 'resourceType' | 'resourceSubType'>>,
  bytes: Buffer,
  make: () => Promise<TbResource>,
): Promise<TbResource> {
  const alike = { ...kind, etag: await etagOf(bytes) }
  for (let tries = 1; ; tries++) {
    const there =
      (await service.findBy(service.tenantOf(principal), alike)) ?? (await service.findBy(SYSTEM_TENANT, alike))
    if (there !== undefined) return there
    try {
      return await make()
    } catch (error) {
      if (!isMillraceError(error) || error.code !== 'resources.TAKEN' || tries >= MAX_TRIES) throw error
    }
  }
}
