/**
 * Looks devices up again that may have changed, in turns: one slice of the records at a time, behind all logins, so that a gap in the
 * change feed costs a slow store a few reads a second and no device its connection. Devices whose credentials the store knows to have
 * changed go before the rest. What the store does not answer is tried again until it does.
 */
import type { Clock } from '../../model/clock.ts'
import type { DeviceRecord } from './device-record.ts'

export interface RefreshHost {
  /** Looks one device up again; false where the store did not answer. Never rejects. */
  refresh(record: DeviceRecord): Promise<boolean>
  /** Ids of devices whose credentials changed since (Unix ms); undefined where the store did not answer. Never rejects. */
  credentialsChanged(since: number): Promise<readonly string[] | undefined>
}

/** What may have changed: true for a record that is to be looked up again. */
export type Doubt = (record: DeviceRecord) => boolean

const RECORDS_PER_SLICE = 512
/** Records that are only passed over. */
const PASSED_PER_TURN = 5000
const RETRY_MS = 1000

export class IdentityRefresh {
  private readonly host: RefreshHost
  private readonly records: ReadonlyMap<string, DeviceRecord>
  private readonly clock: Clock
  private doubts: Doubt[] = []
  private readonly single = new Set<DeviceRecord>()
  /** Since when credentials may have changed unheard; undefined: they have not. */
  private unheardSince: number | undefined
  private isRunning = false
  private isClosed = false

  constructor(host: RefreshHost, records: ReadonlyMap<string, DeviceRecord>, clock: Clock) {
    this.host = host
    this.records = records
    this.clock = clock
  }

  /** Goes over all records that there are now; one that comes later was looked up when it came. */
  add(doubt: Doubt): void {
    this.doubts.push(doubt)
    this.start()
  }

  /** Everybody may have changed since then (Unix ms); `doubt` as above. */
  addSince(since: number, doubt: Doubt): void {
    this.unheardSince = Math.min(since, this.unheardSince ?? since)
    this.add(doubt)
  }

  addOne(record: DeviceRecord): void {
    this.single.add(record)
    this.start()
  }

  close(): void {
    this.isClosed = true
  }

  private start(): void {
    if (this.isRunning || this.isClosed) return
    this.isRunning = true
    void this.run()
  }

  private async run(): Promise<void> {
    try {
      while (!this.isClosed && (this.single.size > 0 || this.doubts.length > 0)) {
        await this.refreshFirst()
        await this.goRound()
      }
    } finally {
      this.isRunning = false
    }
  }

  private async refreshFirst(): Promise<void> {
    await this.askWhatChanged()
    await this.refreshSingle()
  }

  private async askWhatChanged(): Promise<void> {
    const since = this.unheardSince
    if (since === undefined) return
    this.unheardSince = undefined
    const changed = await this.host.credentialsChanged(since)
    // Asked again after the next slice, which waits until the store answers.
    if (changed === undefined) this.unheardSince = Math.min(since, this.unheardSince ?? since)
    for (const id of changed ?? []) {
      const record = this.records.get(id)
      if (record?.isAttended === true) this.single.add(record)
    }
  }

  private async refreshSingle(): Promise<void> {
    const slice: DeviceRecord[] = []
    for (const record of this.single) {
      if (slice.length === RECORDS_PER_SLICE) break
      this.single.delete(record)
      slice.push(record)
    }
    await this.refreshAll(slice)
  }

  private async goRound(): Promise<void> {
    const doubts = this.doubts
    this.doubts = []
    if (doubts.length === 0) return
    let slice: DeviceRecord[] = []
    let passed = 0
    for (const record of this.records.values()) {
      if (this.isClosed) return
      let isInDoubt = false
      // Each is asked: one may have more to do than to say yes.
      for (const doubt of doubts) if (doubt(record)) isInDoubt = true
      if (isInDoubt) slice.push(record)
      if (slice.length === RECORDS_PER_SLICE) {
        await this.refreshFirst()
        await this.refreshAll(slice)
        slice = []
        passed = 0
      } else if (++passed === PASSED_PER_TURN) {
        await new Promise<void>((resolve) => this.clock.soon(resolve))
        passed = 0
      }
    }
    await this.refreshAll(slice)
  }

  private async refreshAll(slice: readonly DeviceRecord[]): Promise<void> {
    let left = slice
    for (;;) {
      const answers = await Promise.all(left.map((record) => this.host.refresh(record)))
      left = left.filter((_, index) => answers[index] === false)
      if (left.length === 0 || this.isClosed) return
      await new Promise<void>((resolve) => void this.clock.after(RETRY_MS, resolve))
    }
  }
}
