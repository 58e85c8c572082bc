/** What a bulk import is asked for, and answers. */
import type { Principal } from '../../model/principal.ts'
import { assets } from '../entities/asset.ts'
import type { ColumnSet, EntityDefinition } from '../entities/define.ts'
import { devices } from '../entities/device.ts'
import type { Entry } from '../../model/value.ts'

/** The types that are imported from files: those whose declaration names columns. */
export const IMPORTED: readonly EntityDefinition<ColumnSet>[] = [devices, assets]
export const IMPORTED_TYPES = ['DEVICE', 'ASSET'] as const
export type Imported = (typeof IMPORTED_TYPES)[number]

export interface ImportColumn {
  /** One of `COLUMN_TYPES`. */
  readonly type: string
  /** Of attributes and series. */
  readonly key?: string | null | undefined
}

/** One line by what its cells mean; empty cells say nothing. */
export interface ImportRow {
  readonly fields: ReadonlyMap<string, string>
  readonly shared: readonly Entry[]
  readonly server: readonly Entry[]
  readonly series: readonly Entry[]
}

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
  /** Refused lines are told; of them nothing stays. */
  run(principal: Principal, type: Imported, request: ImportRequest): Promise<ImportResult>
}

export interface FilePiece extends Omit<ImportRequest, 'hasHeader'> {
  /** What the file is known by: the same content with the same mapping has the same. */
  readonly name: string
  readonly type: Imported
  /** Where it begins and ends in the file, in bytes. */
  readonly from: number
  readonly to: number
  /** The number that its first line has in the file. */
  readonly firstLine: number
}

/** Of the whole import so far. */
export interface FilePosition {
  readonly position: number
  readonly created: number
  readonly updated: number
  readonly errors: number
  /** Of the piece that ends at the position. */
  readonly errorsList: readonly string[]
}

export interface FileImporter {
  position(principal: Principal, name: string): Promise<FilePosition>
  take(principal: Principal, piece: FilePiece): Promise<FilePosition>
  forget(principal: Principal, name: string): Promise<void>
}
