/**
 * Keeps the deletions of a series few, as every read of it names them all. Where there are too many, the rows they hide are marked in
 * QuestDB and the deletions forgotten. That rewrites one small column of the partitions it meets, so it is not done for each.
 *
 * The mark is set in the order of QuestDB's log, by the same condition that hides the rows: nothing that was visible is marked.
 */
import { isMillraceError } from '../../../model/errors.ts'
import type { AppliedWrites } from './applied.ts'
import { ALL_KEYS, type CrowdedSeries, type Deletion, type PostgresCompanion } from './postgres-companion.ts'
import { conditionOf, entityCondition, isoOf, KIND, MAX_TS, MIN_TS } from './rows.ts'
import { quoted } from './schema.ts'
import type { QuestDbServer } from './server.ts'

export interface DeletionFolderOptions {
  readonly server: QuestDbServer
  readonly companion: PostgresCompanion
  readonly applied: AppliedWrites
  readonly table: string
}

/** Each costs some 100 characters of the 64 KiB that a query may have, and a comparison a row. */
const MAX_DELETIONS = 32
/** Folded at once; there are more only where QuestDB was away for long. */
const MAX_FOLDED = 200

export class DeletionFolder {
  private readonly options: DeletionFolderOptions

  constructor(options: DeletionFolderOptions) {
    this.options = options
  }

  /** Folds the deletions of those keys that have too many. */
  async fold(entityId: string, keys: readonly string[]): Promise<void> {
    const { companion } = this.options
    try {
      const crowded = await companion.crowded(entityId, keys, MAX_DELETIONS)
      for (const { key, deletions } of crowded) {
        await this.foldKey(entityId, { key, deletions: deletions.slice(0, MAX_FOLDED) })
      }
    } catch (error) {
      // The deletions are made, and hide what they are to hide: a later one folds them with itself.
      if (!isMillraceError(error) || !error.isOutage) throw error
    }
  }

  /** Of entities that are gone: their values are taken out of the rows, and the deletions forgotten. Whether there are more. */
  async eraseEntities(): Promise<boolean> {
    const { server, applied, companion, table } = this.options
    const erased = await companion.deletedEntities(MAX_FOLDED)
    for (const { entityId, version } of erased) {
      await server.execute(
        `update ${quoted(table)} set kind = cast(${KIND.DELETED} as byte), long_v = null, dbl_v = null, text_v = null
          where ${entityCondition(entityId)} and coalesce(version, 0) < ${version}`,
      )
    }
    if (erased.length > 0) await applied.wait()
    for (const { entityId, ...deletion } of erased)
      await companion.forget(entityId, { key: ALL_KEYS, deletions: [deletion] })
    return erased.length === MAX_FOLDED
  }

  private async foldKey(entityId: string, series: CrowdedSeries): Promise<void> {
    const { server, applied, companion, table } = this.options
    const hidden = series.deletions.flatMap((deletion) => hiddenBy(deletion))
    if (hidden.length > 0) {
      await server.execute(
        `update ${quoted(table)} set kind = cast(${KIND.DELETED} as byte)
          where ${conditionOf(entityId, series.key)} and (${hidden.join(' or ')})`,
      )
      // Until the marks are there, the deletions must hide.
      await applied.wait()
    }
    await companion.forget(entityId, series)
  }
}

function hiddenBy({ startTs, endTs, version }: Deletion): string[] {
  const from = Math.max(MIN_TS, startTs)
  const to = Math.min(MAX_TS, endTs - 1)
  return from > to ? [] : [`(ts between ${isoOf(from)} and ${isoOf(to)} and coalesce(version, 0) < ${version})`]
}
