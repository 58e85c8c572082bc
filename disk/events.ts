/** What happens to the files of a log that a person on call should know: rare, never one a message. */
export type DiskEvent =
  /** A write or a sync failed: nothing is acknowledged until a new segment can be written. */
  | { readonly kind: 'disk-failed'; readonly file: string; readonly error: unknown }
  | { readonly kind: 'disk-recovered'; readonly file: string }
  /** The last write of a run that ended hard: it was never acknowledged. */
  | { readonly kind: 'torn-tail-cut'; readonly file: string; readonly from: number; readonly bytes: number }
  /** Bytes that were written and are no longer what they were; with the number of messages that stood there, where known. */
  | ({ readonly kind: 'damaged'; readonly file: string; readonly lostMessages: number } & DamagedRange)
  | { readonly kind: 'read-failed'; readonly file: string; readonly error: unknown }
  | { readonly kind: 'segment-not-removed'; readonly file: string; readonly error: unknown }

/** Bytes that hold no valid block though valid ones follow, or though the log says that they were written. */
export interface DamagedRange {
  readonly from: number
  readonly to: number
}

export type DiskEventListener = (event: DiskEvent) => void
