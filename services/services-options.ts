/** What the services are built from: the stores and the link, and what an operator sets. */
import type { Clock, Random } from '../model/clock.ts'
import type { CallLine } from '../engine/device/calls/line.ts'
import type { PartitionOwners } from '../engine/device/partition-owners.ts'
import type { DeadLetters } from '../engine/link/dead-letters.ts'
import type { Link, PublishBound } from '../engine/link/link.ts'
import type { Erased } from '../model/erased.ts'
import type { ParkingControl } from '../engine/parking/control.ts'
import type { NodeCatalogue } from '../engine/rulechain/node.ts'
import type { ScriptHost } from '../engine/script/script.ts'
import type { ChangeFeed } from '../engine/subscriptions/change.ts'
import type { EntityStore } from '../storage/entities/entity-store.ts'
import type { SharedAttributes } from '../storage/entities/shared-attributes.ts'
import type { TimeSeriesStore } from '../storage/timeseries/store.ts'
import type { JwtDefaults } from './admin/jwt-settings.ts'
import type { MailSettings } from './mail/mail-settings.ts'
import type { Vault } from './vault/vault.ts'
import type { AuditSettings } from './audit/audit-log.ts'
import type { EventSettings } from './events/events.ts'
import type { EventWriterSettings } from './events/event-writer.ts'
import type { OpenField } from './calculated-fields/runtime/field-index.ts'
import type { ClaimSettings } from './onboarding/claims.ts'
import type { OperatorRules } from './integrations/operator-rules.ts'
import type { TryNode } from './rule-chains/checked-chain.ts'
import type { AttemptLimits } from './onboarding/wrong-attempts.ts'
import type { Outbound } from './outbound/outbound.ts'
import type { Report } from './changes/outbox.ts'

export interface ServicesOptions {
  readonly entities: EntityStore
  readonly timeSeries: TimeSeriesStore
  readonly feed: ChangeFeed
  readonly link: Link & PublishBound
  readonly deadLetters: DeadLetters
  readonly parked: ParkingControl
  readonly clock: Clock
  readonly random: Random
  readonly catalogue: NodeCatalogue
  /** The name of this process, and how events are kept. */
  readonly events?: {
    readonly server?: string
    readonly writer?: Partial<EventWriterSettings>
    readonly settings?: Partial<EventSettings>
  }
  /** For scripts that users try out. */
  readonly scripts: ScriptHost
  /** Finds what nodes of rule chains do not start for. */
  readonly tryNode?: TryNode
  /** What calls services outside. Default: one that calls nothing internal. */
  readonly outbound?: Outbound
  /** Memory for lately read attributes (`CACHE_ATTRIBUTES_MB`); 0 keeps none. */
  readonly attributeCacheBytes: number
  /** Behind that memory, for all processes together (`CACHE_TYPE=redis`). */
  readonly sharedAttributes?: SharedAttributes | undefined
  /** Absent where one process is all there is. */
  readonly callLine?: CallLine
  readonly owners?: PartitionOwners
  readonly persistentCallsTtlMs?: number
  /** Age at which notifications and their requests go; 0 keeps them. */
  readonly notificationsTtlMs?: number
  /** How long the audit log keeps its rows, and how many. */
  readonly audit?: AuditSettings
  /** Seals what is secret before it is stored. */
  readonly vault: Vault
  /** How tokens are signed until a system administrator says it. */
  readonly jwt: JwtDefaults
  /** How mails go out where the administrator did not say; absent: not at all. */
  readonly mail?: MailSettings | undefined
  /** Of one tenant. */
  readonly maxAlarms?: number
  /** How often what tenants use is stored. */
  readonly usageIntervalMs?: number
  readonly claims?: ClaimSettings
  /** How calculated fields run; absent: they do not. */
  readonly openField?: OpenField
  readonly provisioning?: AttemptLimits
  /** Texts that integrations bring and that are plain numbers become numbers; default: they do. */
  readonly castStrings?: boolean
  /** What integrations may do on this machine; default: nothing. */
  readonly integrationRules?: OperatorRules
  /** How long messages stay in the log after they were processed. */
  readonly logKeptMs?: number
  /** What files hold of the log for longer; absent: nothing. */
  readonly logBeside?: () => Promise<Erased>
  /** Hears of what went wrong outside any call: a line in the system log. */
  readonly report: Report
}
