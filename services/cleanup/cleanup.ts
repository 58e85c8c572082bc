/**
 * Deletes the time series of entities that are gone, and what is left of them elsewhere. The need for it is noted in the transaction of the
 * deletion, so what a crash or a failing store leaves is done at the next start.
 */
import type { Clock, TimerHandle } from '../../model/clock.ts'
import { errorText } from '../../model/errors.ts'
import type { EntityStore } from '../../storage/entities/entity-store.ts'
import type { TimeSeriesStore } from '../../storage/timeseries/store.ts'
import type { Report } from '../changes/outbox.ts'
import type { Remains } from './remains.ts'

/** While something is on its way out. */
const AGAIN_MS = 5_000
/** Of a tenant there may be millions: nobody's write waits behind one for all of them. */
const GROUP = 1_000

export class Cleanup {
  private readonly entities: EntityStore
  private readonly timeSeries: TimeSeriesStore
  private readonly remains: Remains
  private readonly clock: Clock
  private readonly report: Report
  /** Without series any more. */
  private readonly remaining = new Set<string>()
  private again: TimerHandle | undefined
  private isClosed = false
  private underWay: Promise<void> = Promise.resolve()

  constructor(entities: EntityStore, timeSeries: TimeSeriesStore, remains: Remains, clock: Clock, report: Report) {
    this.entities = entities
    this.timeSeries = timeSeries
    this.remains = remains
    this.clock = clock
    this.report = report
  }

  async resume(): Promise<void> {
    for (const entityId of await this.entities.cleanups.pending()) {
      if (this.isClosed) return
      await this.run(entityId)
    }
  }

  /** For many: nobody waits for them but `settled`. */
  resumeLater(): void {
    this.underWay = this.underWay
      .then(() => this.resume())
      .catch((error: unknown) => {
        this.report('What deleted entities left is not looked at; the next start tries again', {
          error: errorText(error),
        })
      })
  }

  /** Tries once more what is left, and answers of how many entities something is left then. */
  async finish(): Promise<number> {
    await this.settled()
    if ((await this.entities.cleanups.pending()).length > 0) {
      await this.resume()
      await this.settled()
    }
    return (await this.entities.cleanups.pending()).length
  }

  /** Ends what is under way; the next start does the rest. */
  async close(): Promise<void> {
    this.isClosed = true
    this.again?.cancel()
    await this.settled()
  }

  /** Resolves when what was to be done later is done. */
  async settled(): Promise<void> {
    for (let last: Promise<void> | undefined; last !== this.underWay;) {
      last = this.underWay
      await last
    }
  }

  /** Resolves when the series are gone; the rest goes after that, for all who wait together. */
  async run(entityId: string): Promise<void> {
    try {
      await this.timeSeries.deleteEntity(entityId)
      this.remaining.add(entityId)
      this.underWay = this.underWay.then(() => this.eraseRemains())
    } catch (error) {
      this.report('The time series of a deleted entity are not deleted yet; the next start tries again', {
        entityId,
        error: errorText(error),
      })
    }
  }

  private async eraseRemains(): Promise<void> {
    if (this.remaining.size === 0 || this.isClosed) return
    const ids = new Set(this.remaining)
    this.remaining.clear()
    try {
      const isAll = await this.remains.erase(ids)
      if (isAll) await this.done([...ids])
      else this.lookAgain(ids)
    } catch (error) {
      this.report('What is left of deleted entities is not erased yet; the next start tries again', {
        entities: ids.size,
        error: errorText(error),
      })
    }
  }

  private async done(ids: readonly string[]): Promise<void> {
    for (let start = 0; start < ids.length; start += GROUP)
      await this.entities.write(ids.slice(start, start + GROUP).map((id) => this.entities.cleanups.done(id)))
  }

  private lookAgain(ids: ReadonlySet<string>): void {
    if (this.isClosed) return
    for (const id of ids) this.remaining.add(id)
    this.again?.cancel()
    this.again = this.clock.after(AGAIN_MS, () => {
      this.underWay = this.underWay.then(() => this.eraseRemains())
    })
  }
}
