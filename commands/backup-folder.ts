/**
 * The folder that a backup is written to. It is one only with its manifest, which is written last: whenever the process is killed
 * there is a whole backup or none.
 */
import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import {
  BACKUP_DATA_FOLDER,
  MANIFEST_FILE,
  UNFINISHED_FILE,
  manifestText,
  type BackupManifest,
} from '../model/backup.ts'
import { errorText } from '../model/errors.ts'
import { CommandErrors } from './rest-session.ts'
import { SyncedFiles, syncFolder, writeSynced } from './synced-files.ts'

export class BackupFolder {
  readonly path: string
  private readonly files: SyncedFiles

  private constructor(path: string) {
    this.path = path
    this.files = new SyncedFiles(path)
  }

  /** Throws USAGE where something else is in the folder, or it is none. */
  static async begin(directory: string): Promise<BackupFolder> {
    const path = resolve(directory)
    const present = await presentIn(path)
    if (present.length > 0) {
      const isUnfinished = present.includes(UNFINISHED_FILE) && !present.includes(MANIFEST_FILE)
      if (!isUnfinished) throw CommandErrors.USAGE({ reason: `${path} is not empty: name another folder` })
      await rm(join(path, BACKUP_DATA_FOLDER), { recursive: true, force: true })
    }
    await writeSynced(join(path, UNFINISHED_FILE), '')
    await syncFolder(path)
    await syncFolder(dirname(path))
    return new BackupFolder(path)
  }

  /** Returns the checksum; `written` hears of each piece. */
  write(path: string, pieces: AsyncIterable<Uint8Array>, written: (bytes: number) => void): Promise<string> {
    return this.files.write(join(this.path, BACKUP_DATA_FOLDER, path), pieces, { isNew: false, written })
  }

  async finish(manifest: BackupManifest): Promise<void> {
    await this.files.syncFolders()
    const file = join(this.path, MANIFEST_FILE)
    await writeSynced(`${file}.new`, manifestText(manifest))
    await rename(`${file}.new`, file)
    await syncFolder(this.path)
    await rm(join(this.path, UNFINISHED_FILE))
  }
}

/** Made where it is absent. */
async function presentIn(path: string): Promise<readonly string[]> {
  try {
    await makeFolder(path)
    return await readdir(path)
  } catch (error) {
    const reason = (await isFile(path)) ? 'it is a file' : errorText(error)
    throw CommandErrors.USAGE(
      { reason: `${path} can not be used: ${reason}. Name a folder that this user may write to` },
      error,
    )
  }
}

/** With those above it. Not by a recursive `mkdir`: it spins where what cannot be made is said to be missing, as in `/proc`. */
async function makeFolder(path: string): Promise<void> {
  if (await isThere(path)) return
  const above = dirname(path)
  if (above !== path) await makeFolder(above)
  await mkdir(path, { mode: 0o700 })
}

async function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false, // Whoever makes it hears why it can not be looked at.
  )
}

async function isFile(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isFile(),
    () => false, // The reason says that it can not be looked at.
  )
}
