/** How a tenant, or the system, reaches services such as Slack, and what each user wants to be told by which way. */
import { z } from 'zod'
import type { Clock, Random } from '../../model/clock.ts'
import type { JsonObject } from '../../model/json.ts'
import { isJsonObject, parseJson, stringifyJson } from '../../model/json.ts'
import type { Principal } from '../../model/principal.ts'
import type { EntityStore } from '../../storage/entities/entity-store.ts'
import { EntityStoreErrors } from '../../storage/entities/errors.ts'
import type { EntityTable, Row } from '../../storage/entities/tables/entity-table.ts'
import type { RowStore } from '../../storage/entities/tables/row-store.ts'
import { retried } from '../entities/retried.ts'
import type { UserSettings } from '../users/user-settings.ts'
import { hasStaleSecrets, openMembers, sealMembers, withKeptSecrets, withoutSecrets } from '../vault/sealed-members.ts'
import type { Vault } from '../vault/vault.ts'
import { NOTIFICATION_TYPES } from './types.ts'

export const DELIVERY_METHODS = ['WEB', 'EMAIL', 'SMS', 'SLACK', 'MICROSOFT_TEAMS', 'MOBILE_APP'] as const
export type DeliveryMethod = (typeof DELIVERY_METHODS)[number]

export const NOTIFICATION_SETTINGS: EntityTable = {
  name: 'notification_settings',
  version: 1,
  columns: [{ name: 'value', type: 'text', isNullable: false }],
  unique: [{ columns: ['tenant_id'] }],
  indexes: [],
}

const LABEL = 'Notification settings'
const secret = z.string().min(1).max(16_384).optional()

export const tenantSettingsSchema = z.object({
  deliveryMethodsConfigs: z.object({
    SLACK: z.object({ method: z.literal('SLACK').default('SLACK'), botToken: secret }).optional(),
    MOBILE_APP: z
      .object({
        method: z.literal('MOBILE_APP').default('MOBILE_APP'),
        firebaseServiceAccountCredentialsFileName: z.string().max(255).nullish(),
        firebaseServiceAccountCredentials: secret,
      })
      .optional(),
  }),
})
export type TenantSettings = z.infer<typeof tenantSettingsSchema>

const pref = z.object({
  enabled: z
    .boolean()
    .nullish()
    .transform((value) => value ?? true),
  enabledDeliveryMethods: z.partialRecord(z.enum(DELIVERY_METHODS), z.boolean()),
})
export const userPreferencesSchema = z.object({ prefs: z.partialRecord(z.enum(NOTIFICATION_TYPES), pref) })
export type UserPreferences = z.infer<typeof userPreferencesSchema>

export interface NotificationSettingsParts {
  readonly entities: EntityStore
  readonly users: UserSettings
  readonly vault: Vault
  readonly clock: Clock
  readonly random: Random
}

export class NotificationSettings {
  private readonly parts: NotificationSettingsParts
  private readonly users: UserSettings
  private readonly rows: RowStore

  constructor(parts: NotificationSettingsParts) {
    this.parts = parts
    this.users = parts.users
    const overtaken = () => EntityStoreErrors.VERSION_CONFLICT({ entity: LABEL })
    this.rows = parts.entities.rows(NOTIFICATION_SETTINGS, { taken: { tenant_id: overtaken }, overtaken })
  }

  /** Of a tenant or of the system, without its secrets. */
  async find(tenantId: string): Promise<JsonObject> {
    const row = await this.rows.find([{ column: 'tenant_id', is: tenantId }])
    return row === undefined ? { deliveryMethodsConfigs: {} } : withoutSecrets(valueOf(row))
  }

  /** Of the tenant's own settings. */
  async slackToken(tenantId: string): Promise<string | undefined> {
    const row = await this.rows.find([{ column: 'tenant_id', is: tenantId }])
    if (row === undefined) return undefined
    const opened = tenantSettingsSchema.safeParse(openMembers(valueOf(row), this.parts.vault, placeOf(tenantId)))
    return opened.data?.deliveryMethodsConfigs.SLACK?.botToken
  }

