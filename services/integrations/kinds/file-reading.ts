/** One file, part by part: the records of a part are stored, what is wrong with some is in the report, then the position moves. */
import type { FileHandle } from 'node:fs/promises'
import type { MillraceError } from '../../../model/errors.ts'
import { csvLines } from '../../import/csv.ts'
import type { Frame, SourceParts } from '../define-integration.ts'
import type { FileConfiguration } from './file-configuration.ts'
import type { FileFolder, FoundFile } from './file-folder.ts'
import { positionIn, writePosition, type FilePosition } from './file-position.ts'
import { FileRecords, type FileRecord } from './file-records.ts'

type Parts = SourceParts<FileConfiguration>

const PART_BYTES = 262_144
const PART_RECORDS = 1000
const AGAIN_MS = 1000
/** Further ones are counted. */
const MAX_REPORTED = 10_000
/** Of rows: each column is named once more in each record. */
const MAX_COLUMNS = 1000

interface Bad {
  readonly line: number
  readonly reason: string
}

export interface Stop {
  /** Nothing more is offered. */
  isStopped: boolean
  /** Nobody waits for it: another may be at the file. */
  isAbandoned: boolean
}

export class FileReading {
  private readonly parts: Parts
  private readonly folder: FileFolder
  private readonly file: FoundFile
  private readonly stop: Stop
  private columns: readonly string[] = []

  constructor(parts: Parts, folder: FileFolder, file: FoundFile, stop: Stop) {
    this.parts = parts
    this.folder = folder
    this.file = file
    this.stop = stop
  }

  /** Resolves when the file was read and moved, or when it was stopped: then the position is where it is to go on. */
  async run(kept: FilePosition | undefined): Promise<void> {
    const { file, folder } = this
    const handle = await folder.read(file.name)
    try {
      let at = positionIn(file, kept)
      const isUsable = await this.readColumns(handle)
      if (isUsable) {
        const records = new FileRecords(handle, this.parts.configuration, this.maxBytes, at)
        for (let next: FilePosition | undefined = at; next !== undefined;) {
          at = next
          this.tell(at)
          if (this.stop.isStopped) return
          next = await this.part(records, at)
        }
      } else
        at = await this.reported({ ...at, bad: 0, reportBytes: 0 }, [
          { line: 1, reason: 'the first row names no columns' },
        ])
      if (!this.stop.isAbandoned) await folder.finish(file.name, at.bad > 0 ? at.reportBytes : undefined)
    } finally {
      await handle.close()
    }
  }

  private get maxBytes(): number {
    return this.parts.inlet.maxFrameBytes
  }

  private tell({ position, records, bad }: FilePosition): void {
    const { name, size } = this.file
    this.parts.progress({ file: name, bytesDone: position, bytesTotal: size, records, bad })
  }

  /** Also where it is read from the middle. False: it has none. */
  private async readColumns(handle: FileHandle): Promise<boolean> {
    const { configuration } = this.parts
    if (configuration.format !== 'CSV') return true
    const first = await new FileRecords(handle, configuration, this.maxBytes).next()
    // A file of nothing has nothing that is bad.
    if (first === undefined) return true
    this.columns = cellsOf(first, configuration.delimiter)
    return this.columns.length > 0 && this.columns.length <= MAX_COLUMNS && this.columns.every((name) => name !== '')
  }

  /** Resolves with where the next begins; undefined at the end. */
  private async part(records: FileRecords, at: FilePosition): Promise<FilePosition | undefined> {
    const bad: Bad[] = []
    const wanted: { readonly record: FileRecord; readonly frame: Frame }[] = []
    let last: FileRecord | undefined
    for (let bytes = 0; bytes < PART_BYTES && wanted.length < PART_RECORDS;) {
      const record = await records.next()
      if (record === undefined) break
      last = record
      bytes += record.length
      if (record.line === 1 && this.parts.configuration.format === 'CSV') continue
      const frame = this.frameOf(record)
      // A short row has the names of all its columns.
      if (frame !== undefined) bytes += Math.max(0, frame.payload.length - record.length)
      if (frame !== undefined) wanted.push({ record, frame })
      else if (record.bytes === undefined) {
        this.parts.inlet.skipped(record.length)
        bad.push({ line: record.line, reason: `a record of ${record.length} bytes is too long` })
      }
    }
    if (last === undefined) return undefined
    const failures = await Promise.all(wanted.map(({ frame }) => this.stored(frame)))
    for (const [index, failure] of failures.entries()) {
      const line = wanted[index]?.record.line ?? 0
      if (failure !== undefined) bad.push({ line, reason: failure })
    }
    const moved = { ...at, position: last.end, line: last.nextLine, records: at.records + wanted.length }
    // What was stopped in the middle is read again.
    return failures.includes(STOPPED) || this.stop.isAbandoned ? at : this.reported(moved, bad)
  }

  private frameOf(record: FileRecord): Frame | undefined {
    const { bytes, line } = record
    const { format, delimiter } = this.parts.configuration
    if (bytes === undefined || bytes.length === 0) return undefined
    const metadata = { file: this.file.name, line: String(line), fileTime: String(this.file.modified) }
    if (format !== 'CSV') return { payload: Buffer.from(bytes), metadata }
    const cells = cellsOf(record, delimiter)
    if (cells.length === 0) return undefined
    const row = Object.fromEntries(this.columns.map((name, index) => [name, cells[index] ?? '']))
    return { payload: Buffer.from(JSON.stringify(row)), metadata }
  }

  /** Resolves when it is stored, with why it never can be. What cannot be stored now is offered again. */
  private async stored(frame: Frame): Promise<string | undefined> {
    for (;;) {
      if (this.stop.isStopped) return STOPPED
      const outcome = await this.offered(frame)
      if (outcome !== AGAIN) return outcome?.message
      await new Promise<void>((resolve) => this.parts.clock.after(AGAIN_MS, resolve))
    }
  }

  private offered(frame: Frame): Promise<MillraceError | typeof AGAIN | undefined> {
    const { inlet } = this.parts
    return new Promise((resolve) => {
      const offer = (): void => {
        if (this.stop.isStopped) return resolve(AGAIN)
        const isTaken = inlet.take(frame, { done: resolve, again: () => resolve(AGAIN) })
        if (!isTaken) inlet.onRoom(offer)
      }
      offer()
    })
  }

  /** The report is durable before the position that counts on it. */
  private async reported(at: FilePosition, bad: readonly Bad[]): Promise<FilePosition> {
    let { reportBytes } = at
    if (bad.length > 0) {
      const report = await this.folder.report(this.file.name)
      try {
        const sorted = bad.toSorted((one, other) => one.line - other.line).slice(0, Math.max(0, MAX_REPORTED - at.bad))
        const text = Buffer.from(sorted.map(({ line, reason }) => `line ${line}: ${oneLine(reason)}\n`).join(''))
        await report.truncate(reportBytes)
        await report.write(text, 0, text.length, reportBytes)
        await report.sync()
        reportBytes += text.length
      } finally {
        await report.close()
      }
    }
    const moved = { ...at, bad: at.bad + bad.length, reportBytes }
    await writePosition(this.parts.positions, moved)
    return moved
  }
}

const AGAIN = 'again'
const STOPPED = 'stopped'

function cellsOf({ bytes }: FileRecord, delimiter: string): readonly string[] {
  const [row] = bytes === undefined ? [] : [...csvLines(bytes.toString(), delimiter)]
  return row?.cells ?? []
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ')
}
