/** What the event loop's thread and the SQLite thread say to each other, always as lists: requests one way, replies the other. */
import type { SqlValue } from '../database.ts'

export interface PlainStatement {
  readonly sql: string
  readonly parameters: readonly SqlValue[]
  readonly parameterRows?: readonly (readonly SqlValue[])[] | undefined
  readonly returnsRows?: boolean | undefined
  readonly expectedChanges?: number | undefined
}

export type Request =
  | { readonly kind: 'read'; readonly id: number; readonly sql: string; readonly parameters: readonly SqlValue[] }
  /** Independent transactions that share one commit. */
  | { readonly kind: 'write'; readonly id: number; readonly transactions: readonly (readonly PlainStatement[])[] }
  /** Writes a consistent copy to a file that is not there yet. */
  | { readonly kind: 'copy'; readonly id: number; readonly file: string }
  | { readonly kind: 'close'; readonly id: number }

export interface PlainResult {
  readonly changes: number
  readonly rows: readonly unknown[]
  readonly untouched: readonly number[]
}

/** What became of one transaction of a shared commit. */
export type Outcome =
  | { readonly kind: 'done'; readonly results: readonly PlainResult[] }
  | { readonly kind: 'unexpected-changes'; readonly statement: number }
  | { readonly kind: 'unique'; readonly statement: number; readonly constraint: string }
  | { readonly kind: 'failed'; readonly statement: number; readonly reason: string }

export type Reply =
  | { readonly kind: 'rows'; readonly id: number; readonly rows: readonly unknown[]; readonly sequence: number }
  | { readonly kind: 'written'; readonly id: number; readonly outcomes: readonly Outcome[]; readonly sequence: number }
  | { readonly kind: 'error'; readonly id: number; readonly reason: string }
  | { readonly kind: 'copied'; readonly id: number }
  | { readonly kind: 'closed'; readonly id: number }

/** The thread's first word: the database is open. */
export const READY = 'ready'

export interface WorkerSettings {
  readonly file: string
  /** `full`: a power cut loses no commit. `normal`: a killed process loses none. */
  readonly synchronous: 'full' | 'normal'
  /** Beside the thread that writes. */
  readonly readOnly?: boolean
}
