/**
 * Ids of the parts of a message: the first group of digits is shifted by the part's number. The same on a retry and a
 * replay, unlike random ones, so that an effect outside keeps its idempotency key.
 */
export function partId(id: string, index: number): string {
  const head = (Number.parseInt(id.slice(0, 8), 16) + index + 1) % 0x1_0000_0000
  return head.toString(16).padStart(8, '0') + id.slice(8)
}
