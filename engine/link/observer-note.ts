/** What an observer of a stream keeps with the stream's record. */
export interface ObserverNote {
  /** It belongs behind the frame of this position. */
  readonly upTo: number
  readonly bytes: Uint8Array
}
