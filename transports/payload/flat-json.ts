/**
 * The fast road of telemetry: reads `{"key":value,…}` and `{"ts":…,"values":{…}}` straight from the bytes into entries, with no
 * object in between. It takes only what is beyond doubt (printable ASCII, plain numbers of at most 15 digits, no escapes,
 * no repeated key, nothing nested) and hands everything else, good or bad, to the slow road, which alone reports errors.
 * The test beside it holds both roads against each other on generated payloads.
 */
import { MAX_EXACT_DIGITS, POWERS_OF_TEN } from '../../model/json-numbers.ts'
import type { Entry } from '../../model/value.ts'
import type { UploadGroup } from '../../engine/device/gateway.ts'
import { KeyCache } from './key-cache.ts'

const QUOTE = 0x22
const COMMA = 0x2c
const MINUS = 0x2d
const DOT = 0x2e
const ZERO = 0x30
const NINE = 0x39
const COLON = 0x3a
const BACKSLASH = 0x5c
const OPEN_LIST = 0x5b
const CLOSE_LIST = 0x5d
const OPEN = 0x7b
const CLOSE = 0x7d
const LARGEST_FAST_UPLOAD = 32
export const LONGEST_FAST_KEY = 255

/** What a gateway sends of one device. */
export interface NamedUpload {
  readonly name: string
  readonly groups: readonly UploadGroup[]
}

export class FlatJsonReader {
  private readonly keys = new KeyCache()
  private bytes: Buffer = Buffer.alloc(0)
  private position = 0
  private end = 0
  /** Whether what was read is, byte for byte, what the entries would be printed as. */
  private canonical = true
  private number = 0
  private isDouble = false
  /** What was read of the upload, reused: an array that grows by `push` takes room for 17 at once, and most uploads have a few. */
  private readonly members = new EntryList()
  private readonly values = new EntryList()

  /**
   * One group, with its text where that is already the canonical one; undefined where the slow road must decide.
   * `castStrings`: texts that may be numbers go the slow road.
   */
  read(bytes: Buffer, castStrings: boolean, start = 0, end = bytes.length): UploadGroup | undefined {
    this.bytes = bytes
    this.position = start
    this.end = end
    this.canonical = true
    const group = this.readUpload(castStrings)
    if (group !== undefined) {
      this.skipBlanks()
      if (this.position !== this.end) return undefined
    }
    return group
  }

  /** `{"name":[upload,…]}`: what a gateway sends of one device; undefined as for `read`. */
  readNamed(bytes: Buffer, castStrings: boolean): NamedUpload | undefined {
    this.bytes = bytes
    this.position = 0
    this.end = bytes.length
    this.skipBlanks()
    if (bytes[this.position++] !== OPEN) return undefined
    this.skipBlanks()
    const name = this.readKey()
    if (name === undefined || bytes[this.position++] !== OPEN_LIST) return undefined
    const groups: UploadGroup[] = []
    for (;;) {
      this.skipBlanks()
      this.canonical = true
      const group = this.readUpload(castStrings)
      if (group === undefined) return undefined
      groups.push(group)
      this.skipBlanks()
      const code = bytes[this.position++]
      if (code === CLOSE_LIST) break
      if (code !== COMMA) return undefined
    }
    this.skipBlanks()
    if (bytes[this.position++] !== CLOSE) return undefined
    this.skipBlanks()
    return this.position === this.end ? { name, groups } : undefined
  }

  private readUpload(castStrings: boolean): UploadGroup | undefined {
    this.skipBlanks()
    const start = this.position
    if (this.bytes[this.position++] !== OPEN) return undefined
    const { members } = this
    members.count = 0
    let ts: number | undefined
    let nested: Entry[] | undefined
    let nestedText: string | undefined
    this.skipBlanks()
    if (this.bytes[this.position] === CLOSE) {
      this.position++
      return { ts: undefined, entries: [] }
    }
    for (;;) {
      const key = this.readKey()
      if (key === undefined) return undefined
      if (key === 'values') {
        if (nested !== undefined || this.bytes[this.position] !== OPEN) return undefined
        const blanksOutside = this.canonical
        this.canonical = true
        const nestedStart = this.position
        nested = this.readValues(castStrings)
        if (nested === undefined) return undefined
        nestedText = this.canonical ? this.bytes.toString('latin1', nestedStart, this.position) : undefined
        this.canonical = blanksOutside
      } else if (key === 'ts') {
        if (ts !== undefined || !this.readNumber() || this.isDouble) return undefined
        ts = this.number
      } else if (!this.readMember(members, key, castStrings)) return undefined
      const more = this.readSeparator()
      if (more === undefined) return undefined
      if (!more) break
    }
    if (nested !== undefined) {
      // Both are members: everything beside them is ignored (`device-api.md` 2.1).
      if (ts === undefined) return undefined
      return nestedText === undefined ? { ts, entries: nested } : { ts, entries: nested, json: nestedText }
    }
    // Alone it is a key like any other.
    if (ts !== undefined) return undefined
    return this.canonical
      ? { ts: undefined, entries: members.taken(), json: this.bytes.toString('latin1', start, this.position) }
      : { ts: undefined, entries: members.taken() }
  }

