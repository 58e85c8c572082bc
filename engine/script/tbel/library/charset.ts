/** Texts as bytes: the platform's charsets by their names, and Base64. */
import { Fault } from '../fault.ts'
import type { Value } from '../values.ts'
import type { Budget } from '../budget.ts'
import { textArgument } from './signature.ts'

type Charset = 'utf8' | 'ascii' | 'latin1' | 'utf16le' | 'utf16be' | 'utf16'

const CHARSETS: ReadonlyMap<string, Charset> = new Map([
  ['UTF-8', 'utf8'],
  ['UTF8', 'utf8'],
  ['US-ASCII', 'ascii'],
  ['ASCII', 'ascii'],
  ['ISO-8859-1', 'latin1'],
  ['ISO8859_1', 'latin1'],
  ['LATIN1', 'latin1'],
  ['UTF-16LE', 'utf16le'],
  ['UTF-16BE', 'utf16be'],
  ['UTF-16', 'utf16'],
])

export function charset(values: readonly Value[], index: number): Charset {
  if (index >= values.length) return 'utf8'
  const name = textArgument(values, index)
  const known = CHARSETS.get(name.toUpperCase())
  if (known === undefined) throw new Fault(`unknown charset '${name.slice(0, 100)}'`)
  return known
}

/** A character that the charset lacks is a question mark. */
export function encoded(text: string, to: Charset): Buffer {
  switch (to) {
    case 'utf8':
      return Buffer.from(text.includes('\ufffd') ? text.toWellFormed() : text.toWellFormed().replaceAll('\ufffd', '?'))
    case 'ascii':
      return Buffer.from(text.replace(/[^\0-\x7f]/gu, '?'), 'latin1')
    case 'latin1':
      return Buffer.from(text.replace(/[^\0-\xff]/gu, '?'), 'latin1')
    case 'utf16le':
      return Buffer.from(text, 'utf16le')
    case 'utf16be':
      return Buffer.from(text, 'utf16le').swap16()
    case 'utf16':
      return Buffer.concat([Buffer.from([0xfe, 0xff]), Buffer.from(text, 'utf16le').swap16()])
  }
}

export function decoded(bytes: Buffer, from: Charset): string {
  switch (from) {
    case 'ascii':
      return bytes.toString('latin1').replace(/[\x80-\xff]/g, '\ufffd')
    case 'utf16be':
      return evenPart(bytes).swap16().toString('utf16le')
    case 'utf16': {
      const isLittle = bytes[0] === 0xff && bytes[1] === 0xfe
      const isMarked = isLittle || (bytes[0] === 0xfe && bytes[1] === 0xff)
      const body = evenPart(bytes.subarray(isMarked ? 2 : 0))
      return (isLittle ? body : body.swap16()).toString('utf16le')
    }
    default:
      return bytes.toString(from)
  }
}

function evenPart(bytes: Buffer): Buffer {
  return Buffer.from(bytes.subarray(0, bytes.length - (bytes.length % 2)))
}

/** Padding may be missing, but not be wrong. */
export function base64Bytes(text: string, budget: Budget): Buffer {
  const digits = text.replace(/={1,2}$/, '')
  const isPadded = digits.length < text.length
  if (!/^[A-Za-z0-9+/]*$/.test(digits) || digits.length % 4 === 1 || (isPadded && text.length % 4 !== 0))
    throw new Fault('text is not Base64')
  budget.allocate(text.length)
  return Buffer.from(digits, 'base64')
}
