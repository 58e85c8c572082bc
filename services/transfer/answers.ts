/** What a transfer answers, of tables and of series. */

export interface TransferPage {
  readonly rows: readonly string[]
  /** Undefined where there is no more. */
  readonly next: string | undefined
  /** Of series: how many entities the page has done, and the first one how many there are. */
  readonly passed?: number
  readonly entities?: number
}

export interface PieceCounts {
  readonly created: number
  readonly changed: number
  readonly same: number
  /** Secrets that the file masks and nobody has here, as `chain: node: member`. */
  readonly toFillIn?: readonly string[]
}
