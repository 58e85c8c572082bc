/** Integrations that are there: the way in, webhooks, and those that this process runs. Loaded when there is one. */
import { systemClock, systemRandom } from '../model/system-clock.ts'
import type { Report } from '../services/changes/outbox.ts'
import type { SystemLog } from '../logging/log.ts'
import type { Config } from '../config/settings.ts'
import type { PublishLink } from '../engine/link/link.ts'
import type { ScriptHost } from '../engine/script/script.ts'
import type { ChangeFeed } from '../engine/subscriptions/change.ts'
import { Intake } from '../services/integrations/intake.ts'
import { IntegrationRunner } from '../services/integrations/runner.ts'
import { SourceShares } from '../services/integrations/source-shares.ts'
import { Webhooks } from '../services/integrations/webhooks.ts'
import { NamedDevices } from '../services/onboarding/named-devices.ts'
import type { Outbound } from '../services/outbound/outbound.ts'
import type { Services } from '../services/services.ts'
import type { Closing } from './closing.ts'
import type { Cluster } from './cluster.ts'
import { openIntegrationCertificate } from './integration-certificate.ts'

export interface IntegrationParts {
  readonly config: Config
  readonly log: SystemLog
  readonly closing: Closing
  readonly cluster: Cluster
  readonly services: Services
  readonly scripts: ScriptHost
  readonly outbound: Outbound
  readonly feed: ChangeFeed
  /** Takes nothing of tenants whose share of parked messages is full. */
  readonly deviceLink: PublishLink
}

export interface RunningIntegrations {
  readonly webhooks: Webhooks
  /** Undefined where this process runs none. */
  readonly shares: SourceShares | undefined
}

/** Resolves when those that this process owns were begun; what they are joined to may be away. */
export async function runIntegrations(parts: IntegrationParts): Promise<RunningIntegrations> {
  const { config, log, closing, cluster, services, scripts, outbound, feed } = parts
  const { integrations, integrationFigures: figures, attributes, declared } = services
  const report: Report = (text, fields) => log.error(text, fields)
  const devices = new NamedDevices({ declared, devices: services.devices, feed })
  const intake = new Intake({
    ...{ link: parts.deviceLink, devices, scripts, meter: services.meter, figures },
    ...{ clock: systemClock, random: systemRandom, castStrings: config.castStrings },
    maxFrameBytes: config.integrationMaxFrameBytes,
    maxBytes: config.integrationMegabytes * 2 ** 20,
    report,
  })
  const webhooks = new Webhooks({ integrations, intake, figures, feed })
  closing.add('webhooks', () => {
    webhooks.close()
    devices.close()
    return Promise.resolve()
  })
  if (!config.roles.includes('engine')) return { webhooks, shares: undefined }
  const shares = new SourceShares({
    ...{ tenantPorts: config.integrationTenantPorts, maxConnections: config.integrationMaxConnections },
    maxBytes: config.integrationMegabytes * 2 ** 20,
    maxFetchedBytes: config.integrationFetchedMegabytes * 2 ** 20,
  })
  const runner = new IntegrationRunner({
    ...{ integrations, intake, figures, attributes, owners: cluster.owners, feed, guard: outbound.guard },
    ...{ clock: systemClock, shares, root: config.integrationFolder },
    secureContext: openIntegrationCertificate(config, log, closing),
    report,
  })
  closing.add('integrations', () => runner.close())
  services.deployments.follow('INTEGRATION', (id) => runner.settled(id))
  await runner.start()
  return { webhooks, shares }
}
