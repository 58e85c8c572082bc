/** What a message counts for where memory is bounded by a number of messages: one, and one more for each 4,096 characters of data. */
import type { Delivery } from '../link/link.ts'

const CHARACTERS_SHIFT = 12

export function weightOf({ message }: Delivery): number {
  return 1 + (message.data.length >>> CHARACTERS_SHIFT)
}
