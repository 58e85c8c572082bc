/** What happens to a log that a person on call should know: rare, never one a message. */
export type LinkEvent =
  /** A write or a sync failed: nothing is acknowledged until a new segment can be written. */
  | { readonly kind: 'disk-failed'; readonly file: string; readonly error: unknown }
  | { readonly kind: 'disk-recovered'; readonly file: string }
  /** The last write of a run that ended hard: it was never acknowledged. */
  | { readonly kind: 'torn-tail-cut'; readonly file: string; readonly from: number; readonly bytes: number }
  /** Bytes that were written and are no longer what they were; with the sequences that stood there, where known. */
  | {
      readonly kind: 'damaged'
      readonly file: string
      readonly from: number
      readonly to: number
      readonly lostMessages: number
    }
  | { readonly kind: 'read-failed'; readonly file: string; readonly error: unknown }
  | { readonly kind: 'segment-not-removed'; readonly file: string; readonly error: unknown }
  | { readonly kind: 'receipt-threw'; readonly error: unknown }
  /** The dead-letter store is over its bound: its oldest letters went. */
  | { readonly kind: 'dead-letters-dropped'; readonly count: number }
  | { readonly kind: 'dead-letter-not-stored'; readonly sequence: number; readonly error: unknown }

export type LinkEventListener = (event: LinkEvent) => void
