/** Looks at a folder again and again, and reads its files one after the other. */
import type { TimerHandle } from '../../../model/clock.ts'
import { errorText } from '../../../model/errors.ts'
import type { Source, SourceParts } from '../define-integration.ts'
import { IntegrationErrors } from '../errors.ts'
import type { FileConfiguration } from './file-configuration.ts'
import { FileFolder, isMissing, type FoundFile } from './file-folder.ts'
import { readPosition } from './file-position.ts'
import { FileReading, type Stop } from './file-reading.ts'

type Parts = SourceParts<FileConfiguration>

const DRAIN_MS = 3000
/** Of a part that is read, beside a record. */
const READING_BYTES = 393_216

export async function openFileSource(parts: Parts): Promise<Source> {
  const { root } = parts
  if (root === undefined) throw IntegrationErrors.NO_FOLDER()
  const folder = await FileFolder.open(root, parts.tenantId, parts.configuration.folder)
  const source = new FileSource(parts, folder)
  parts.connected(true)
  source.look()
  return source
}

class FileSource implements Source {
  private readonly parts: Parts
  private readonly folder: FileFolder
  /** As they were at the last look. */
  private seen = new Map<string, FoundFile>()
  private timer: TimerHandle | undefined
  private looking: Promise<void> = Promise.resolve()
  private readonly stop: Stop = { isStopped: false, isAbandoned: false }

  constructor(parts: Parts, folder: FileFolder) {
    this.parts = parts
    this.folder = folder
  }

  look(): void {
    this.timer = undefined
    const { connected, configuration, clock } = this.parts
    this.looking = this.readFiles()
      .then(
        () => connected(true),
        (error: unknown) => {
          const reason = isMissing(error) ? 'a file or folder is gone' : codeOf(error)
          connected(false, IntegrationErrors.FOLDER({ folder: configuration.folder, reason }))
        },
      )
      .finally(() => {
        if (!this.stop.isStopped) this.timer = clock.after(configuration.pollSeconds * 1000, () => this.look())
      })
  }

  /** Resolves when what was taken is stored, and the position says it, or could not be within three seconds. */
  async close(): Promise<void> {
    this.stop.isStopped = true
    this.timer?.cancel()
    await new Promise<void>((resolve) => {
      const timer = this.parts.clock.after(DRAIN_MS, resolve)
      void this.looking.then(() => {
        timer.cancel()
        resolve()
      })
    })
    this.stop.isAbandoned = true
  }

  private async readFiles(): Promise<void> {
    const files = await this.folder.files()
    const kept = await readPosition(this.parts.positions)
    const ready = files.filter((file) => isUnchanged(file, this.seen.get(file.name)) || isUnchanged(file, kept))
    this.seen = new Map(files.map((file) => [file.name, file]))
    // What was begun first is ended first.
    const ordered = ready.toSorted((one, other) => Number(other.name === kept?.name) - Number(one.name === kept?.name))
    for (const file of ordered) {
      if (this.stop.isStopped) return
      await this.withRoom(async () => {
        const reading = new FileReading(this.parts, this.folder, file, this.stop)
        await reading.run(await readPosition(this.parts.positions))
      })
      this.seen.delete(file.name)
    }
  }

  /** Others of the tenant who are at files have their turns. */
  private async withRoom(run: () => Promise<void>): Promise<void> {
    const { shares, tenantId, inlet } = this.parts
    const bytes = READING_BYTES + inlet.maxFrameBytes
    const enter = (): boolean => shares.unfinished.enterInTurn(tenantId, bytes) === undefined
    // In the step in which it is told: in the next one the room may be another's.
    for (let isIn = enter(); !isIn;)
      isIn = await new Promise((resolve) => shares.unfinished.onRoom(tenantId, bytes, () => resolve(enter())))
    try {
      if (!this.stop.isStopped) await run()
    } finally {
      shares.unfinished.leave(tenantId, bytes)
    }
  }
}

function isUnchanged(file: FoundFile, before: FoundFile | undefined): boolean {
  return file.size === before?.size && file.modified === before.modified && file.node === before.node
}

/** Tenants see no paths of the operator's. */
function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : errorText(error)
}
