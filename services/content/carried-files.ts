/**
 * Files that go with what shows them from server to server: an export has those that its links name beside it, and a save that brings files
 * keeps what is not there yet, and names the files that are here in the place of theirs. Source: `rest-api.md` 14.1, `ResourceExportData`.
 */
import type { Random } from '../../model/clock.ts'
import type { JsonObject, JsonValue } from '../../model/json.ts'
import type { Principal } from '../../model/principal.ts'
import { linkOf, type RESOURCE_SUB_TYPES, type ResourceType, type TbResource } from '../entities/tb-resource.ts'
import type { HeldBytes } from './file-room.ts'
import { freeKey } from './free-name.ts'
import { exportedFile, type Images } from './images.ts'
import { mapped, textsOf } from './json-texts.ts'
import { keptOnce } from './kept-once.ts'
import { ResourceErrors } from './resource-errors.ts'
import type { Resources } from './resources.ts'

/** What pages load; whoever sees what shows them may read these. */
export const CARRIED_TYPES = ['IMAGE', 'JS_MODULE'] as const satisfies readonly ResourceType[]

/** Of one export or one save. */
export const MAX_CARRIED = 1_000
/** Bytes of one export. */
const MAX_CARRIED_BYTES = 32 * 2 ** 20

const BEGIN = 'tb-(?:image|resource);(/api/(?:images|resource/(js_module))/(tenant|system)/'
/** A text that is a link: its key may hold any sign of a name of a file. */
const WHOLE = new RegExp(`^${BEGIN}[^/?#]+)$`)
/** Links within a text, as in HTML. */
const WITHIN = new RegExp(`${BEGIN}[^"'\\s?#/\\\\<>;&]+)`, 'g')

export interface CarriedFile {
  /** As what shows it names it. */
  readonly link: string
  readonly title: string
  readonly type: (typeof CARRIED_TYPES)[number]
  readonly subType?: (typeof RESOURCE_SUB_TYPES)[number] | undefined
  readonly fileName: string
  readonly bytes: Buffer
  readonly public?: boolean | undefined
  readonly publicResourceKey?: string | undefined
}

/** The files of one answer: how large they are together, and their room until it has left. */
export class CarriedAnswer {
  private bytes = 0
  private readonly releases: (() => void)[] = []

  /** Throws `INLINED_TOO_LARGE`. */
  add({ bytes, release }: HeldBytes): void {
    this.releases.push(release)
    this.bytes += bytes.length
    if (this.bytes > MAX_CARRIED_BYTES) throw ResourceErrors.INLINED_TOO_LARGE({ limit: MAX_CARRIED_BYTES })
  }

  readonly release = (): void => {
    for (const release of this.releases.splice(0)) release()
  }
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

  /** Each once; links that lead nowhere are left. `answer`: with what else they go. Throws `TOO_MANY_INLINED`, `INLINED_TOO_LARGE`, `FILES_BUSY`. */
  async of(principal: Principal, value: JsonValue, answer: CarriedAnswer): Promise<JsonObject[]> {
    const files = new Map<string, JsonObject>()
    const asked = new Set<string>()
    for (const text of textsOf(value)) {
      for (const [, link = '', module, scope] of linksIn(text)) {
        if (asked.has(link)) continue
        if (asked.size >= MAX_CARRIED) throw ResourceErrors.TOO_MANY_INLINED({ limit: MAX_CARRIED })
        asked.add(link)
        const type = module === undefined ? 'IMAGE' : 'JS_MODULE'
        const key = link.slice(link.lastIndexOf('/') + 1)
        const record = await this.resources.findByKey(principal, type, scope === 'system', key)
        if (record === undefined) continue
        const held = await this.resources.hold(record)
        answer.add(held)
        files.set(link, exportedFile(record, held.bytes))
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
  private keepOne(principal: Principal, file: CarriedFile): Promise<TbResource> {
    const { type, subType = 'IMAGE', bytes } = file
    const isImage = type === 'IMAGE'
    const kind = { resourceType: type, ...(isImage ? { resourceSubType: subType } : {}) }
    const make = () => (isImage ? this.images.create(principal, file) : this.module(principal, file))
    return keptOnce(this.resources, principal, kind, bytes, make)
  }

  private async module(
    principal: Principal,
    { title, type, subType, fileName, bytes }: CarriedFile,
  ): Promise<TbResource> {
    const isTaken = async (key: string) => (await this.resources.findByKey(principal, type, false, key)) !== undefined
    const resourceKey = await freeKey(fileName, isTaken, this.random)
    const members = { title, resourceType: type, resourceSubType: subType, resourceKey, fileName: resourceKey }
    return this.resources.save(principal, members, bytes)
  }
}

/** The same with other links in the place of these. */
export function linkedTo(value: JsonValue, links: ReadonlyMap<string, string>): JsonValue {
  if (links.size === 0) return value
  return mapped(value, (text) => {
    const whole = WHOLE.exec(text)?.[1]
    const other = whole === undefined ? undefined : links.get(whole)
    if (whole !== undefined && other !== undefined) return text.replace(whole, () => other)
    return text.replace(WITHIN, (match: string, link: string) => match.replace(link, () => links.get(link) ?? link))
  })
}

function* linksIn(text: string): Generator<RegExpExecArray> {
  const whole = WHOLE.exec(text)
  if (whole !== null) yield whole
  yield* text.matchAll(WITHIN)
}
