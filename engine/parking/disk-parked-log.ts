/** Parked messages in segments on disk: a log as the link's own. */
import type { Erased } from '../../model/erased.ts'
import { erasedBeside, NOT_REMOVED } from '../../disk/segments.ts'
import { RecordLog, type RecordLogOptions, type RecordPlace } from '../../disk/record-log.ts'
import { LINK_SEGMENTS } from '../link/log-format.ts'
import type { BlockContent } from '../link/wire.ts'
import type { ParkedLog } from './parked-log.ts'

export type DiskParkedLogOptions = Omit<RecordLogOptions<BlockContent>, 'format' | 'startAt'>

export class DiskParkedLog implements ParkedLog {
  private readonly options: DiskParkedLogOptions
  private readonly places = new Map<number, RecordPlace>()
  private log: RecordLog | undefined
  private lastPlace = 0

  constructor(options: DiskParkedLogOptions) {
    this.options = options
  }

  async load(visit: (place: number, body: Buffer, isSure: boolean) => void): Promise<void> {
    const options = { ...this.options, format: LINK_SEGMENTS }
    this.log = await RecordLog.open(options, (content, segment, { offset, end, body }, isSure) => {
      // The first block of a segment names the segment, and nothing else.
      if (content.segment !== undefined) return
      visit(this.number({ segment, offset, bytes: end - offset }), body, isSure)
    })
  }

  async append(block: Buffer): Promise<number> {
    return this.number(await this.loaded.append(block))
  }

  async read(place: number): Promise<Buffer | undefined> {
    const known = this.places.get(place)
    return known === undefined ? undefined : (await this.loaded.read(known))?.body
  }

  trim(place: number): Promise<void> {
    for (const known of this.places.keys()) if (known < place) this.places.delete(known)
    const inUse = new Set([...this.places.values()].map(({ segment }) => segment))
    return this.loaded.segments.remove((segment) => !inUse.has(segment))
  }

  async roll(): Promise<void> {
    await this.loaded.openSegment()
  }

  async eraseBefore(place: number): Promise<Erased> {
    const { segments } = this.loaded
    // A trim that is ending does not look again.
    await segments.idle()
    await this.trim(place)
    const first = this.places.get(place)?.segment
    if (first !== undefined && segments.oldest !== first) return NOT_REMOVED
    return erasedBeside(this.options.disk, this.options.directory)
  }

  async close(): Promise<void> {
    await this.log?.close()
  }

  private get loaded(): RecordLog {
    if (this.log === undefined) throw new Error('the parked log is not loaded')
    return this.log
  }

  private number(place: RecordPlace): number {
    this.places.set(++this.lastPlace, place)
    return this.lastPlace
  }
}