  private readValues(castStrings: boolean): Entry[] | undefined {
    this.position++
    const entries = this.values
    entries.count = 0
    this.skipBlanks()
    if (this.bytes[this.position] === CLOSE) {
      this.position++
      return []
    }
    for (;;) {
      const key = this.readKey()
      if (key === undefined || !this.readMember(entries, key, castStrings)) return undefined
      const more = this.readSeparator()
      if (more === undefined) return undefined
      if (!more) return entries.taken()
    }
  }

  /** A quoted key and its colon. */
  private readKey(): string | undefined {
    const bytes = this.bytes
    if (bytes[this.position] !== QUOTE) return undefined
    const start = ++this.position
    let hash = 0
    for (let index = start; index < this.end; index++) {
      const code = bytes[index] ?? 0
      if (code === QUOTE) {
        if (index - start > LONGEST_FAST_KEY) return undefined
        this.position = index + 1
        this.skipBlanks()
        if (bytes[this.position++] !== COLON) return undefined
        this.skipBlanks()
        return this.keys.text(bytes, start, index, hash)
      }
      if (code < 0x20 || code > 0x7e || code === BACKSLASH) return undefined
      hash = (Math.imul(hash, 31) + code) | 0
    }
    return undefined
  }

  private readMember(entries: EntryList, key: string, castStrings: boolean): boolean {
    if (entries.count >= LARGEST_FAST_UPLOAD || entries.has(key)) return false
    const code = this.bytes[this.position] ?? 0
    if (code === MINUS || (code >= ZERO && code <= NINE)) {
      if (!this.readNumber()) return false
      entries.add(
        this.isDouble ? { key, type: 'DOUBLE', value: this.number } : { key, type: 'LONG', value: this.number },
      )
      return true
    }
    if (code === QUOTE) {
      const value = this.readString(castStrings)
      if (value === undefined) return false
      entries.add({ key, type: 'STRING', value })
      return true
    }
    if (this.takeWord('true')) entries.add({ key, type: 'BOOLEAN', value: true })
    else if (this.takeWord('false')) entries.add({ key, type: 'BOOLEAN', value: false })
    else return false
    return true
  }

  /**
   * A mantissa below 10^15 divided by a power of ten up to 10^15 is the correctly rounded double: both are exact.
   */
  private readNumber(): boolean {
    const bytes = this.bytes
    let index = this.position
    const negative = bytes[index] === MINUS
    if (negative) index++
    const first = index
    let mantissa = 0
    let code = bytes[index] ?? 0
    while (code >= ZERO && code <= NINE) {
      mantissa = mantissa * 10 + (code - ZERO)
      code = bytes[++index] ?? 0
    }
    let digits = index - first
    if (digits === 0 || digits > MAX_EXACT_DIGITS || (digits > 1 && bytes[first] === ZERO)) return false
    this.isDouble = code === DOT
    if (this.isDouble) {
      const firstDecimal = ++index
      code = bytes[index] ?? 0
      while (code >= ZERO && code <= NINE) {
        mantissa = mantissa * 10 + (code - ZERO)
        code = bytes[++index] ?? 0
      }
      const decimals = index - firstDecimal
      digits += decimals
      if (decimals === 0 || digits > MAX_EXACT_DIGITS) return false
      if (bytes[index - 1] === ZERO && decimals > 1) this.canonical = false
      mantissa /= POWERS_OF_TEN[decimals] ?? NaN
      if ((mantissa < 1e-3 && mantissa !== 0) || mantissa >= 1e7) this.canonical = false
    }
    if (code === 0x65 || code === 0x45 || (negative && mantissa === 0)) return false
    this.number = negative ? -mantissa : mantissa
    this.position = index
    return true
  }

  private readString(castStrings: boolean): string | undefined {
    const bytes = this.bytes
    const start = ++this.position
    for (let index = start; index < this.end; index++) {
      const code = bytes[index] ?? 0
      if (code === QUOTE) {
        this.position = index + 1
        return bytes.toString('latin1', start, index)
      }
      if (code < 0x20 || code > 0x7e || code === BACKSLASH) return undefined
      if (castStrings && index === start && code <= NINE && (code >= ZERO || code === MINUS || code === DOT))
        return undefined
    }
    return undefined
  }

  private takeWord(word: string): boolean {
    for (let index = 0; index < word.length; index++) {
      if (this.bytes[this.position + index] !== word.charCodeAt(index)) return false
    }
    this.position += word.length
    return true
  }

  /** True behind a comma, false behind the closing brace. */
  private readSeparator(): boolean | undefined {
    this.skipBlanks()
    const code = this.bytes[this.position++]
    if (code === CLOSE) return false
    if (code !== COMMA) return undefined
    this.skipBlanks()
    return true
  }

  private skipBlanks(): void {
    for (;;) {
      const code = this.bytes[this.position]
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return
      this.canonical = false
      this.position++
    }
  }
}

/** Entries that are being read. Keeps those of the last upload alive, a few. */
class EntryList {
  count = 0
  private readonly entries: Entry[] = []

  add(entry: Entry): void {
    this.entries[this.count++] = entry
  }

  has(key: string): boolean {
    for (let index = 0; index < this.count; index++) if (this.entries[index]?.key === key) return true
    return false
  }

  /** An array of just this size, the taker's own. */
  taken(): Entry[] {
    return this.entries.slice(0, this.count)
  }
}
