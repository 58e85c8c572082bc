/** What a bulk import is asked for, and answers. */
import type { Principal } from '../../model/principal.ts'
import type { ImportColumn } from './columns.ts'

export type Imported = 'DEVICE' | 'ASSET'

export interface ImportRequest {
  readonly file: string
  readonly columns: readonly ImportColumn[]
  readonly delimiter: string
  readonly hasHeader: boolean
  /** Without it attributes and series of lines whose entity is there already are left alone. */
  readonly update: boolean
}

export interface ImportResult {
  readonly created: number
  readonly updated: number
  readonly errors: number
  /** `Line 3: why`. */
  readonly errorsList: readonly string[]
}

export interface Importer {
  run(principal: Principal, type: Imported, request: ImportRequest): Promise<ImportResult>
}
