/** What a front end keeps for a user: free JSON by type, changed member by member. Source: `rest-api.md` 12.3. */
import type { Clock, Random } from '../../model/clock.ts'
import { NULL_UUID } from '../../model/entity-id.ts'
import { isJsonObject, parseJson, stringifyJson, type JsonObject, type JsonValue } from '../../model/json.ts'
import type { Principal } from '../../model/principal.ts'
import type { EntityStore } from '../../storage/entities/entity-store.ts'
import { EntityStoreErrors } from '../../storage/entities/errors.ts'
import type { EntityTable, Row } from '../../storage/entities/tables/entity-table.ts'
import type { RowStore } from '../../storage/entities/tables/row-store.ts'
import { SYSTEM_TENANT } from '../changes/changes.ts'
import { retried } from '../entities/retried.ts'
import { ServiceErrors } from '../errors.ts'
import { UserErrors } from './errors.ts'

const OPEN_TYPES = ['GENERAL', 'QUICK_LINKS', 'DOC_LINKS', 'DASHBOARDS', 'GETTING_STARTED', 'NOTIFICATIONS'] as const
const OWN_TYPES = ['VISITED_DASHBOARDS', 'MOBILE', 'TWO_FACTOR'] as const
export type UserSettingsType = (typeof OPEN_TYPES)[number] | (typeof OWN_TYPES)[number]

/** Characters of one type of one user. */
export const MAX_SETTINGS_LENGTH = 65_536
const LABEL = 'User settings'

export const USER_SETTINGS: EntityTable = {
  name: 'user_settings',
  version: 1,
  columns: [
    { name: 'user_id', type: 'text', isNullable: false, references: { table: 'app_user', whenDeleted: 'delete' } },
    { name: 'type', type: 'text', isNullable: false },
    { name: 'value', type: 'text', isNullable: false },
  ],
  unique: [{ columns: ['user_id', 'type'] }],
  indexes: [],
}

export class UserSettings {
  private readonly entities: EntityStore
  private readonly rows: RowStore
  private readonly clock: Clock
  private readonly random: Random

  constructor(entities: EntityStore, clock: Clock, random: Random) {
    this.entities = entities
    this.clock = clock
    this.random = random
    const overtaken = () => EntityStoreErrors.VERSION_CONFLICT({ entity: LABEL })
    this.rows = entities.rows(USER_SETTINGS, { taken: { 'user_id, type': overtaken }, overtaken })
  }

  /** `{}` where there are none. */
  async find(principal: Pick<Principal, 'userId'>, type: UserSettingsType): Promise<JsonObject> {
    const row = await this.row(principal, type)
    return row === undefined ? {} : valueOf(row)
  }

  /** Who has settings of the type. */
  async usersOf(type: UserSettingsType): Promise<readonly Pick<Principal, 'userId' | 'tenantId'>[]> {
    const rows = await this.rows.findAll([{ column: 'type', is: type }])
    return rows.map((row) => {
      const tenantId = String(row['tenant_id'])
      return { userId: String(row['user_id']), tenantId: tenantId === SYSTEM_TENANT ? null : tenantId }
    })
  }

  /** Of those users who have some. */
  async findOfMany(userIds: readonly string[], type: UserSettingsType): Promise<ReadonlyMap<string, JsonObject>> {
    const rows = await this.rows.findAll([
      { column: 'user_id', in: userIds },
      { column: 'type', is: type },
    ])
    return new Map(rows.map((row) => [String(row['user_id']), valueOf(row)]))
  }

  async replace(principal: Principal, type: UserSettingsType, settings: JsonObject): Promise<JsonObject> {
    return this.change(principal, type, () => settings)
  }

  /** Members in the place of those that are there; a name with dots reaches inside. */
  async merge(principal: Principal, type: UserSettingsType, members: JsonObject): Promise<JsonObject> {
    return this.change(principal, type, (settings) =>
      Object.entries(members).reduce((changed, [name, value]) => withMember(changed, name.split('.'), value), settings),
    )
  }

  async remove(principal: Principal, type: UserSettingsType, paths: readonly string[]): Promise<JsonObject> {
    return this.change(principal, type, (settings) =>
      paths.reduce((changed, path) => withoutMember(changed, path.split('.')), settings),
    )
  }

  /** Whatever another change of the same settings does meanwhile. Throws `SETTINGS_TOO_LONG`. */
  change(
    principal: Pick<Principal, 'userId' | 'tenantId'>,
    type: UserSettingsType,
    changed: (settings: JsonObject) => JsonObject,
  ): Promise<JsonObject> {
    // Who came in by a public customer is nobody in particular.
    if (principal.userId === NULL_UUID) return Promise.reject(ServiceErrors.PERMISSION_DENIED())
    return retried(LABEL, async () => {
      const row = await this.row(principal, type)
      const settings = changed(row === undefined ? {} : valueOf(row))
      const value = stringifyJson(settings)
      if (value.length > MAX_SETTINGS_LENGTH) throw UserErrors.SETTINGS_TOO_LONG({ limit: MAX_SETTINGS_LENGTH })
      const statement =
        row === undefined
          ? this.rows.insert(this.newRow(principal, type, value))
          : this.rows.update({ ...row, version: Number(row['version']) + 1, value })
      await this.entities.write([statement])
      return settings
    })
  }

  private row({ userId }: Pick<Principal, 'userId'>, type: UserSettingsType): Promise<Row | undefined> {
    return this.rows.find([
      { column: 'user_id', is: userId },
      { column: 'type', is: type },
    ])
  }

  private newRow(
    { userId, tenantId }: Pick<Principal, 'userId' | 'tenantId'>,
    type: UserSettingsType,
    value: string,
  ): Row {
    return {
      id: this.random.uuid(),
      created_time: this.clock.now(),
      version: 1,
      tenant_id: tenantId ?? SYSTEM_TENANT,
      user_id: userId,
      type,
      value,
    }
  }
}

/** The type that a path names, in any letter case. Throws `SETTINGS_TYPE`, `SETTINGS_RESERVED`. */
export function settingsTypeOf(text: string): UserSettingsType {
  const name = text.toUpperCase()
  if (OWN_TYPES.some((type) => type === name)) throw UserErrors.SETTINGS_RESERVED({ type: text })
  const found = OPEN_TYPES.find((type) => type === name)
  if (found === undefined) throw UserErrors.SETTINGS_TYPE({ type: text })
  return found
}

function valueOf(row: Row): JsonObject {
  const value = parseJson(String(row['value']))
  return isJsonObject(value) ? value : {}
}

function withMember(settings: JsonObject, [name = '', ...inside]: readonly string[], value: JsonValue): JsonObject {
  if (inside.length === 0) return { ...settings, [name]: value }
  return { ...settings, [name]: withMember(memberOf(settings, name) ?? {}, inside, value) }
}

function withoutMember(settings: JsonObject, [name = '', ...inside]: readonly string[]): JsonObject {
  const member = memberOf(settings, name)
  if (inside.length > 0) return member === undefined ? settings : { ...settings, [name]: withoutMember(member, inside) }
  return Object.fromEntries(Object.entries(settings).filter(([other]) => other !== name))
}

function memberOf(settings: JsonObject, name: string): JsonObject | undefined {
  const value = Object.hasOwn(settings, name) ? settings[name] : undefined
  return isJsonObject(value) ? value : undefined
}
