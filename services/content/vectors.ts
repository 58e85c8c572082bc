/**
 * What an SVG says of its size. It is never drawn here: few bytes can ask for hours of drawing. Browsers that show it draw it. Of a large one
 * only both ends are read.
 */
import type { X2jOptions } from 'fast-xml-parser'
import { z } from 'zod'
import { readXml } from './xml.ts'

export type Sides = readonly [width: number, height: number]

/** In this many bytes at the beginning its first element opens, and in as many at the end it is closed. */
const END_BYTES = 65_536
const WHITE_SPACE = new Set(' \t\r\n')
const MAX_SIDE = 2 ** 31 - 1
/** What browsers give to one that says nothing. */
const DEFAULT_SIDES: Sides = [300, 150]

/** To pixels, as browsers have them. */
const UNITS: Readonly<Record<string, number>> = {
  ...{ '': 1, px: 1, pt: 96 / 72, pc: 16 },
  ...{ in: 96, cm: 96 / 2.54, mm: 9.6 / 2.54, q: 2.4 / 2.54 },
}

const FORM: X2jOptions = {
  ...{ ignoreAttributes: false, attributeNamePrefix: '', removeNSPrefix: true },
  ...{ parseAttributeValue: false, processEntities: false },
}
const root = z.object({
  svg: z
    .object({ width: z.string().optional(), height: z.string().optional(), viewBox: z.string().optional() })
    .or(z.literal('').transform(() => ({}))),
})

/** Undefined for what is no SVG, or half of one. */
export async function vectorSides(bytes: Buffer): Promise<Sides | undefined> {
  const tag = firstTag(bytes.toString('utf8', 0, END_BYTES))
  if (tag === undefined) return undefined
  const name = /^<([\w.:-]+)/.exec(tag)?.[1] ?? ''
  const isWhole = tag.endsWith('/>') || bytes.subarray(-END_BYTES).includes(`</${name}`)
  const element = tag.endsWith('/>') ? tag : `${tag.slice(0, -1)}/>`
  if (!isWhole) return undefined
  const read = await readXml(element, FORM)
  const { data } = root.safeParse('document' in read ? read.document : undefined)
  return data === undefined ? undefined : sidesOf(data.svg)
}

function sidesOf(said: {
  width?: string | undefined
  height?: string | undefined
  viewBox?: string | undefined
}): Sides {
  const [width, height] = [pixels(said.width), pixels(said.height)]
  const [, , boxWidth, boxHeight] = (said.viewBox ?? '').trim().split(/[\s,]+/, 4)
  const box = [pixels(boxWidth), pixels(boxHeight)] as const
  if (width !== undefined && height !== undefined) return [width, height]
  if (box[0] === undefined || box[1] === undefined) return DEFAULT_SIDES
  if (width !== undefined) return [width, bounded((width * box[1]) / box[0])]
  if (height !== undefined) return [bounded((height * box[0]) / box[1]), height]
  return [box[0], box[1]]
}

/** Undefined for what depends on where it is shown. */
function pixels(length = ''): number | undefined {
  const [, number = '', unit = ''] = /^([+\d.eE-]{1,24}?)([a-zA-Z]{0,2})$/.exec(length.trim()) ?? []
  const value = Number(number === '' ? Number.NaN : number) * (UNITS[unit.toLowerCase()] ?? Number.NaN)
  return value > 0 && value <= MAX_SIDE ? bounded(value) : undefined
}

function bounded(side: number): number {
  return Math.min(Math.max(Math.round(side), 1), MAX_SIDE)
}

/** The tag that opens the first element, behind what may stand before it. */
function firstTag(head: string): string | undefined {
  let at = head.startsWith('\ufeff') ? 1 : 0
  for (;;) {
    while (WHITE_SPACE.has(head[at] ?? '')) at++
    const end = prologueEnd(head, at)
    if (end === undefined) return tagAt(head, at)
    if (end < 0) return undefined
    at = end
  }
}

/** Where a comment, an instruction or the document's type ends; -1 where it does not; undefined for none of these. */
function prologueEnd(head: string, at: number): number | undefined {
  if (head.startsWith('<?', at)) return behind(head, '?>', at)
  if (head.startsWith('<!--', at)) return behind(head, '-->', at + 4)
  if (!head.startsWith('<!DOCTYPE', at)) return undefined
  const [end, declarations] = [behind(head, '>', at), head.indexOf('[', at)]
  if (declarations < 0 || declarations > end) return end
  const closed = behind(head, ']', declarations)
  return closed < 0 ? -1 : behind(head, '>', closed)
}

function behind(head: string, sign: string, at: number): number {
  const found = head.indexOf(sign, at)
  return found < 0 ? -1 : found + sign.length
}

function tagAt(head: string, start: number): string | undefined {
  if (head[start] !== '<') return undefined
  let quote = ''
  for (let at = start; at < head.length; at++) {
    const sign = head[at] ?? ''
    if (quote !== '') quote = sign === quote ? '' : quote
    else if (sign === '"' || sign === "'") quote = sign
    else if (sign === '>') return head.slice(start, at + 1)
  }
  return undefined
}
