/** Users as logins need them, and their credentials; a password is here only as its hash. */
import { sql, type CompiledQuery, type Selectable } from 'kysely'
import { z } from 'zod'
import type { Authority, User } from '../../model/entities.ts'
import { parseJson } from '../../model/json.ts'
import { booleanColumn, jsonColumn, jsonOf } from './columns.ts'
import { deleteAttachedOfAll } from './attached.ts'
import {
  firstById,
  sqlValue,
  statementOf,
  withParameters,
  type EntityDatabase,
  type Statement,
  type Written,
} from './database.ts'
import { EntityStoreErrors } from './errors.ts'
import type { UserCredentialsTable, UserTable } from './schema.ts'
import type { EntityTable } from './tables/entity-table.ts'

export interface UserCredentials {
  readonly userId: string
  /** Null until the user is activated. */
  readonly passwordHash: string | null
  /** Unix ms: tokens issued before are refused. */
  readonly tokensValidFrom: number
  readonly isEnabled: boolean
  /** Whoever has it may choose the first password. */
  readonly activation: OneTimeToken | null
  /** Its hash: whoever has the token may choose a new password. */
  readonly reset: OneTimeToken | null
  readonly lastLoginTime: number | null
  /** When the password was chosen; null for those of the first releases. */
  readonly passwordTime: number | null
  /** Wrong passwords since the last right one. */
  readonly failures: number
  /** Newest first, with when each was given up (Unix ms). */
  readonly formerPasswords: readonly FormerPassword[]
}

export interface FormerPassword {
  readonly hash: string
  readonly until: number
}

export interface OneTimeToken {
  readonly token: string
  /** Unix ms. */
  readonly expires: number
}

/** The schema of the first releases made it; what came later is here. */
export const USER_CREDENTIALS: EntityTable = {
  name: 'user_credentials',
  version: 3,
  isInherited: true,
  columns: [
    { name: 'enabled', type: 'integer', isNullable: true, since: 2, filledBy: '1' },
    { name: 'activation_token', type: 'text', isNullable: true, since: 2 },
    { name: 'activation_expires', type: 'integer', isNullable: true, since: 2 },
    { name: 'reset_token', type: 'text', isNullable: true, since: 2 },
    { name: 'reset_expires', type: 'integer', isNullable: true, since: 2 },
    { name: 'last_login_time', type: 'integer', isNullable: true, since: 2 },
    { name: 'password_time', type: 'integer', isNullable: true, since: 2 },
    { name: 'failures', type: 'integer', isNullable: true, since: 3, filledBy: '0' },
    { name: 'former_passwords', type: 'text', isNullable: true, since: 3 },
  ],
  unique: [],
  indexes: [
    { columns: ['activation_token'], since: 2 },
    { columns: ['reset_token'], since: 2 },
  ],
}

const formerSchema = z.array(z.object({ hash: z.string(), until: z.number() }))

/** The column can not be null. */
const NO_PASSWORD = ''

export class UserRepository {
  private readonly database: EntityDatabase
  /** Asked for with each call over REST: to build it costs more than to run it. */
  private readonly byId: CompiledQuery<Selectable<UserTable>>

  constructor(database: EntityDatabase) {
    this.database = database
    this.byId = database.builder.selectFrom('app_user').selectAll().where('id', '=', '').compile()
  }

