/**
 * What the system administrator sets for the whole platform: a JSON object by key, its secrets sealed. Read often and changed seldom: what
 * was read is kept until a change of any process is heard.
 */
import { createHash } from 'node:crypto'
import type { Clock } from '../../model/clock.ts'
import { entityId } from '../../model/entity-id.ts'
import { stringifyJson, type JsonObject } from '../../model/json.ts'
import type { Principal } from '../../model/principal.ts'
import type { ChangeFeed } from '../../engine/subscriptions/change.ts'
import type { EntityStore } from '../../storage/entities/entity-store.ts'
import { EntityStoreErrors } from '../../storage/entities/errors.ts'
import type { Row } from '../../storage/entities/tables/entity-table.ts'
import type { RowStore } from '../../storage/entities/tables/row-store.ts'
import { SYSTEM_TENANT, type Changes } from '../changes/changes.ts'
import type { CommitDoubts } from '../changes/commit-doubts.ts'
import { retried } from '../entities/retried.ts'
import { hasStaleSecrets, openMembers, sealMembers, withKeptSecrets, withoutSecrets } from '../vault/sealed-members.ts'
import type { Vault } from '../vault/vault.ts'
import { ADMIN_SETTINGS, findAdminSettingsRow, storedValue } from './table.ts'

const LABEL = 'Administration settings'

export interface AdminSetting {
  readonly id: string
  /** Unix ms. */
  readonly createdTime: number
  readonly key: string
  /** Its secrets are open: never answered as it is, see {@link shownValue}. */
  readonly value: JsonObject
}

export interface AdminSettingsParts {
  readonly entities: EntityStore
  readonly vault: Vault
  readonly feed: ChangeFeed
  readonly doubts: CommitDoubts
  readonly changes: Pick<Changes, 'auditedAction'>
  readonly clock: Clock
}

export class AdminSettings {
  private readonly parts: AdminSettingsParts
  private readonly rows: RowStore
  /** Few: those that somebody saved, and those that were asked for by name. */
  private known = new Map<string, Promise<AdminSetting | undefined>>()
  private readonly stops: readonly (() => void)[]

  constructor(parts: AdminSettingsParts) {
    this.parts = parts
    const overtaken = () => EntityStoreErrors.VERSION_CONFLICT({ entity: LABEL })
    // Two who save a key first say the same id: PostgreSQL finds that one taken first, SQLite the key.
    const taken = { id: overtaken, 'tenant_id, key': overtaken }
    this.rows = parts.entities.rows(ADMIN_SETTINGS, { taken, overtaken })
    this.stops = [
      parts.feed.listenToAll(['settings-changed'], ({ entity }) => {
        if (entity.entityType === 'ADMIN_SETTINGS') this.forget()
      }),
      parts.feed.onGap(() => this.forget()),
    ]
  }

  /** Undefined where nobody saved any. */
  find(key: string): Promise<AdminSetting | undefined> {
    const known = this.known.get(key)
    if (known !== undefined) return known
    if (this.known.size >= MAX_KNOWN) this.forget()
    const read = this.read(key)
    const { known: kept } = this
    kept.set(key, read)
    // What failed is read again by the next who asks.
    read.catch(() => kept.delete(key))
    return read
  }

  /** For who has a sign that another process changed it just now. */
  readAgain(key: string): Promise<AdminSetting | undefined> {
    this.known.delete(key)
    return this.find(key)
  }

  /** Secrets that `value` leaves out stay as they are. */
  async save(principal: Principal, key: string, value: JsonObject): Promise<AdminSetting> {
    return this.change(key, (before) => withKeptSecrets(value, before), principal)
  }

  /** What `changed` makes of the value there is, `{}` where there is none; whatever another does meanwhile. */
  change(key: string, changed: (before: JsonObject) => JsonObject, principal?: Principal): Promise<AdminSetting> {
    return retried(LABEL, async () => {
      const row = await this.row(key)
      const value = changed(row === undefined ? {} : this.settingOf(row).value)
      const written = this.rowOf(row, key, value)
      const statement = row === undefined ? this.rows.insert(written) : this.rows.update(written)
      const audit = principal === undefined ? [] : [await this.audited(principal, written, value)]
      const tell = (): void => this.publishChanged(written)
      await this.parts.doubts.watch(this.parts.entities.write([statement, ...audit]), tell)
      tell()
      return this.settingOf(written)
    })
  }

  /** Seals what is not sealed under the key in force. Throws `vault.KEY_UNKNOWN` where a secret can not be opened. */
  async sealAnew(): Promise<void> {
    for (const row of await this.rows.findAll([{ column: 'tenant_id', is: SYSTEM_TENANT }])) {
      if (hasStaleSecrets(storedValue(row), this.parts.vault)) await this.change(String(row['key']), (value) => value)
    }
  }

  close(): void {
    for (const stop of this.stops) stop()
  }

  private async read(key: string): Promise<AdminSetting | undefined> {
    const row = await this.row(key)
    return row && this.settingOf(row)
  }

  private row(key: string): Promise<Row | undefined> {
    return findAdminSettingsRow(this.rows, key)
  }

  private rowOf(before: Row | undefined, key: string, value: JsonObject): Row {
    const { clock, vault } = this.parts
    return {
      id: before?.['id'] ?? idOfSettings(key),
      created_time: before?.['created_time'] ?? clock.now(),
      version: Number(before?.['version'] ?? 0) + 1,
      tenant_id: SYSTEM_TENANT,
      key,
      value: stringifyJson(sealMembers(value, vault, placeOf(key))),
    }
  }

  private settingOf(row: Row): AdminSetting {
    const key = String(row['key'])
    return {
      id: String(row['id']),
      createdTime: Number(row['created_time']),
      key,
      value: openMembers(storedValue(row), this.parts.vault, placeOf(key)),
    }
  }

  private audited(principal: Principal, row: Row, value: JsonObject) {
    return this.parts.changes.auditedAction(principal, {
      actionType: 'UPDATED',
      entity: entityId('ADMIN_SETTINGS', String(row['id'])),
      entityName: String(row['key']),
      actionData: stringifyJson({ key: String(row['key']), jsonValue: withoutSecrets(value) }),
    })
  }

  private publishChanged(row: Row): void {
    this.forget()
    this.parts.feed.publish({ kind: 'settings-changed', entity: entityId('ADMIN_SETTINGS', String(row['id'])) })
  }

  /** A read under way answers those who asked before, and nobody after. */
  private forget(): void {
    this.known = new Map()
  }
}

/** Keys that nobody saved are kept in mind too: who asks for others fills no memory. */
const MAX_KNOWN = 100

/** As it is answered: without secrets. */
export function shownValue({ value }: Pick<AdminSetting, 'value'>): JsonObject {
  return withoutSecrets(value)
}

function placeOf(key: string): string {
  return `admin_settings/${key}`
}

/** Of a key, saved or not: clients that read settings nobody saved find the same ones once they saved them. */
export function idOfSettings(key: string): string {
  const hex = createHash('sha256').update(`admin settings ${key}`).digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}
