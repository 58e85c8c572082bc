/** Bytes that are zero: a log's space that was never used. */

/** One of it for all, small: it stays for as long as the process. */
export const ZEROS: Buffer = Buffer.alloc(256 << 10)

export function isZeros(bytes: Buffer): boolean {
  for (let start = 0; start < bytes.length; start += ZEROS.length) {
    const piece = bytes.subarray(start, start + ZEROS.length)
    if (!piece.equals(ZEROS.subarray(0, piece.length))) return false
  }
  return true
}
