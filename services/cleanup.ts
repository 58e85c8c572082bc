/**
 * Deletes the time series of entities that are gone. The need for it is noted in the transaction of the deletion, so what
 * a crash or a failing store leaves is done at the next start.
 */
import { errorText } from '../model/errors.ts'
import type { EntityStore } from '../storage/entities/entity-store.ts'
import type { TimeSeriesStore } from '../storage/timeseries/store.ts'
import type { Report } from './outbox.ts'

export class Cleanup {
  private readonly entities: EntityStore
  private readonly timeSeries: TimeSeriesStore
  private readonly report: Report
  private isClosed = false
  private underWay: Promise<void> = Promise.resolve()

  constructor(entities: EntityStore, timeSeries: TimeSeriesStore, report: Report) {
    this.entities = entities
    this.timeSeries = timeSeries
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

  /** Ends what is under way; the next start does the rest. */
  async close(): Promise<void> {
    this.isClosed = true
    await this.underWay
  }

  /** Resolves when what was to be done later is done. */
  settled(): Promise<void> {
    return this.underWay
  }

  async run(entityId: string): Promise<void> {
    try {
      await this.timeSeries.deleteEntity(entityId)
      await this.entities.write([this.entities.cleanups.done(entityId)])
    } catch (error) {
      this.report('The time series of a deleted entity are not deleted yet; the next start tries again', {
        entityId,
        error: errorText(error),
      })
    }
  }
}
