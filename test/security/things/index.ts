/** What the first tenant of the security walk owns and its customer user has no part in: one file a resource, one line here. */
import { makeAdminSettings } from './admin.ts'
import { makeAiModels } from './ai-models.ts'
import { makeAlarms } from './alarms.ts'
import { makeAssets } from './assets.ts'
import { makeCalculatedFields } from './calculated-fields.ts'
import { makeIntegrations } from './integrations.ts'
import { makeJobs } from './jobs.ts'
import { makeClaims } from './claims.ts'
import { makeChainTrials } from './chain-trials.ts'
import { makeCustomers } from './customers.ts'
import { makeTenantProfiles } from './tenant-profiles.ts'
import { makeUsers } from './users.ts'
import { makeContent } from './content.ts'
import type { MakeThings } from './make-things.ts'
import { makeEntityViews } from './entity-views.ts'
import { makeRelations } from './relations.ts'
import { makeResources } from './resources.ts'
import { makeQueueStats } from './queue-stats.ts'
import { makeRuleNodes } from './rule-nodes.ts'
import { makeRpcs } from './rpcs.ts'

export const THINGS: readonly MakeThings[] = [
  makeTenantProfiles,
  makeCustomers,
  makeAssets,
  makeContent,
  makeRelations,
  makeResources,
  makeRpcs,
  makeUsers,
  makeAlarms,
  makeEntityViews,
  makeCalculatedFields,
  makeAdminSettings,
  makeClaims,
  makeJobs,
  makeRuleNodes,
  makeQueueStats,
  makeChainTrials,
  makeAiModels,
  makeIntegrations,
]
