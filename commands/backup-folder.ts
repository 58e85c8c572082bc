/**
 * The folder that a backup is written to. It is one only with its manifest, which is written last: whenever the process is killed
 * there is a whole backup or none.
 */
import { createHash } from 'node:crypto'
import { mkdir, open, readdir, rename, rm } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import {
  BACKUP_DATA_FOLDER,
  MANIFEST_FILE,
  UNFINISHED_FILE,
  manifestText,
  type BackupManifest,
} from '../model/backup.ts'
import { CommandErrors } from './rest-session.ts'

export class BackupFolder {
  readonly path: string
  private readonly folders = new Set<string>()

  private constructor(path: string) {
    this.path = path
  }

  /** Throws USAGE where something else is in the folder. */
  static async begin(directory: string): Promise<BackupFolder> {
    const path = resolve(directory)
    await mkdir(path, { recursive: true, mode: 0o700 })
    const present = await readdir(path)
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
  async write(path: string, pieces: AsyncIterable<Uint8Array>, written: (bytes: number) => void): Promise<string> {
    const target = join(this.path, BACKUP_DATA_FOLDER, path)
    await this.makeFolder(dirname(target))
    const hash = createHash('sha256')
    const file = await open(target, 'w', 0o600)
    try {
      for await (const piece of pieces) {
        hash.update(piece)
        await file.writeFile(piece)
        written(piece.length)
      }
      await file.sync()
    } finally {
      await file.close()
    }
    return hash.digest('hex')
  }

  async finish(manifest: BackupManifest): Promise<void> {
    for (const folder of this.folders) await syncFolder(folder)
    const file = join(this.path, MANIFEST_FILE)
    await writeSynced(`${file}.new`, manifestText(manifest))
    await rename(`${file}.new`, file)
    await syncFolder(this.path)
    await rm(join(this.path, UNFINISHED_FILE))
  }

  private async makeFolder(folder: string): Promise<void> {
    if (folder === this.path || this.folders.has(folder)) return
    await this.makeFolder(dirname(folder))
    await mkdir(folder, { recursive: true, mode: 0o700 })
    this.folders.add(folder)
  }
}

async function writeSynced(path: string, text: string): Promise<void> {
  const file = await open(path, 'w', 0o600)
  try {
    await file.writeFile(text)
    await file.sync()
  } finally {
    await file.close()
  }
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}
