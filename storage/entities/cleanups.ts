/**
 * Entities that are deleted here while their time series are still to be deleted in the other store: noted in the
 * transaction of the deletion, so that a crash between the two leaves nothing behind.
 */
import { statementOf, type EntityDatabase, type Statement } from './database.ts'

export class CleanupRepository {
  private readonly database: EntityDatabase

  constructor(database: EntityDatabase) {
    this.database = database
  }

  note(entityId: string): Statement {
    const query = this.database.builder
      .insertInto('cleanup')
      .values({ entity_id: entityId })
      .onConflict((conflict) => conflict.column('entity_id').doNothing())
    return statementOf(query)
  }

  async pending(): Promise<readonly string[]> {
    const rows = await this.database.builder.selectFrom('cleanup').select('entity_id').execute()
    return rows.map((row) => row.entity_id)
  }

  done(entityId: string): Statement {
    return statementOf(this.database.builder.deleteFrom('cleanup').where('entity_id', '=', entityId))
  }
}
