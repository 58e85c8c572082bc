/** What a backup is: a folder of files with a manifest that names each of them with its length and checksum. */
import { createHash } from 'node:crypto'
import { z } from 'zod'
import { defineErrors, errorText, isMillraceError } from './errors.ts'

export const BackupFolderErrors = defineErrors('backup-folder', {
  UNFINISHED: {
    kind: 'invalid',
    status: 400,
    text: '{folder} holds no finished backup: it has no {file}. Take another one',
  },
  DAMAGED: { kind: 'invalid', status: 400, text: '{file} of the backup is damaged: {reason}. Use another backup' },
  NEWER: {
    kind: 'invalid',
    status: 400,
    text: 'The backup has format {found}, this program knows formats up to {known}: use a newer program',
  },
})

export interface BackupFile {
  /** Below the data folder, with `/`. */
  readonly path: string
  readonly bytes: number
}

export interface BackupStatus {
  readonly id: string
  readonly phase: 'cutting' | 'ready' | 'failed'
  /** Why it failed. */
  readonly reason: string | undefined
  /** Of the cut so far, and about how much it will be. */
  readonly bytesDone: number
  readonly bytesExpected: number
  /** When everything in it had been acknowledged, Unix ms. */
  readonly cutTime: number
  /** No position of the link that is used in the backup is at or above it; 0 until the cut is ready. */
  readonly sequenceFloor: number
  /** Empty until the cut is ready. */
  readonly files: readonly BackupFile[]
}

/** Takes one cut at a time of what this process keeps in its data folder. */
export interface BackupAdmin {
  /** Begins a cut. Throws RUNNING, NOT_EMBEDDED. */
  begin(): Promise<BackupStatus>
  /** Throws UNKNOWN. */
  status(id: string): Promise<BackupStatus>
  /** Up to `BACKUP_PIECE_BYTES` from `offset`. Throws UNKNOWN. */
  read(id: string, path: string, offset: number): Promise<Uint8Array>
  /** Gives back the space that the cut takes. Idempotent. */
  release(id: string): Promise<void>
}

export const BACKUP_PIECE_BYTES = 4 << 20
export const BACKUP_FORMAT = 1

/** The file that makes a folder a backup: written last. */
export const MANIFEST_FILE = 'manifest.json'
/** In a folder to which a backup is being written: the folder may be emptied by the next. */
export const UNFINISHED_FILE = 'unfinished'
export const BACKUP_DATA_FOLDER = 'data'

export interface BackupManifest {
  readonly format: number
  /** Of the program. */
  readonly version: string
  readonly cutTime: number
  readonly sequenceFloor: number
  readonly files: readonly (BackupFile & { readonly sha256: string })[]
}

/** Of a file, from the folder of the data: nothing above it, and nothing absolute. */
export const backupPath = z.string().regex(/^(?!.*(^|\/)\.\.?(\/|$))[^/\\\0]+(\/[^/\\\0]+)*$/)

const manifestSchema = z.object({
  format: z.number(),
  version: z.string(),
  cutTime: z.number(),
  sequenceFloor: z.number().int().nonnegative(),
  files: z.array(
    z.object({
      path: backupPath,
      bytes: z.number().int().nonnegative(),
      sha256: z.string().length(64),
    }),
  ),
})
const checkedSchema = z.object({ sha256: z.string(), manifest: z.unknown() })

export function manifestText(manifest: BackupManifest): string {
  return `${JSON.stringify({ sha256: sha256Of(JSON.stringify(manifest)), manifest })}\n`
}

/** Throws DAMAGED, NEWER. */
export function parseManifest(text: string): BackupManifest {
  try {
    const { sha256, manifest } = checkedSchema.parse(JSON.parse(text))
    if (sha256 !== sha256Of(JSON.stringify(manifest))) throw new Error('its checksum does not fit')
    const parsed = manifestSchema.parse(manifest)
    if (parsed.format > BACKUP_FORMAT) throw BackupFolderErrors.NEWER({ found: parsed.format, known: BACKUP_FORMAT })
    return parsed
  } catch (error) {
    if (isMillraceError(error)) throw error
    throw BackupFolderErrors.DAMAGED({ file: MANIFEST_FILE, reason: errorText(error) }, error)
  }
}

function sha256Of(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
