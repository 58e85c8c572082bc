/** Texts to phones by the provider that the system administrator set: one connection for all tenants, made anew when the settings change. */
import { stringifyJson, type JsonObject } from '../../model/json.ts'
import { openSms, type SmsSender, type SmsTarget } from '../../engine/rulechain/capabilities/sms-provider.ts'
import type { AdminSettings } from '../admin/admin-settings.ts'
import { SYSTEM_TENANT } from '../changes/changes.ts'
import { SharedConnection } from '../outbound/shared-connection.ts'
import type { Outbound } from '../outbound/outbound.ts'
import { SmsErrors } from './errors.ts'
import { SMS_SETTINGS, smsSettingsOf } from './sms-settings.ts'

export interface SystemSmsParts {
  readonly settings: Pick<AdminSettings, 'find'>
  readonly outbound: Pick<Outbound, 'ofNode'>
}

export class SystemSms {
  private readonly parts: SystemSmsParts
  private opened: { readonly settings: string; readonly connection: SharedConnection<SmsSender> } | undefined
  private isClosed = false

  constructor(parts: SystemSmsParts) {
    this.parts = parts
  }

  async isSetUp(): Promise<boolean> {
    return (await this.parts.settings.find(SMS_SETTINGS)) !== undefined
  }

  /** Resolves when the provider took it. Throws `sms.NOT_SET_UP`, `admin.SMS`, and what the provider or the outbound policy refuse. */
  async send(number: string, text: string): Promise<void> {
    const saved = await this.parts.settings.find(SMS_SETTINGS)
    if (saved === undefined || this.isClosed) throw SmsErrors.NOT_SET_UP()
    await this.connection(saved.value).use((sender) => sender.send(number, text))
  }

  /** By settings that need not be saved. Throws what the provider or the outbound policy refuse. */
  async sendBy(target: SmsTarget, number: string, text: string): Promise<void> {
    const sender = this.open(target)
    try {
      await sender.send(number, text)
    } finally {
      await sender.close()
    }
  }

  async close(): Promise<void> {
    this.isClosed = true
    await this.opened?.connection.close()
  }

  private connection(value: JsonObject): SharedConnection<SmsSender> {
    const settings = stringifyJson(value)
    if (this.opened?.settings === settings) return this.opened.connection
    const connection = new SharedConnection(this.open(smsSettingsOf(value)))
    const former = this.opened
    this.opened = { settings, connection }
    // Nobody waits for the end of a centre that is not used any more; the policy bounds it.
    void former?.connection.close().catch(() => undefined)
    return connection
  }

  private open(target: SmsTarget): SmsSender {
    return openSms(target, this.parts.outbound.ofNode({ tenantId: SYSTEM_TENANT }))
  }
}