  /** A secret that is left out stays as it is. */
  save(tenantId: string, settings: TenantSettings): Promise<JsonObject> {
    const { entities, vault, random, clock } = this.parts
    return retried(LABEL, async () => {
      const row = await this.rows.find([{ column: 'tenant_id', is: tenantId }])
      const sealed = sealMembers(plain(settings), vault, placeOf(tenantId))
      const value = stringifyJson(row === undefined ? sealed : withKeptSecrets(sealed, valueOf(row)))
      const identity = { id: random.uuid(), created_time: clock.now(), tenant_id: tenantId }
      const statement =
        row === undefined
          ? this.rows.insert({ ...identity, version: 1, value })
          : this.rows.update({ ...row, version: Number(row['version']) + 1, value })
      await entities.write([statement])
      return this.find(tenantId)
    })
  }

  /** Seals what is not sealed under the key in force. Throws `vault.KEY_UNKNOWN` where a secret can not be opened. */
  async sealAnew(): Promise<void> {
    const { entities, vault } = this.parts
    for (const { tenant_id: tenantId } of await this.rows.findAll([]))
      await retried(LABEL, async () => {
        const row = await this.rows.find([{ column: 'tenant_id', is: tenantId ?? null }])
        if (row === undefined || !hasStaleSecrets(valueOf(row), vault)) return
        const place = placeOf(String(row['tenant_id']))
        const value = stringifyJson(sealMembers(openMembers(valueOf(row), vault, place), vault, place))
        await entities.write([this.rows.update({ ...row, version: Number(row['version']) + 1, value })])
      })
  }

  /** Of every type of notification and every way: what nobody said is wanted. */
  async ofUser(user: Pick<Principal, 'userId'>): Promise<UserPreferences> {
    const kept = userPreferencesSchema.safeParse(await this.users.find(user, 'NOTIFICATIONS'))
    const prefs = kept.success ? kept.data.prefs : {}
    const all: UserPreferences['prefs'] = {}
    for (const type of NOTIFICATION_TYPES) {
      const { enabled = true, enabledDeliveryMethods = {} } = prefs[type] ?? {}
      const every = DELIVERY_METHODS.map((method) => [method, true] as const)
      all[type] = { enabled, enabledDeliveryMethods: { ...Object.fromEntries(every), ...enabledDeliveryMethods } }
    }
    return { prefs: all }
  }

  async saveOfUser(principal: Principal, preferences: UserPreferences): Promise<UserPreferences> {
    await this.users.replace(principal, 'NOTIFICATIONS', plain(preferences))
    return this.ofUser(principal)
  }

  /** Which of these users do not want notifications of that type by that way; the ids of those who do not. */
  async unwanted(userIds: readonly string[], type: string, method: DeliveryMethod): Promise<ReadonlySet<string>> {
    const kept = await this.users.findOfMany(userIds, 'NOTIFICATIONS')
    const unwanted = new Set<string>()
    for (const [userId, settings] of kept) {
      const parsed = userPreferencesSchema.safeParse(settings)
      const found = parsed.success ? parsed.data.prefs[typeOf(type)] : undefined
      if (found !== undefined && (!found.enabled || found.enabledDeliveryMethods[method] === false))
        unwanted.add(userId)
    }
    return unwanted
  }
}

function placeOf(tenantId: string): string {
  return `${NOTIFICATION_SETTINGS.name}/${tenantId}`
}

function typeOf(text: string): (typeof NOTIFICATION_TYPES)[number] {
  return NOTIFICATION_TYPES.find((type) => type === text) ?? 'GENERAL'
}

function valueOf(row: Row): JsonObject {
  const value = parseJson(String(row['value']))
  return isJsonObject(value) ? value : {}
}

/** As JSON: members that were left out are not there. */
export function plain(value: object): JsonObject {
  const json = parseJson(JSON.stringify(value))
  return isJsonObject(json) ? json : {}
}
