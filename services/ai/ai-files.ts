/** Files that go with questions: resources of the tenant or the system, read for each question and held under the bound of all files. */
import type { Clock } from '../../model/clock.ts'
import { isJsonObject } from '../../model/json.ts'
import type { Resources } from '../content/resources.ts'
import type { TbResource } from '../entities/tb-resource.ts'
import { SharedTurns } from '../outbound/shared-turns.ts'
import { AiErrors } from './errors.ts'
import type { AiFile } from './file-parts.ts'

const TENANT_BYTES = 32 * 2 ** 20
/** A question may wait for its model for minutes: half of the room of all files stays for who loads some, and most of the rest for other tenants. */
const SHARE = {
  ...{ calls: 8000, bytes: 4 * TENANT_BYTES },
  ...{ tenantCalls: 2000, tenantBytes: TENANT_BYTES, tenantWaiting: 10_000 },
}
const WAIT_MS = 15_000

export interface AskedFiles {
  readonly ids: readonly string[]
  /** How long to wait where other questions have the room. */
  readonly waitMs: number
}

export class AiFiles {
  private readonly resources: Pick<Resources, 'findShared' | 'hold'>
  private readonly turns: SharedTurns

  constructor(resources: Pick<Resources, 'findShared' | 'hold'>, clock: Clock) {
    this.resources = resources
    this.turns = new SharedTurns(clock, WAIT_MS, SHARE)
  }

  /** Throws `FILE_MISSING`, `FILE_KIND`. */
  async check(tenantId: string, ids: readonly string[]): Promise<void> {
    for (const id of ids) await this.found(tenantId, id)
  }

  /** In memory until `use` is done. Throws `FILE_MISSING`, `FILE_KIND`, `FILE_TYPELESS`, `content.FILES_BUSY`, `outbound.TIMEOUT`. */
  async with<Result>(
    tenantId: string,
    { ids, waitMs }: AskedFiles,
    use: (files: readonly AiFile[]) => Promise<Result>,
  ): Promise<Result> {
    if (ids.length === 0) return use([])
    let bytes = 0
    for (const id of ids) bytes += sizeOf(await this.found(tenantId, id))
    // One that is larger than the share has it alone.
    return this.turns.inTurn(tenantId, Math.min(bytes, TENANT_BYTES), () => this.held(tenantId, ids, use), waitMs)
  }

  private async held<Result>(
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

function sizeOf({ dataSize, previewSize }: TbResource): number {
  return (dataSize ?? 0) - (previewSize ?? 0)
}

function mediaTypeIn({ descriptor }: TbResource): string | undefined {
  const type = isJsonObject(descriptor) ? descriptor['mediaType'] : undefined
  return typeof type === 'string' && type !== '' ? type : undefined
}
