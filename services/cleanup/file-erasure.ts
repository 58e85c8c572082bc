/**
 * What is deleted is in no answer any more at once; files may hold it for longer. Asked for, this takes it out of them, and says of each store whether
 * it is gone, when it will be, or what is left to do.
 */
import type { DeadLetters } from '../../engine/link/dead-letters.ts'
import type { ParkingControl } from '../../engine/parking/control.ts'
import type { Clock } from '../../model/clock.ts'
import { erasedOfAll, type Erased } from '../../model/erased.ts'
import type { EntityStore } from '../../storage/entities/entity-store.ts'
import type { TimeSeriesStore } from '../../storage/timeseries/store.ts'
import type { Cleanup } from './cleanup.ts'

export interface FileErasureParts {
  readonly cleanup: Pick<Cleanup, 'finish'>
  readonly entities: Pick<EntityStore, 'eraseDeleted'>
  readonly timeSeries: Pick<TimeSeriesStore, 'eraseDeleted'>
  readonly deadLetters: Pick<DeadLetters, 'eraseRemoved'>
  readonly parked: Pick<ParkingControl, 'eraseRemoved'>
  readonly clock: Clock
  /** How long messages stay in the log after they were processed. */
  readonly logKeptMs: number
  /** What stays of the log for longer. */
  readonly logBeside: () => Promise<Erased>
}

export interface ErasedStore extends Erased {
  readonly store: 'entities' | 'series' | 'parked lanes' | 'dead letters' | 'log'
}

export interface ErasureReport {
  /** Deleted entities that still have series, parked messages or dead letters. */
  readonly pending: number
  readonly stores: readonly ErasedStore[]
}

const LOG_REST = 'of an embedded log the file that is written to stays until it is full or the process starts again'

export class FileErasure {
  private readonly parts: FileErasureParts
  private underWay: Promise<unknown> = Promise.resolve()
  private next: Promise<ErasureReport> | undefined

  constructor(parts: FileErasureParts) {
    this.parts = parts
  }

  /** Who asks while one is under way may mean what was deleted since it began: the next one is for all of them. */
  run(): Promise<ErasureReport> {
    this.next ??= this.underWay.then(() => {
      this.next = undefined
      const run = this.erase()
      this.underWay = run.catch(() => undefined)
      return run
    })
    return this.next
  }

  private async erase(): Promise<ErasureReport> {
    const { cleanup, entities, timeSeries, deadLetters, parked, clock, logKeptMs, logBeside } = this.parts
    const pending = await cleanup.finish()
    const series = await timeSeries.eraseDeleted()
    const rows = await entities.eraseDeleted()
    // Of a lane that is given up letters come: these are looked at last.
    const lanes = await parked.eraseRemoved()
    const letters = await deadLetters.eraseRemoved()
    const beside = await logBeside()
    const kept: Erased = { isGone: false, rest: LOG_REST }
    const log = beside.isGone ? { ...kept, byMs: clock.now() + logKeptMs } : erasedOfAll([kept, beside])
    return {
      pending,
      stores: [
        { store: 'entities', ...rows },
        { store: 'series', ...series },
        { store: 'parked lanes', ...lanes },
        { store: 'dead letters', ...letters },
        { store: 'log', ...log },
      ],
    }
  }
}
