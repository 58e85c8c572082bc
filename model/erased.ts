/** What files still hold of what was deleted. */
export interface Erased {
  /** Nothing of it is in the files of the store any more. */
  readonly isGone: boolean
  /** When it is gone at the latest, Unix ms, where it goes by itself. */
  readonly byMs?: number
  /** What there is left to do, or to wait for. */
  readonly rest?: string
}
