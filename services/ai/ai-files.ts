/** Files that go with questions: resources of the tenant or the system, read for each question and held under the bound of all files. */
import { isJsonObject } from '../../model/json.ts'
import type { Resources } from '../content/resources.ts'
import type { TbResource } from '../entities/tb-resource.ts'
import { AiErrors } from './errors.ts'
import type { AiFile } from './file-parts.ts'

export class AiFiles {
  private readonly resources: Pick<Resources, 'findShared' | 'hold'>

  constructor(resources: Pick<Resources, 'findShared' | 'hold'>) {
    this.resources = resources
  }

  /** Throws `FILE_MISSING`, `FILE_KIND`. */
  async check(tenantId: string, ids: readonly string[]): Promise<void> {
    for (const id of ids) await this.found(tenantId, id)
  }

  /** In memory until `use` is done. Throws `FILE_MISSING`, `FILE_KIND`, `FILE_TYPELESS`, `content.FILES_BUSY`. */
  async with<Result>(
    tenantId: string,
    ids: readonly string[],
    use: (files: readonly AiFile[]) => Promise<Result>,
  ): Promise<Result> {
    const releases: (() => void)[] = []
    try {
      const files: AiFile[] = []
      for (const id of ids) {
        const record = await this.found(tenantId, id)
        const name = record.fileName ?? record.title
        const mediaType = mediaTypeIn(record)
        if (mediaType === undefined) throw AiErrors.FILE_TYPELESS({ name })
        const { bytes, release } = await this.resources.hold(record)
        releases.push(release)
        files.push({ name, mediaType, bytes })
      }
      return await use(files)
    } finally {
      for (const release of releases) release()
    }
  }

  private async found(tenantId: string, id: string): Promise<TbResource> {
    const record = await this.resources.findShared(tenantId, id)
    if (record === undefined) throw AiErrors.FILE_MISSING({ id })
    const { resourceType: type } = record
    if (type !== 'GENERAL') throw AiErrors.FILE_KIND({ id, type: type ?? 'file without a type' })
    return record
  }
}

function mediaTypeIn({ descriptor }: TbResource): string | undefined {
  const type = isJsonObject(descriptor) ? descriptor['mediaType'] : undefined
  return typeof type === 'string' && type !== '' ? type : undefined
}
