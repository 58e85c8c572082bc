/** Tells of features that come to their limits: by the rules of the system, and by mail to the tenant's address. */
import type { Clock } from '../../model/clock.ts'
import { entityId } from '../../model/entity-id.ts'
import { errorText } from '../../model/errors.ts'
import type { Statement } from '../../storage/entities/database.ts'
import { SYSTEM_TENANT } from '../changes/changes.ts'
import type { EntityRegistry } from '../entities/entity-registry.ts'
import { tenants, type Tenant } from '../entities/tenant.ts'
import type { TenantLimits } from '../entities/tenant-limits.ts'
import type { Mailer } from '../mail/mailer.ts'
import type { ChangeNotifications } from '../notifications/change-notifications.ts'
import { TRIGGER_FORMS } from '../notifications/rule-configs.ts'
import type { Triggers } from '../notifications/triggers.ts'
import type { Report } from '../changes/outbox.ts'
import { COUNTER_FORMS, stateOf, type CounterForm, type FeatureForm, type UsageState } from './features.ts'

export interface UsageChange {
  readonly form: FeatureForm
  readonly state: UsageState
  /** By the counters' places. */
  readonly used: readonly number[]
  readonly limits: TenantLimits
}

export interface UsageNewsParts {
  readonly declared: EntityRegistry
  readonly triggers: Pick<Triggers, 'requestsOf' | 'isWatched'>
  readonly committed: ChangeNotifications['committed']
  readonly mailer: Pick<Mailer, 'isSetUp' | 'tell'>
  readonly clock: Pick<Clock, 'after'>
  readonly report: Report
}

/** Tenants that changed and whose mails wait. */
const MAX_WAITING = 1_000
/** So long an end waits for a mail server. */
const CLOSE_MS = 5_000

export class UsageNews {
  private readonly parts: UsageNewsParts
  private mails: Promise<void> = Promise.resolve()
  private waiting = 0

  constructor(parts: UsageNewsParts) {
    this.parts = parts
  }

  /** Steps for the transaction in which the states change. */
  async requests(tenantId: string, changes: readonly UsageChange[]): Promise<readonly Statement[]> {
    const { declared, triggers } = this.parts
    if (changes.length === 0 || !(await triggers.isWatched(SYSTEM_TENANT, 'API_USAGE_LIMIT'))) return []
    const tenant = await declared.of(tenants).findAnywhere(tenantId)
    const statements: Statement[] = []
    for (const change of changes) {
      const { form, state } = change
      const said = saidOf(change)
      if (said === undefined) continue
      const about = { ...said, status: state.toLowerCase(), tenantId, tenantName: tenant?.title ?? '' }
      const { recordKey, ...parameters } = about
      const made = await triggers.requestsOf({
        type: 'API_USAGE_LIMIT',
        tenantId: SYSTEM_TENANT,
        originator: entityId('TENANT', tenantId),
        info: { ...about, feature: form.feature, recordKey, status: state },
        parameters,
        concerned: { tenantId },
        fires: (rule) => {
          const { apiFeatures, notifyOn } = TRIGGER_FORMS.API_USAGE_LIMIT.parse(rule.triggerConfig)
          return isAmong(apiFeatures, form.feature) && isAmong(notifyOn, state)
        },
      })
      statements.push(...made)
    }
    return statements
  }

  /** The states are durable. Mails go out behind it: a mail server that hangs holds up nobody's accounts. */
  tell(tenantId: string, changes: readonly UsageChange[], requests: readonly Statement[]): void {
    const { committed, report } = this.parts
    committed(requests)
    if (changes.length === 0) return
    if (this.waiting >= MAX_WAITING)
      return report('No mail about the use of the API is sent: too many wait', { tenantId })
    this.waiting++
    this.mails = this.mails
      .then(() => this.mail(tenantId, changes))
      .catch((error: unknown) =>
        report('Mails about the use of the API are not sent', { tenantId, error: errorText(error) }),
      )
      .finally(() => this.waiting--)
  }

  /** Mails that wait still go out where the server takes them soon. */
  async close(): Promise<void> {
    const late = Promise.withResolvers<void>()
    const timer = this.parts.clock.after(CLOSE_MS, late.resolve)
    await Promise.race([this.mails, late.promise])
    timer.cancel()
  }

  private async mail(tenantId: string, changes: readonly UsageChange[]): Promise<void> {
    const { declared, mailer } = this.parts
    if (!(await mailer.isSetUp())) return
    const tenant = await declared.of(tenants).findAnywhere(tenantId)
    const to = tenant?.email ?? ''
    if (tenant === undefined || to === '') return
    for (const change of changes) await mailer.tell({ to, ...mailOf(change, tenant) })
  }
}

function saidOf({ form, state, used, limits }: UsageChange) {
  const counter = COUNTER_FORMS.find(
    (one) => one.feature === form.feature && (state === 'ENABLED' || isSo(one, state, used, limits)),
  )
  if (counter === undefined) return undefined
  return {
    feature: form.label,
    recordKey: counter.key,
    unitLabel: counter.unit,
    limit: shortOf(limits[counter.limit]),
    currentValue: shortOf(used[counter.counter] ?? 0),
  }
}

function isSo({ counter, limit }: CounterForm, state: UsageState, used: readonly number[], limits: TenantLimits) {
  return stateOf(used[counter] ?? 0, limits[limit], limits.warnThreshold) === state
}

const SUBJECTS: Readonly<Record<UsageState, string>> = {
  ENABLED: 'is enabled',
  WARNING: 'is near its limit',
  DISABLED: 'is disabled',
}

function mailOf(change: UsageChange, { title }: Tenant): { readonly subject: string; readonly text: string } {
  const said = saidOf(change)
  const subject = `${change.form.label} ${SUBJECTS[change.state]}`
  const used =
    said === undefined ? '' : ` ${said.currentValue} of ${said.limit} (${said.unitLabel}) are used this month.`
  return { subject, text: `Of the tenant ${title}: ${subject}.${used}` }
}

/** As the reference writes it. */
function shortOf(value: number): string {
  if (value > 1_000_000 && value % 1_000_000 < 10_000) return `${Math.floor(value / 1_000_000)}M`
  if (value > 10_000) return `${(value / 1_000_000).toFixed(2)}M`
  return String(value)
}

/** None named means all. */
function isAmong(named: readonly string[] | null | undefined, wanted: string): boolean {
  return named === null || named === undefined || named.length === 0 || named.includes(wanted)
}
