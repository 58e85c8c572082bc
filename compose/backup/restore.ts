/**
 * `npm start -- restore DIR`: brings a backup into an empty data folder. Every file is checked before the first is copied; until the last
 * of it is on the disk a marker keeps any Millrace from starting on the folder.
 */
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open, readdir, readFile, rm, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import {
  BACKUP_DATA_FOLDER,
  BackupFolderErrors,
  MANIFEST_FILE,
  parseManifest,
  type BackupManifest,
} from '../../model/backup.ts'
import { errorText } from '../../model/errors.ts'
import { Progress, sizeText } from '../../commands/progress.ts'
import { SyncedFiles, syncFolder } from '../../commands/synced-files.ts'
import { readConfig, type Environment } from '../../config/read.ts'
import { nodeDisk } from '../../disk/node-disk.ts'
import { raiseSequence } from '../../engine/link/raise-sequence.ts'
import { DataFolderErrors, LOCK_FILE, RESTORING_FILE, takeDataFolder, type DataFolder } from '../data-folder.ts'
import { BACKUP_PATHS } from './backups.ts'

const USAGE = `npm start -- restore DIR

  DIR   a backup that npm start -- backup DIR took

It is brought into the data folder that DATA_DIR names, which has to be empty; a restore that was killed is begun again. Millrace must
not run on the folder.
`

/** Resolves with the exit code. */
export async function restore(argv: readonly string[], environment: Environment): Promise<number> {
  const progress = new Progress()
  try {
    const [directory, ...others] = argv
    if (directory === undefined || others.length > 0 || directory.startsWith('-')) {
      process.stdout.write(USAGE)
      return directory === '--help' ? 0 : 2
    }
    const { dataDir } = readConfig(environment)
    const bytes = await restoreInto(resolve(directory), dataDir, progress)
    process.stdout.write(`${sizeText(bytes)} restored into ${resolve(dataDir)}\n`)
    return 0
  } catch (error) {
    progress.end()
    process.stderr.write(`${errorText(error)}\n`)
    return 1
  }
}

/** Throws UNFINISHED, DAMAGED, NEWER, FOLDER_NOT_EMPTY and what taking the folder throws. Resolves with the backup's size. */
export async function restoreInto(directory: string, dataDir: string, progress: Progress): Promise<number> {
  const manifest = await manifestOf(directory)
  const total = manifest.files.reduce((sum, { bytes }) => sum + bytes, 0)
  let done = 0
  for (const file of manifest.files) {
    await check(join(directory, BACKUP_DATA_FOLDER), file, (bytes) => progress.show('check', (done += bytes), total))
  }
  const folder = takeDataFolder(dataDir, { isRestoring: true })
  try {
    await emptied(folder)
    done = 0
    await copyAll(directory, folder, manifest, (bytes) => progress.show('copy', (done += bytes), total))
    // Damage in the log itself would have been in the running one too: the start tells of it.
    const link = join(folder.path, BACKUP_PATHS.link)
    await raiseSequence(nodeDisk, link, manifest.sequenceFloor, () => undefined)
    await syncFolder(link)
    await rm(join(folder.path, RESTORING_FILE))
    await syncFolder(folder.path)
  } finally {
    folder.release()
  }
  progress.end()
  return total
}

async function manifestOf(directory: string): Promise<BackupManifest> {
  let text: string
  try {
    text = await readFile(join(directory, MANIFEST_FILE), 'utf8')
  } catch (error) {
    throw BackupFolderErrors.UNFINISHED({ folder: directory, file: MANIFEST_FILE }, error)
  }
  return parseManifest(text)
}

async function check(
  folder: string,
  { path, bytes, sha256 }: BackupManifest['files'][number],
  read: (bytes: number) => void,
): Promise<void> {
  const found = await stat(join(folder, path)).catch(() => undefined)
  if (found === undefined) throw BackupFolderErrors.DAMAGED({ file: path, reason: 'it is missing' })
  if (found.size !== bytes)
    throw BackupFolderErrors.DAMAGED({ file: path, reason: `it has ${found.size} bytes, not ${bytes}` })
  const hash = createHash('sha256')
  for await (const piece of createReadStream(join(folder, path)) as AsyncIterable<Buffer>) {
    hash.update(piece)
    read(piece.length)
  }
  if (hash.digest('hex') !== sha256)
    throw BackupFolderErrors.DAMAGED({ file: path, reason: 'its checksum does not fit' })
}

/** Of what a killed restore left. Throws FOLDER_NOT_EMPTY where anything else is there. From here on the folder is marked. */
async function emptied(folder: DataFolder): Promise<void> {
  const present = (await readdir(folder.path)).filter((name) => !name.startsWith(LOCK_FILE))
  if (present.length > 0 && !present.includes(RESTORING_FILE))
    throw DataFolderErrors.FOLDER_NOT_EMPTY({ folder: folder.path })
  const marker = await open(join(folder.path, RESTORING_FILE), 'w', 0o600)
  await marker.close()
  await syncFolder(folder.path)
  for (const name of present) if (name !== RESTORING_FILE) await rm(join(folder.path, name), { recursive: true })
}

async function copyAll(
  directory: string,
  folder: DataFolder,
  { files }: BackupManifest,
  written: (bytes: number) => void,
): Promise<void> {
  const copies = new SyncedFiles(folder.path)
  for (const { path, sha256 } of files) {
    const source: AsyncIterable<Buffer> = createReadStream(join(directory, BACKUP_DATA_FOLDER, path), {
      highWaterMark: 1 << 20,
    })
    if ((await copies.write(join(folder.path, path), source, { isNew: true, written })) !== sha256)
      throw BackupFolderErrors.DAMAGED({ file: path, reason: 'it changed since it was checked' })
  }
  await copies.syncFolders()
}
