/**
 * Files that go with what shows them from server to server: an export has those that its links name beside it, and a save that brings files
 * keeps what is not there yet, and names the files that are here in the place of theirs. Source: `rest-api.md` 14.1, `ResourceExportData`.
 */
import type { Random } from '../../model/clock.ts'
import type { JsonObject, JsonValue } from '../../model/json.ts'
import type { Principal } from '../../model/principal.ts'
import { SYSTEM_TENANT } from '../changes/changes.ts'
import { linkOf, type ResourceType, type TbResource } from '../entities/tb-resource.ts'
import { freeKey } from './free-name.ts'
import { exportedFile, type Images } from './images.ts'
import { mapped, textsOf } from './json-texts.ts'
import { ResourceErrors } from './resource-errors.ts'
import { etagOf, type Resources } from './resources.ts'

/** What pages load; whoever sees what shows them may read these. */
export const CARRIED_TYPES = ['IMAGE', 'JS_MODULE'] as const satisfies readonly ResourceType[]

/** Of one export or one save. */
export const MAX_CARRIED = 1_000
/** Bytes of one export. */
const MAX_CARRIED_BYTES = 32 * 2 ** 20

const LINKS = /tb-(?:image|resource);(\/api\/(?:images|resource\/(js_module))\/(tenant|system)\/([^"'\s?#/\\<>;&]+))/g

export interface CarriedFile {
  /** As what shows it names it. */
  readonly link: string
  readonly title: string
  readonly type: (typeof CARRIED_TYPES)[number]
  readonly subType?: string | undefined
  readonly fileName: string
  readonly bytes: Buffer
  readonly public?: boolean | undefined
  readonly publicResourceKey?: string | undefined
}

export class CarriedFiles {
  private readonly images: Pick<Images, 'create'>
  private readonly resources: Pick<Resources, 'service' | 'findByKey' | 'hold' | 'save'>
  private readonly random: Random

  constructor(
    images: Pick<Images, 'create'>,
    resources: Pick<Resources, 'service' | 'findByKey' | 'hold' | 'save'>,
    random: Random,
  ) {
    this.images = images
    this.resources = resources
    this.random = random
  }

  /** Each once; links that lead nowhere are left. `answer`: bytes of all that goes together. Throws `TOO_MANY_INLINED`, `INLINED_TOO_LARGE`. */
  async of(principal: Principal, value: JsonValue, answer = { bytes: 0 }): Promise<JsonObject[]> {
    const files = new Map<string, JsonObject>()
    const asked = new Set<string>()
    for (const text of textsOf(value)) {
      for (const [, link = '', module, scope, key = ''] of text.matchAll(LINKS)) {
        if (asked.has(link)) continue
        if (asked.size >= MAX_CARRIED) throw ResourceErrors.TOO_MANY_INLINED({ limit: MAX_CARRIED })
        asked.add(link)
        const type = module === undefined ? 'IMAGE' : 'JS_MODULE'
        const record = await this.resources.findByKey(principal, type, scope === 'system', key)
        if (record === undefined) continue
        const { bytes, release } = await this.resources.hold(record)
        try {
          answer.bytes += bytes.length
          if (answer.bytes > MAX_CARRIED_BYTES) throw ResourceErrors.INLINED_TOO_LARGE({ limit: MAX_CARRIED_BYTES })
          files.set(link, exportedFile(record, bytes))
        } finally {
          release()
        }
      }
    }
    return [...files.values()]
  }

  /** Their links to those of the files that are here now. Throws what saving a file throws. */
  async keep(principal: Principal, files: readonly CarriedFile[]): Promise<ReadonlyMap<string, string>> {
    const links = new Map<string, string>()
    for (const file of files) links.set(file.link, linkOf(await this.keepOne(principal, file)))
    return links
  }

  /** The own one of the same bytes, the system's, or else a new one. */
  private async keepOne(principal: Principal, file: CarriedFile): Promise<TbResource> {
    const { service } = this.resources
    const kind = file.type === 'IMAGE' ? { resourceSubType: file.subType ?? 'IMAGE' } : {}
    const alike = { resourceType: file.type, etag: await etagOf(file.bytes), ...kind }
    const there =
      (await service.findBy(service.tenantOf(principal), alike)) ?? (await service.findBy(SYSTEM_TENANT, alike))
    if (there !== undefined) return there
    if (file.type === 'IMAGE') return this.images.create(principal, file)
    const { title, type, subType, fileName, bytes } = file
    const isTaken = async (key: string) => (await this.resources.findByKey(principal, type, false, key)) !== undefined
    const resourceKey = await freeKey(fileName, isTaken, this.random)
    const members = { title, resourceType: type, resourceSubType: subType, resourceKey, fileName: resourceKey }
    return this.resources.save(principal, members, bytes)
  }
}

/** The same with other links in the place of these. */
export function linkedTo(value: JsonValue, links: ReadonlyMap<string, string>): JsonValue {
  if (links.size === 0) return value
  return mapped(value, (text) =>
    text.replace(LINKS, (match: string, link: string) => match.replace(link, () => links.get(link) ?? link)),
  )
}
