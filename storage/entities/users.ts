/** Users and their credentials; a password is here only as its hash. */
import type { Selectable } from 'kysely'
import type { Authority, User } from '../../model/entities.ts'
import { jsonColumn, jsonOf } from './columns.ts'
import { statementOf, type EntityDatabase, type Statement } from './database.ts'
import { EntityStoreErrors } from './errors.ts'
import type { UserTable } from './schema.ts'

export interface UserCredentials {
  readonly userId: string
  readonly passwordHash: string
  /** Unix ms: tokens issued before are refused. */
  readonly tokensValidFrom: number
}

export class UserRepository {
  private readonly database: EntityDatabase

  constructor(database: EntityDatabase) {
    this.database = database
  }

  async find(id: string): Promise<User | undefined> {
    const row = await this.database.builder.selectFrom('app_user').selectAll().where('id', '=', id).executeTakeFirst()
    return row && userOf(row)
  }

  /** The address is compared as it is written. */
  async findByEmail(email: string): Promise<User | undefined> {
    const row = await this.database.builder
      .selectFrom('app_user')
      .selectAll()
      .where('email', '=', email)
      .executeTakeFirst()
    return row && userOf(row)
  }

  async hasAny(): Promise<boolean> {
    const row = await this.database.builder.selectFrom('app_user').select('id').limit(1).executeTakeFirst()
    return row !== undefined
  }

  async credentials(userId: string): Promise<UserCredentials | undefined> {
    const row = await this.database.builder
      .selectFrom('user_credentials')
      .selectAll()
      .where('user_id', '=', userId)
      .executeTakeFirst()
    return row && { userId: row.user_id, passwordHash: row.password_hash, tokensValidFrom: row.tokens_valid_from }
  }

  insert(user: User, credentials: Omit<UserCredentials, 'userId'>): readonly Statement[] {
    const { builder } = this.database
    const taken = () => EntityStoreErrors.EMAIL_TAKEN({ email: user.email })
    return [
      statementOf(builder.insertInto('app_user').values(rowOf(user)), { constraints: { 'app_user.email': taken } }),
      statementOf(
        builder.insertInto('user_credentials').values({
          user_id: user.id,
          password_hash: credentials.passwordHash,
          tokens_valid_from: credentials.tokensValidFrom,
        }),
      ),
    ]
  }

  /** With their credentials. */
  deleteOfCustomer(customerId: string): Statement {
    return statementOf(this.database.builder.deleteFrom('app_user').where('customer_id', '=', customerId))
  }

  /** Replaces the password where it still is `before`. Throws `VERSION_CONFLICT` otherwise. */
  changePassword(before: UserCredentials, passwordHash: string, tokensValidFrom: number): readonly Statement[] {
    const query = this.database.builder
      .updateTable('user_credentials')
      .set({ password_hash: passwordHash, tokens_valid_from: tokensValidFrom })
      .where('user_id', '=', before.userId)
      .where('password_hash', '=', before.passwordHash)
    const otherwise = () => EntityStoreErrors.VERSION_CONFLICT({ entity: 'User' })
    return [statementOf(query, { expect: { changes: 1, otherwise } })]
  }
}

function rowOf(user: User): UserTable {
  return {
    id: user.id,
    created_time: user.createdTime,
    version: user.version,
    tenant_id: user.tenantId,
    customer_id: user.customerId,
    email: user.email,
    authority: user.authority,
    first_name: user.firstName,
    last_name: user.lastName,
    phone: user.phone,
    additional_info: jsonColumn(user.additionalInfo),
  }
}

function userOf(row: Selectable<UserTable>): User {
  return {
    id: row.id,
    createdTime: row.created_time,
    version: row.version,
    tenantId: row.tenant_id,
    customerId: row.customer_id,
    email: row.email,
    authority: row.authority as Authority,
    firstName: row.first_name,
    lastName: row.last_name,
    phone: row.phone,
    additionalInfo: jsonOf(row.additional_info),
  }
}
