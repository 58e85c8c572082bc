/**
 * Pictures that stand as texts in what shows them. A save takes them out, so that they are kept once and loaded apart; who takes something to
 * another server may have them in it. Texts: `data:image/png;base64,…`, with what is known of the picture before it:
 * `tb-image:<key>:<title>:<sub type>;data:…`, each base64.
 */
import { isMillraceError } from '../../model/errors.ts'
import type { JsonValue } from '../../model/json.ts'
import type { Principal } from '../../model/principal.ts'
import { linkOf } from '../entities/tb-resource.ts'
import { mediaTypeOf, type Images } from './images.ts'
import { mapped, textsOf } from './json-texts.ts'
import { keptOnce } from './kept-once.ts'
import { ResourceErrors } from './resource-errors.ts'
import type { Resources } from './resources.ts'

/** Different pictures of one save. */
const MAX_TAKEN_OUT = 100
/** Different links of one answer: each costs a read. */
const MAX_PUT_IN = 1000
/** Bytes of all pictures of one answer, each as often as it is shown. */
const MAX_INLINED_BYTES = 32 * 2 ** 20

const INLINED = /^(?:tb-image:([^;]*);)?data:image\/([\w.+-]+);base64,/
const LINKED = /^tb-image;\/api\/images\/(tenant|system)\/([^/?#]+)$/
const ENDINGS: Readonly<Record<string, string>> = { 'svg+xml': 'svg', 'x-icon': 'ico', 'vnd.microsoft.icon': 'ico' }
const SUB_TYPES: readonly string[] = ['IMAGE', 'SCADA_SYMBOL']
const MAX_TITLE = 255
const MAX_FILE_NAME = 200

export class InlineImages {
  private readonly images: Pick<Images, 'create'>
  private readonly resources: Pick<Resources, 'service' | 'findByKey' | 'hold'>

  constructor(images: Pick<Images, 'create'>, resources: Pick<Resources, 'service' | 'findByKey' | 'hold'>) {
    this.images = images
    this.resources = resources
  }

  /**
   * The same with links to files; `name` says whose pictures they are. What is no picture stays as it is. Throws `TOO_MANY_INLINED` and what
   * saving a file throws.
   */
  async takenOut(principal: Principal, value: JsonValue, name: string): Promise<JsonValue> {
    const links = new Map<string, string>()
    for (const text of textsOf(value)) if (INLINED.test(text)) links.set(text, text)
    if (links.size > MAX_TAKEN_OUT) throw ResourceErrors.TOO_MANY_INLINED({ limit: MAX_TAKEN_OUT })
    for (const text of links.keys()) links.set(text, (await this.linkTo(principal, text, name)) ?? text)
    return links.size === 0 ? value : mapped(value, (text) => links.get(text) ?? text)
  }

  /** The same with the pictures of the caller's and of the system's in it. Throws `INLINED_TOO_LARGE`, `TOO_MANY_INLINED`. */
  async inlined(principal: Principal, value: JsonValue): Promise<JsonValue> {
    const pictures = new Map<string, string>()
    let bytes = 0
    for (const text of textsOf(value)) {
      const [, scope, key] = LINKED.exec(text) ?? []
      if (key === undefined) continue
      if (pictures.size >= MAX_PUT_IN && !pictures.has(text))
        throw ResourceErrors.TOO_MANY_INLINED({ limit: MAX_PUT_IN })
      const picture = pictures.get(text) ?? (await this.textOf(principal, scope === 'system', key)) ?? text
      pictures.set(text, picture)
      bytes += picture.length
      if (bytes > MAX_INLINED_BYTES) throw ResourceErrors.INLINED_TOO_LARGE({ limit: MAX_INLINED_BYTES })
    }
    return pictures.size === 0 ? value : mapped(value, (text) => pictures.get(text) ?? text)
  }

  private async linkTo(principal: Principal, text: string, name: string): Promise<string | undefined> {
    const [begin = '', known = '', format = ''] = INLINED.exec(text) ?? []
    const bytes = Buffer.from(text.slice(begin.length), 'base64')
    const [key, title, subType] = known.split(':').map((part) => Buffer.from(part, 'base64').toString())
    // Whatever stands there, it refuses no save of what shows the picture.
    const members = {
      title: cleaned(title).slice(0, MAX_TITLE) || name.slice(0, MAX_TITLE),
      subType: subTypeOf(subType, format),
      fileName: cleaned(key).replace(/[/\\]/g, '_').slice(-MAX_FILE_NAME) || fileNameOf(name, format),
    }
    const kind = { resourceType: 'IMAGE', resourceSubType: members.subType } as const
    const make = () => this.images.create(principal, { ...members, bytes })
    try {
      return `tb-image;${linkOf(await keptOnce(this.resources, principal, kind, bytes, make))}`
    } catch (error) {
      if (isMillraceError(error) && error.code === 'resources.NO_IMAGE') return undefined
      throw error
    }
  }

  private async textOf(principal: Principal, isSystem: boolean, key: string): Promise<string | undefined> {
    const record = await this.resources.findByKey(principal, 'IMAGE', isSystem, key)
    if (record === undefined) return undefined
    const { bytes, release } = await this.resources.hold(record)
    try {
      const known = [record.resourceKey, record.title, record.resourceSubType ?? 'IMAGE']
      const before = known.map((part) => Buffer.from(part ?? '').toString('base64')).join(':')
      return `tb-image:${before};data:${mediaTypeOf(record)};base64,${bytes.toString('base64')}`
    } finally {
      release()
    }
  }
}

/** `"My home" dashboard image` of a PNG is `my_home_dashboard_image.png`. */
function fileNameOf(name: string, format: string): string {
  const words = name
    .toLowerCase()
    .replace(/['"]/g, '')
    .replace(/[^\p{L}\d]+/gu, '_')
  const ending = ENDINGS[format] ?? (/^\w{1,10}$/.test(format) ? format : 'img')
  return `${words.replace(/^_+|_+$/g, '').slice(0, 100)}.${ending}`
}

function cleaned(text: string | undefined): string {
  return (text ?? '').replace(/\p{Cc}/gu, '')
}

/** A symbol is drawn. */
function subTypeOf(subType: string | undefined, format: string): string {
  if (subType === undefined || !SUB_TYPES.includes(subType)) return 'IMAGE'
  return subType === 'SCADA_SYMBOL' && format !== 'svg+xml' ? 'IMAGE' : subType
}
