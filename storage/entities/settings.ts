/** What the platform itself must remember between starts, such as the key that signs tokens. */
import type { JsonValue } from '../../model/json.ts'
import { jsonColumn, jsonOf } from './columns.ts'
import { statementOf, type EntityDatabase } from './database.ts'
import { EntityStoreErrors } from './errors.ts'

export class SettingRepository {
  private readonly database: EntityDatabase

  constructor(database: EntityDatabase) {
    this.database = database
  }

  async find(name: string): Promise<JsonValue | undefined> {
    const row = await this.database.builder
      .selectFrom('setting')
      .select('value')
      .where('name', '=', name)
      .executeTakeFirst()
    return row && jsonOf(row.value)
  }

  async put(name: string, value: JsonValue): Promise<void> {
    const column = jsonColumn(value)
    const query = this.database.builder
      .insertInto('setting')
      .values({ name, value: column })
      .onConflict((conflict) => conflict.column('name').doUpdateSet({ value: column }))
    await this.database.write([statementOf(query)])
  }

  async remove(name: string): Promise<void> {
    await this.database.write([statementOf(this.database.builder.deleteFrom('setting').where('name', '=', name))])
  }

  /** Stores the value unless there is one, and says which is in force: safe when two start at once. */
  async putIfAbsent(name: string, value: JsonValue): Promise<JsonValue> {
    const query = this.database.builder
      .insertInto('setting')
      .values({ name, value: jsonColumn(value) })
      .onConflict((conflict) => conflict.column('name').doNothing())
    await this.database.write([statementOf(query)])
    const stored = await this.find(name)
    if (stored === undefined) throw EntityStoreErrors.FAILED({ reason: `setting ${name} was not stored` })
    return stored
  }
}