  async find(id: string): Promise<User | undefined> {
    const row = await firstById(this.database, withParameters(this.byId, [id]))
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

  /** Somebody else, who can log in. */
  async hasOtherSystemAdministrator(userId: string): Promise<boolean> {
    const row = await this.database.builder
      .selectFrom('app_user')
      .innerJoin('user_credentials', 'user_credentials.user_id', 'app_user.id')
      .select('app_user.id')
      .where('app_user.authority', '=', 'SYS_ADMIN')
      .where('app_user.id', '!=', userId)
      .where('user_credentials.password_hash', '!=', NO_PASSWORD)
      .where(sql`coalesce(user_credentials.enabled, 1)`, '!=', 0)
      .limit(1)
      .executeTakeFirst()
    return row !== undefined
  }

  credentials(userId: string): Promise<UserCredentials | undefined> {
    return this.findCredentials('user_id', userId)
  }

  credentialsByActivation(token: string): Promise<UserCredentials | undefined> {
    return this.findCredentials('activation_token', token)
  }

  credentialsByReset(tokenHash: string): Promise<UserCredentials | undefined> {
    return this.findCredentials('reset_token', tokenHash)
  }

  insert(user: User, credentials: Pick<UserCredentials, 'passwordHash' | 'tokensValidFrom'>): readonly Statement[] {
    const { builder } = this.database
    const taken = () => EntityStoreErrors.EMAIL_TAKEN({ email: user.email })
    return [
      statementOf(builder.insertInto('app_user').values(rowOf(user)), { constraints: { 'app_user.email': taken } }),
      this.insertCredentials({ ...NEW_CREDENTIALS, userId: user.id, ...credentials }),
    ]
  }

  insertCredentials(credentials: UserCredentials): Statement {
    return statementOf(this.database.builder.insertInto('user_credentials').values(credentialsRow(credentials)))
  }

  /** Steps that delete those of a customer with all that hangs on them, and who went, from what their commit handed back. */
  deleteOfCustomer(customerId: string): {
    readonly statements: readonly Statement[]
    gone(written: Pick<Written, 'results'>): readonly string[]
  } {
    const { builder } = this.database
    const rows = sql`select id from app_user where customer_id = ${customerId}`
    const noted = sql`insert into cleanup (entity_id) ${rows} on conflict (entity_id) do nothing`.compile(builder)
    const assigned = sql`update alarm set assignee_id = null, version = version + 1 where assignee_id in (${rows})`
    const unassigned = assigned.compile(builder)
    const before: readonly Statement[] = [
      { sql: noted.sql, parameters: noted.parameters.map(sqlValue) },
      { sql: unassigned.sql, parameters: unassigned.parameters.map(sqlValue) },
      ...deleteAttachedOfAll(this.database, rows),
    ]
    const deletion = builder.deleteFrom('app_user').where('customer_id', '=', customerId).returning('id')
    return {
      statements: [...before, statementOf(deletion, { returnsRows: true })],
      gone: ({ results }) => ((results[before.length]?.rows ?? []) as readonly { id: string }[]).map(({ id }) => id),
    }
  }

  /** Replaces the password where it still is `before`. Throws `VERSION_CONFLICT` otherwise. */
  changePassword(before: UserCredentials, passwordHash: string, tokensValidFrom: number): readonly Statement[] {
    return this.replaceCredentials(before, { ...before, passwordHash, tokensValidFrom })
  }

  /** Where password and tokens still are those of `before`, and so is whether it may log in. Throws `VERSION_CONFLICT` otherwise. */
  replaceCredentials(before: UserCredentials, after: UserCredentials): readonly Statement[] {
    const { user_id, failures, ...columns } = credentialsRow(after)
    const query = this.database.builder
      .updateTable('user_credentials')
      // Wrong passwords that were counted meanwhile stay counted.
      .set(after.failures === before.failures ? columns : { ...columns, failures })
      .where('user_id', '=', user_id)
      .where('password_hash', '=', before.passwordHash ?? NO_PASSWORD)
      .where('tokens_valid_from', '=', before.tokensValidFrom)
      .where(sql`coalesce(enabled, 1)`, '=', booleanColumn(before.isEnabled))
      .where('activation_token', before.activation === null ? 'is' : '=', before.activation?.token ?? null)
      .where('reset_token', before.reset === null ? 'is' : '=', before.reset?.token ?? null)
    const otherwise = () => EntityStoreErrors.VERSION_CONFLICT({ entity: 'User' })
    return [statementOf(query, { expect: { changes: 1, otherwise } })]
  }

  noteLogin(userId: string, now: number): Statement {
    return statementOf(
      this.database.builder
        .updateTable('user_credentials')
        .set({ last_login_time: now, failures: 0 })
        .where('user_id', '=', userId),
    )
  }

  /** One more wrong password; how many they are from what the commit handed back. */
  noteFailure(userId: string): {
    readonly statement: Statement
    readonly count: (written: Pick<Written, 'results'>) => number
  } {
    const counted = this.database.builder
      .updateTable('user_credentials')
      .set({ failures: sql<number>`coalesce(failures, 0) + 1` })
      .where('user_id', '=', userId)
      .returning('failures')
    return {
      statement: statementOf(counted, { returnsRows: true }),
      count: ({ results }) => Number(((results[0]?.rows ?? []) as readonly { failures: unknown }[])[0]?.failures ?? 0),
    }
  }

  private async findCredentials(
    column: 'user_id' | 'activation_token' | 'reset_token',
    value: string,
  ): Promise<UserCredentials | undefined> {
    const row = await this.database.builder
      .selectFrom('user_credentials')
      .selectAll()
      .where(column, '=', value)
      .executeTakeFirst()
    return row && credentialsOf(row)
  }
}

const NEW_CREDENTIALS: Omit<UserCredentials, 'userId' | 'passwordHash' | 'tokensValidFrom'> = {
  isEnabled: true,
  activation: null,
  reset: null,
  lastLoginTime: null,
  passwordTime: null,
  failures: 0,
  formerPasswords: [],
}

function credentialsRow(credentials: UserCredentials): UserCredentialsTable {
  const { userId, passwordHash, tokensValidFrom, isEnabled, activation, reset } = credentials
  return {
    user_id: userId,
    password_hash: passwordHash ?? NO_PASSWORD,
    tokens_valid_from: tokensValidFrom,
    enabled: booleanColumn(isEnabled),
    activation_token: activation?.token ?? null,
    activation_expires: activation?.expires ?? null,
    reset_token: reset?.token ?? null,
    reset_expires: reset?.expires ?? null,
    last_login_time: credentials.lastLoginTime,
    password_time: credentials.passwordTime,
    failures: credentials.failures,
    former_passwords: JSON.stringify(credentials.formerPasswords),
  }
}

function credentialsOf(row: Selectable<UserCredentialsTable>): UserCredentials {
  return {
    userId: row.user_id,
    passwordHash: row.password_hash === NO_PASSWORD ? null : row.password_hash,
    tokensValidFrom: row.tokens_valid_from,
    isEnabled: row.enabled !== 0,
    activation: tokenOf(row.activation_token, row.activation_expires),
    reset: tokenOf(row.reset_token, row.reset_expires),
    lastLoginTime: row.last_login_time,
    passwordTime: row.password_time,
    failures: row.failures ?? 0,
    formerPasswords: formerSchema.parse(row.former_passwords === null ? [] : parseJson(row.former_passwords)),
  }
}

function tokenOf(token: string | null, expires: number | null): OneTimeToken | null {
  return token === null ? null : { token, expires: expires ?? 0 }
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
