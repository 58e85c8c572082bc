/** Whole numbers in groups of seven bits, the lowest first (protobuf's varint): in the log's blocks and in the store's. */

/** What a number has above four groups fits into 32 bits. */
const FOUR_GROUPS = 2 ** 28

/** The most bytes that one takes. */
export const VARINT_BYTES = 8

/** Writes a whole number from 0, below 2^56; returns the position behind it. */
export function putVarint(buffer: Buffer, position: number, value: number): number {
  let at = position
  let rest = value
  if (value > 0x7fffffff) {
    rest = Math.floor(value / FOUR_GROUPS)
    // With `%` a time takes three times as long: the remainder of a double is a call. A buffer keeps a number's last eight bits.
    const low = value - rest * FOUR_GROUPS
    buffer[at++] = low | 0x80
    buffer[at++] = (low >>> 7) | 0x80
    buffer[at++] = (low >>> 14) | 0x80
    buffer[at++] = (low >>> 21) | 0x80
  }
  while (rest > 0x7f) {
    buffer[at++] = (rest & 0x7f) | 0x80
    rest >>>= 7
  }
  buffer[at++] = rest
  return at
}
