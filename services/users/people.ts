/** All that concerns users beyond their records: accounts, settings. */
import type { Clock, Random } from '../../model/clock.ts'
import type { EntityStore } from '../../storage/entities/entity-store.ts'
import { apiKeys } from '../entities/api-key.ts'
import { dashboards } from '../entities/dashboard.ts'
import { tenants } from '../entities/tenant.ts'
import type { EntityRegistry } from '../entities/entity-registry.ts'
import type { Admin } from '../admin/admin.ts'
import type { Vault } from '../vault/vault.ts'
import { Mailer } from '../mail/mailer.ts'
import { sendBySmtp } from '../mail/smtp.ts'
import type { Report } from '../changes/outbox.ts'
import { UserAccounts, type CredentialStore } from './accounts.ts'
import { ApiKeys } from './api-keys.ts'
import { TwoFactor, type TwoFactorParts } from './two-factor.ts'
import { UserSettings } from './user-settings.ts'
import { VisitedDashboards, type VisitedDashboardsParts } from './visited-dashboards.ts'

export interface People {
  readonly accounts: UserAccounts
  readonly apiKeys: ApiKeys
  readonly settings: UserSettings
  readonly twoFactor: TwoFactor
  readonly visitedDashboards: VisitedDashboards
}

export interface PeopleParts {
  readonly entities: EntityStore
  readonly declared: EntityRegistry
  readonly credentials: CredentialStore
  readonly access: VisitedDashboardsParts['access']
  readonly admin: Admin
  readonly vault: Vault
  readonly texts: TwoFactorParts['texts']
  readonly report: Report
  readonly clock: Clock
  readonly random: Random
}

export function createPeople({
  entities,
  declared,
  credentials,
  access,
  admin,
  vault,
  texts,
  report,
  clock,
  random,
}: PeopleParts): People {
  const mailer = new Mailer({ settings: () => admin.mailSettings(), send: sendBySmtp, report })
  const settings = new UserSettings(entities, clock, random)
  const accounts = new UserAccounts(entities, credentials, mailer, clock)
  return {
    accounts,
    apiKeys: new ApiKeys(declared.of(apiKeys), entities, clock),
    settings,
    twoFactor: new TwoFactor({
      ...{ admin: admin.settings, settings, vault, mailer, texts, clock },
      profileOf: async (tenantId) => (await declared.of(tenants).findAnywhere(tenantId))?.tenantProfileId ?? undefined,
      lock: (userId) => accounts.setEnabled(userId, false),
    }),
    visitedDashboards: new VisitedDashboards({ settings, dashboards: declared.of(dashboards), access, clock }),
  }
}
