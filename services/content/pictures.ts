/**
 * What a picture is, and a small one for lists. The library is loaded with the first picture: most processes never see one. It reads what
 * people upload, so pixels, time and kinds are bound, and how many it reads at once: each takes a thread that files and sums wait for too.
 */
import type { Sharp } from 'sharp'
import { ResourceErrors } from './resource-errors.ts'
import { vectorSides, type Sides } from './vectors.ts'

export interface Picture {
  readonly mediaType: string
  readonly width: number
  readonly height: number
  /** Undefined: it is its own preview. */
  readonly preview: Preview | undefined
}

export interface Preview {
  readonly mediaType: string
  readonly width: number
  readonly height: number
  readonly bytes: Buffer
}

/** A side of a preview. */
const PREVIEW_SIZE = 250
const MAX_PIXELS = 100_000_000
const MAX_SECONDS = 10
const SVG = 'image/svg+xml'

/** What the library reads, as it names it. */
const READ: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  tiff: 'image/tiff',
  heif: 'image/avif',
}

/** How what it reads begins: it sees nothing else, for it would draw vectors too. */
const SIGNATURES: readonly { readonly at: number; readonly sign: string }[] = [
  { at: 0, sign: '\x89PNG\r\n\x1a\n' },
  { at: 0, sign: '\xff\xd8\xff' },
  { at: 0, sign: 'GIF8' },
  { at: 8, sign: 'WEBP' },
  { at: 0, sign: 'II*\0' },
  { at: 0, sign: 'MM\0*' },
  { at: 4, sign: 'ftyp' },
]

type SidesOf = (bytes: Buffer) => Sides | undefined | Promise<Sides | undefined>

/** What it does not read: their sides stand at fixed places. */
const HEADERS: readonly { readonly mediaType: string; readonly sides: SidesOf }[] = [
  { mediaType: 'image/bmp', sides: bitmapSides },
  { mediaType: 'image/x-icon', sides: iconSides },
  { mediaType: SVG, sides: vectorSides },
]

const MAX_DECODES = 2
const MAX_WAITING = 16
const turns = { taken: 0, waiting: [] as (() => void)[] }

/** Which kind it is the bytes say, not who sent them. Throws `NO_IMAGE`, `MEDIA_TYPE`, `BUSY`. */
export async function readPicture(bytes: Buffer): Promise<Picture> {
  for (const { mediaType, sides } of HEADERS) {
    const found = await sides(bytes)
    if (found !== undefined) return { mediaType, width: found[0], height: found[1], preview: undefined }
  }
  const isKnown = SIGNATURES.some(({ at, sign }) => bytes.toString('latin1', at, at + sign.length) === sign)
  if (!isKnown) throw ResourceErrors.NO_IMAGE({ reason: 'it is of no known kind' })
  await takeTurn()
  try {
    return await decoded(bytes)
  } catch (error) {
    if (error instanceof Error && 'code' in error) throw error
    throw ResourceErrors.NO_IMAGE({ reason: reasonOf(error) }, error)
  } finally {
    giveTurn()
  }
}

async function decoded(bytes: Buffer): Promise<Picture> {
  const library = await import('sharp')
  library.default.cache(false)
  library.default.concurrency(1)
  const open = (): Sharp =>
    library.default(bytes, { limitInputPixels: MAX_PIXELS, failOn: 'error' }).timeout({ seconds: MAX_SECONDS })
  const { format, width, height } = await open().metadata()
  const mediaType = READ[format]
  if (mediaType === undefined) throw ResourceErrors.MEDIA_TYPE({ mediaType: format })
  const picture = { mediaType, width, height }
  if (Math.max(width, height) <= PREVIEW_SIZE) {
    // Half a picture is none.
    await open().stats()
    return { ...picture, preview: undefined }
  }
  return { ...picture, preview: await previewOf(open(), mediaType === 'image/jpeg') }
}

async function takeTurn(): Promise<void> {
  if (turns.taken < MAX_DECODES) {
    turns.taken++
    return
  }
  if (turns.waiting.length >= MAX_WAITING) throw ResourceErrors.BUSY()
  await new Promise<void>((resolve) => turns.waiting.push(resolve))
}

/** To who waits longest. */
function giveTurn(): void {
  const next = turns.waiting.shift()
  if (next === undefined) turns.taken--
  else next()
}

export function isVector({ mediaType }: Pick<Picture, 'mediaType'>): boolean {
  return mediaType === SVG
}

async function previewOf(picture: Sharp, isPhotograph: boolean): Promise<Preview> {
  const small = picture.rotate().resize(PREVIEW_SIZE, PREVIEW_SIZE, { fit: 'inside', withoutEnlargement: true })
  const { data, info } = await (isPhotograph ? small.jpeg() : small.png()).toBuffer({ resolveWithObject: true })
  return { mediaType: isPhotograph ? 'image/jpeg' : 'image/png', width: info.width, height: info.height, bytes: data }
}

function bitmapSides(bytes: Buffer): Sides | undefined {
  if (bytes.length < 26 || bytes.toString('latin1', 0, 2) !== 'BM') return undefined
  return [Math.abs(bytes.readInt32LE(18)), Math.abs(bytes.readInt32LE(22))]
}

function iconSides(bytes: Buffer): Sides | undefined {
  if (bytes.length < 22 || bytes.readUInt32BE(0) !== 0x00_00_01_00) return undefined
  // One byte a side: 0 stands for 256.
  return [bytes.readUInt8(6) || 256, bytes.readUInt8(7) || 256]
}

function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error)
  return text.split('\n')[0] ?? text
}
