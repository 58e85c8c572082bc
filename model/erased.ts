/** What files still hold of what was deleted. */
export interface Erased {
  /** Nothing of it is in the files of the store any more. */
  readonly isGone: boolean
  /** When it is gone at the latest, Unix ms, where it goes by itself. */
  readonly byMs?: number
  /** What there is left to do, or to wait for. */
  readonly rest?: string
}

/** Of a store in parts: gone where it is gone from all; what is left is said once. */
export function erasedOfAll(parts: readonly Erased[]): Erased {
  const rests = new Set(parts.map(({ rest }) => rest).filter((rest) => rest !== undefined))
  const isGone = parts.every((part) => part.isGone)
  return rests.size === 0 ? { isGone } : { isGone, rest: [...rests].join('; ') }
}
