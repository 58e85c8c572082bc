/**
 * Telemetry keys repeat: the same few names come with every message. A direct-mapped table gives the string of a key's bytes
 * without making a new one each time. Bounded by its slots; a collision replaces.
 */
const SLOTS = 4096
const LONGEST_CACHED = 64

export class KeyCache {
  private readonly slots = new Array<string>(SLOTS).fill('')

  /** The text of printable ASCII bytes; `hash` is any hash of them. */
  text(bytes: Buffer, start: number, end: number, hash: number): string {
    const length = end - start
    if (length > LONGEST_CACHED) return bytes.toString('latin1', start, end)
    const slot = (hash ^ (hash >>> 12)) & (SLOTS - 1)
    const known = this.slots[slot]
    if (known !== undefined && known.length === length && sameBytes(known, bytes, start)) return known
    const text = bytes.toString('latin1', start, end)
    this.slots[slot] = text
    return text
  }
}

function sameBytes(text: string, bytes: Buffer, start: number): boolean {
  for (let index = 0; index < text.length; index++) {
    if (text.charCodeAt(index) !== bytes[start + index]) return false
  }
  return true
}
