/**
 * One process a data folder: two on the same log would damage it. The lock is SQLite's own on a file that holds nothing else,
 * so the operating system lets go of it however the process ends.
 */
import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { defineErrors, errorText } from '../model/errors.ts'

export const DataFolderErrors = defineErrors('data', {
  FOLDER_UNUSABLE: {
    kind: 'terminal',
    status: 500,
    text: 'DATA_DIR={folder} can not be used: {reason}. Name a folder that this user may write to',
  },
  STORE_UNUSABLE: {
    kind: 'terminal',
    status: 500,
    text: 'The {store} in DATA_DIR={folder} can not be opened: {reason}. Is the disk full, or its file not writable for this user?',
  },
  FOLDER_IN_USE: {
    kind: 'terminal',
    status: 500,
    text: 'DATA_DIR={folder} is in use by another Millrace: stop that one, or give this one another folder',
  },
  FOLDER_HALF_RESTORED: {
    kind: 'terminal',
    status: 500,
    text: 'DATA_DIR={folder} holds a restore that did not end: run npm start -- restore DIR again',
  },
  FOLDER_NOT_EMPTY: {
    kind: 'terminal',
    status: 500,
    text: 'DATA_DIR={folder} is not empty: a backup is restored into an empty folder only',
  },
})

export const LOCK_FILE = 'lock'
/** Lies in the folder from the begin of a restore to its end. */
export const RESTORING_FILE = 'restoring'

export interface DataFolder {
  readonly path: string
  /** Lets go of the folder. Idempotent. */
  release(): void
}

const SQLITE_BUSY = 5

/** Makes the folder where it is absent and takes it. Throws FOLDER_UNUSABLE, FOLDER_IN_USE, FOLDER_HALF_RESTORED. */
export function takeDataFolder(folder: string, { isRestoring = false } = {}): DataFolder {
  const path = resolve(folder)
  let lock: DatabaseSync | undefined
  try {
    makeFolder(path)
    lock = new DatabaseSync(join(path, LOCK_FILE))
    lock.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE')
  } catch (error) {
    lock?.close()
    if (isBusy(error)) throw DataFolderErrors.FOLDER_IN_USE({ folder }, error)
    throw DataFolderErrors.FOLDER_UNUSABLE({ folder, reason: errorText(error) }, error)
  }
  const held = lock
  if (!isRestoring && existsSync(join(path, RESTORING_FILE))) {
    held.close()
    throw DataFolderErrors.FOLDER_HALF_RESTORED({ folder })
  }
  return {
    path,
    release: () => {
      if (held.isOpen) held.close()
    },
  }
}

/**
 * Makes the folder and its parents, durably. Not by `mkdir` with `recursive`: where the system answers ENOENT for a folder whose
 * parent is there (as below /proc), Node 22 tries again for ever.
 */
function makeFolder(path: string): void {
  const present = statSync(path, { throwIfNoEntry: false })
  if (present?.isDirectory() === true) return
  if (present !== undefined) throw new Error('it is a file')
  makeFolder(dirname(path))
  try {
    mkdirSync(path)
  } catch (error) {
    // Another process that starts on the same folder may have made it just now; the lock tells them apart.
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) throw error
  }
  // Else a power cut could take the folder with all that is synced in it.
  syncFolder(dirname(path))
}

function syncFolder(path: string): void {
  const folder = openSync(path, 'r')
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY
}
