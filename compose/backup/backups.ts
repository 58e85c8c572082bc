/**
 * Backups of the embedded default, taken while it runs: one cut of link, entities and time series, copied into a folder of its own
 * inside the data folder, read from there piece by piece, and removed. The order is what makes the cut one
 * (`docs/guides/backup.md`): the link's log first, so that what it calls settled is in the stores that are copied after it.
 */
import { copyFile, mkdir, open, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { BACKUP_PIECE_BYTES, type BackupAdmin, type BackupFile, type BackupStatus } from '../../model/backup.ts'
import type { Clock, Random } from '../../model/clock.ts'
import { defineErrors, errorText } from '../../model/errors.ts'
import type { Log } from '../../model/log.ts'
import { copyLogFolder, orGone } from './log-folder.ts'

export const BackupErrors = defineErrors('backup', {
  RUNNING: { kind: 'retryable', status: 409, text: 'Another backup is being taken: wait for its end' },
  UNKNOWN: {
    kind: 'invalid',
    status: 404,
    text: 'There is no such backup here, or it was given back after {minutes} minutes without a read',
  },
  NOT_EMBEDDED: {
    kind: 'invalid',
    status: 409,
    text: 'Not all of this process is kept in its data folder ({kept}): back up the servers with their own tools, as docs/guides/backup.md says',
  },
})

/** What is kept in the data folder, each with its way to copy it. */
export interface BackupSources {
  /** The data folder. */
  readonly folder: string
  readonly entities: { copyTo(file: string): Promise<void>; readonly attributes: { maxSequence(): Promise<number> } }
  readonly timeSeries: { copyTo(directory: string): Promise<number> }
}

export interface BackupsOptions {
  /** Undefined where a store is a server. */
  readonly sources: BackupSources | undefined
  /** What is kept where: `link in NATS`, … */
  readonly kept: string
  readonly holdOutbox: () => () => void
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
}

/** Where what is kept lies below the data folder, and below a backup of it. */
export const BACKUP_PATHS = { link: 'link', entities: 'entities.sqlite', timeSeries: 'time-series' } as const
/** The key of what is sealed in the entities, where the environment names none: without it a backup opens no secret. */
export const SECRETS_KEY_FILE = 'secrets.key'

/** In the data folder: what a killed process left there is removed at the next start. */
const FOLDER = 'backup'
/** Whoever took a cut and does not read it for so long has gone away. */
const IDLE_MINUTES = 10

interface Cut {
  readonly id: string
  readonly folder: string
  readonly bytesExpected: number
  phase: BackupStatus['phase']
  reason: string | undefined
  cutTime: number
  sequenceFloor: number
  files: readonly BackupFile[]
  done: Promise<void>
}

export class Backups implements BackupAdmin {
  private readonly options: BackupsOptions
  private cut: Cut | undefined
  private isBusy = false
  private idleTimer: { cancel(): void } | undefined

  constructor(options: BackupsOptions) {
    this.options = options
  }

  /** Removes what a killed process left. */
  async start(): Promise<void> {
    const { sources } = this.options
    if (sources !== undefined) await rm(join(sources.folder, FOLDER), { recursive: true, force: true })
  }

  async begin(): Promise<BackupStatus> {
    const { sources, kept, clock, random } = this.options
    if (sources === undefined) throw BackupErrors.NOT_EMBEDDED({ kept })
    if (this.isBusy || this.cut !== undefined) throw BackupErrors.RUNNING()
    this.isBusy = true
    try {
      const id = random.uuid()
      const folder = join(sources.folder, FOLDER, id)
      const bytesExpected = await bytesBelow(sources.folder)
      await mkdir(folder, { recursive: true, mode: 0o700 })
      const cut: Cut = {
        id,
        folder,
        bytesExpected,
        phase: 'cutting',
        reason: undefined,
        cutTime: clock.now(),
        sequenceFloor: 0,
        files: [],
        done: Promise.resolve(),
      }
      this.cut = cut
      cut.done = this.take(cut, sources)
      return await this.statusOf(cut)
    } finally {
      this.isBusy = false
    }
  }

  async status(id: string): Promise<BackupStatus> {
    return this.statusOf(this.known(id))
  }

  async read(id: string, path: string, offset: number): Promise<Uint8Array> {
    const cut = this.known(id)
    const known = cut.files.find((each) => each.path === path)
    if (known === undefined) throw BackupErrors.UNKNOWN({ minutes: IDLE_MINUTES })
    const bytes = Math.max(0, Math.min(BACKUP_PIECE_BYTES, known.bytes - offset))
    // It may be given back meanwhile.
    const file = await open(join(cut.folder, path), 'r').catch(orGone)
    if (file === undefined) throw BackupErrors.UNKNOWN({ minutes: IDLE_MINUTES })
    try {
      const piece = Buffer.allocUnsafe(bytes)
      const { bytesRead } = await file.read(piece, 0, bytes, offset)
      return piece.subarray(0, bytesRead)
    } finally {
      await file.close()
    }
  }

  async release(id: string): Promise<void> {
    const { cut } = this
    if (cut?.id !== id) return
    this.idleTimer?.cancel()
    // A cut under way cannot be stopped in the stores: its end is waited for.
    await cut.done
    await rm(cut.folder, { recursive: true, force: true })
    if (this.cut === cut) this.cut = undefined
  }

  async close(): Promise<void> {
    this.idleTimer?.cancel()
    if (this.cut !== undefined) await this.release(this.cut.id)
  }

  private async take(cut: Cut, { folder, entities, timeSeries }: BackupSources): Promise<void> {
    const { clock, log, holdOutbox } = this.options
    const startedAt = clock.monotonic()
    try {
      const release = holdOutbox()
      try {
        await copyLogFolder(join(folder, BACKUP_PATHS.link), join(cut.folder, BACKUP_PATHS.link), () => clock.now())
        cut.cutTime = clock.now()
        await entities.copyTo(join(cut.folder, BACKUP_PATHS.entities))
        await copyIfThere(join(folder, SECRETS_KEY_FILE), join(cut.folder, SECRETS_KEY_FILE))
      } finally {
        release()
      }
      const ofSeries = await timeSeries.copyTo(join(cut.folder, BACKUP_PATHS.timeSeries))
      // Read behind the copies: no position in them is above.
      const ofAttributes = await entities.attributes.maxSequence()
      cut.sequenceFloor = Math.ceil(Math.max(ofSeries, ofAttributes)) + 1
      cut.files = await filesBelow(cut.folder)
      cut.phase = 'ready'
      log.info('a backup can be read', { bytes: sumOf(cut.files), ms: Math.round(clock.monotonic() - startedAt) })
    } catch (error) {
      cut.phase = 'failed'
      cut.reason = errorText(error)
      log.error('a backup could not be taken', { reason: cut.reason })
    }
    this.giveBackLater(cut)
  }

  private known(id: string): Cut {
    const { cut } = this
    if (cut?.id !== id) throw BackupErrors.UNKNOWN({ minutes: IDLE_MINUTES })
    if (cut.phase !== 'cutting') this.giveBackLater(cut)
    return cut
  }

  private giveBackLater(cut: Cut): void {
    this.idleTimer?.cancel()
    this.idleTimer = this.options.clock.after(IDLE_MINUTES * 60_000, () => void this.release(cut.id))
  }

  private async statusOf(cut: Cut): Promise<BackupStatus> {
    const { id, phase, reason, bytesExpected, cutTime, sequenceFloor, files } = cut
    const bytesDone = phase === 'ready' ? sumOf(files) : await bytesBelow(cut.folder)
    return { id, phase, reason, bytesDone, bytesExpected, cutTime, sequenceFloor, files }
  }
}

async function copyIfThere(from: string, to: string): Promise<void> {
  await copyFile(from, to).catch(orGone)
}

function sumOf(files: readonly BackupFile[]): number {
  return files.reduce((sum, { bytes }) => sum + bytes, 0)
}

async function bytesBelow(folder: string): Promise<number> {
  return sumOf(await filesBelow(folder))
}

async function filesBelow(folder: string): Promise<BackupFile[]> {
  const entries = (await readdir(folder, { recursive: true, withFileTypes: true }).catch(orGone)) ?? []
  const files: BackupFile[] = []
  for (const entry of entries) {
    if (!entry.isFile()) continue
    const file = join(entry.parentPath, entry.name)
    // One that a running log removed meanwhile counts nothing.
    const found = await stat(file).catch(orGone)
    if (found !== undefined) files.push({ path: file.slice(folder.length + 1), bytes: found.size })
  }
  return files
}
