/** Sessions that outlive their connection and their process: one row each, as the transport that has it wrote it last. */
import { sql, type RawBuilder } from 'kysely'
import type { KeptSessionRow, KeptSessionVersion } from '../../model/kept-session.ts'
import { statementOf, type EntityDatabase, type Statement } from './database.ts'
import { EntityStoreErrors } from './errors.ts'
import type { EntityTable, Row } from './tables/entity-table.ts'
import { RowStore } from './tables/row-store.ts'

const text = { type: 'text', isNullable: false } as const
const integer = { type: 'integer', isNullable: false } as const

export const DEVICE_SESSION_TABLE: EntityTable = {
  name: 'device_session',
  version: 1,
  columns: [
    { name: 'device_id', ...text, references: { table: 'device', whenDeleted: 'delete' } },
    { name: 'client_id', ...text },
    { name: 'subscriptions', ...text },
    { name: 'expiry_seconds', ...integer },
    { name: 'told_time', ...integer },
    { name: 'expires_time', ...integer },
  ],
  unique: [{ columns: ['device_id', 'client_id'] }],
  indexes: [{ columns: ['expires_time'] }],
}

const MAX_PER_STATEMENT = 500

export class DeviceSessionRepository {
  private readonly database: EntityDatabase
  private readonly rows: RowStore

  constructor(database: EntityDatabase) {
    this.database = database
    const overtaken = () => EntityStoreErrors.VERSION_CONFLICT({ entity: 'Device session' })
    this.rows = new RowStore(database, DEVICE_SESSION_TABLE, {
      // Another process began one for the same client meanwhile.
      taken: { 'device_id, client_id': overtaken },
      overtaken,
    })
  }

  async ofDevices(deviceIds: readonly string[]): Promise<readonly KeptSessionRow[]> {
    return (await this.rows.findAll([{ column: 'device_id', in: filled(deviceIds) }])).map(sessionOf)
  }

  /** By id, of those that are there. */
  async versionsOf(ids: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const versions = new Map<string, number>()
    // One after the other: nobody waits for it, and others read too.
    for (const page of pagesOf(ids)) {
      const among = sql.join(filled(page))
      const query = sql<{ id: string; version: number }>`select id, version from device_session where id in (${among})`
      const { rows } = await this.database.read(query.compile(this.database.builder))
      for (const { id, version } of rows) versions.set(id, version)
    }
    return versions
  }

  /** In the place of what the same client had, and of the device's oldest beyond so many. */
  insert(session: KeptSessionRow, now: number, maxPerDevice: number): readonly Statement[] {
    const { deviceId, clientId } = session
    return [
      this.rows.deleteAll([
        { column: 'device_id', is: deviceId },
        { column: 'client_id', is: clientId },
      ]),
      this.rows.insert({ ...rowOf(session), created_time: now }),
      this.rows.keepNewest({ device_id: deviceId }, maxPerDevice),
    ]
  }

  /** Replaces the version before this one; throws `VERSION_CONFLICT`. */
  update(session: KeptSessionRow): Statement {
    const { id, version, subscriptions, expirySeconds, toldTime, expiresTime } = session
    const query = sql`update device_session set version = ${version}, subscriptions = ${subscriptions},
      expiry_seconds = ${expirySeconds}, told_time = ${toldTime}, expires_time = ${expiresTime}
      where id = ${id} and version = ${version - 1}`
    const otherwise = () => EntityStoreErrors.VERSION_CONFLICT({ entity: 'Device session' })
    return this.statement(query, { expect: { changes: 1, otherwise } })
  }

  /** Their time of absence counts from then on, Unix ms. One that has another version by now stays as it is. */
  renew(sessions: readonly KeptSessionVersion[], from: number): readonly Statement[] {
    return this.ofEach(sessions, sql`expires_time = ${from} + expiry_seconds * 1000`)
  }

  /** Their clients have heard of what changed before, Unix ms. */
  told(sessions: readonly KeptSessionVersion[], time: number): readonly Statement[] {
    return this.ofEach(sessions, sql`told_time = ${time}`)
  }

  remove({ id, version }: KeptSessionVersion): Statement {
    return this.rows.deleteAll([
      { column: 'id', is: id },
      { column: 'version', is: version },
    ])
  }

  /** Unless it began later, Unix ms. */
  removeBegun(id: string, until: number): Statement {
    return this.rows.deleteAll([
      { column: 'id', is: id },
      { column: 'created_time', from: 0, to: until },
    ])
  }

  removeOf(deviceId: string): Statement {
    return this.rows.deleteAll([{ column: 'device_id', is: deviceId }])
  }

  /** At most `limit` of those whose time was over at `now`, Unix ms. */
  removeExpired(now: number, limit: number): Statement {
    return this.rows.deleteOldest([{ column: 'expires_time', from: 0, to: now }], limit, 'expires_time')
  }

  private ofEach(sessions: readonly KeptSessionVersion[], set: RawBuilder<unknown>): readonly Statement[] {
    return pagesOf(sessions).map((page) => {
      const versions = sql.join(filled(page).map(({ id, version }) => sql`(${id}, cast(${version} as bigint))`))
      return this.statement(sql`update device_session set ${set} where (id, version) in (values ${versions})`)
    })
  }

  private statement(query: RawBuilder<unknown>, options: Parameters<typeof statementOf>[1] = {}): Statement {
    return statementOf({ compile: () => query.compile(this.database.builder) }, options)
  }
}

function pagesOf<T>(list: readonly T[]): readonly (readonly T[])[] {
  return Array.from({ length: Math.ceil(list.length / MAX_PER_STATEMENT) }, (_, page) =>
    list.slice(page * MAX_PER_STATEMENT, (page + 1) * MAX_PER_STATEMENT),
  )
}

/** As long as the next power of two, by its last: each length is a statement, of which databases prepare so many and no more. */
function filled<T>(list: readonly T[]): readonly T[] {
  const length = 2 ** Math.ceil(Math.log2(Math.max(1, list.length)))
  return [...list, ...list.slice(-1).flatMap((last) => Array.from({ length: length - list.length }, () => last))]
}

function rowOf(session: KeptSessionRow): Row {
  return {
    id: session.id,
    version: session.version,
    tenant_id: session.tenantId,
    device_id: session.deviceId,
    client_id: session.clientId,
    subscriptions: session.subscriptions,
    expiry_seconds: session.expirySeconds,
    told_time: session.toldTime,
    expires_time: session.expiresTime,
  }
}

function sessionOf(row: Row): KeptSessionRow {
  const word = (column: string): string => String(row[column] ?? '')
  const number = (column: string): number => Number(row[column])
  return {
    id: word('id'),
    version: number('version'),
    tenantId: word('tenant_id'),
    deviceId: word('device_id'),
    clientId: word('client_id'),
    subscriptions: word('subscriptions'),
    expirySeconds: number('expiry_seconds'),
    toldTime: number('told_time'),
    expiresTime: number('expires_time'),
  }
}
