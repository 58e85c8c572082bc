/** Sessions that were logged out before their tokens expired: one row each, so that processes do not overwrite each other's. */
import { statementOf, type EntityDatabase } from './database.ts'

export class EndedSessionRepository {
  private readonly database: EntityDatabase

  constructor(database: EntityDatabase) {
    this.database = database
  }

  async has(sessionId: string): Promise<boolean> {
    const row = await this.database.builder
      .selectFrom('ended_session')
      .select('session_id')
      .where('session_id', '=', sessionId)
      .executeTakeFirst()
    return row !== undefined
  }

  /** Resolves when the ends are durable. `until` is the Unix ms at which the last token of the session has expired; rows of before `now` go. */
  async add(sessions: readonly (readonly [sessionId: string, until: number])[], now: number): Promise<void> {
    const { builder } = this.database
    const added = sessions.map(([session_id, ended_until]) =>
      statementOf(
        builder
          .insertInto('ended_session')
          .values({ session_id, ended_until })
          .onConflict((conflict) => conflict.column('session_id').doNothing()),
      ),
    )
    const expired = builder.deleteFrom('ended_session').where('ended_until', '<=', now)
    await this.database.write([...added, statementOf(expired)])
  }
}
