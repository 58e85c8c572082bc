/** Files and folders that a power cut leaves as they were written. */
import { createHash } from 'node:crypto'
import { mkdir, open } from 'node:fs/promises'
import { dirname } from 'node:path'

/** Files below one folder. The folders that were made for them are synced together at the end. */
export class SyncedFiles {
  private readonly root: string
  private readonly folders = new Set<string>()

  constructor(root: string) {
    this.root = root
  }

  /** Resolves with the SHA-256 of what was written and synced; `written` hears of each piece. `isNew`: rejects where the file is there. */
  async write(
    path: string,
    pieces: AsyncIterable<Uint8Array>,
    { isNew, written }: { readonly isNew: boolean; readonly written: (bytes: number) => void },
  ): Promise<string> {
    await this.makeFolder(dirname(path))
    const hash = createHash('sha256')
    const file = await open(path, isNew ? 'wx' : 'w', 0o600)
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

  /** From here on the files are there by their names. */
  async syncFolders(): Promise<void> {
    for (const folder of [...this.folders, this.root]) await syncFolder(folder)
  }

  private async makeFolder(folder: string): Promise<void> {
    if (folder === this.root || this.folders.has(folder)) return
    await this.makeFolder(dirname(folder))
    await mkdir(folder, { recursive: true, mode: 0o700 })
    this.folders.add(folder)
  }
}

export async function writeSynced(path: string, text: string): Promise<void> {
  const file = await open(path, 'w', 0o600)
  try {
    await file.writeFile(text)
    await file.sync()
  } finally {
    await file.close()
  }
}

export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}
