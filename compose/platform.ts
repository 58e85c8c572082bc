/** The composition root: builds each part in the order of the arrows, wires them, and closes them in reverse. */
import { hostname } from 'node:os'
import { entityId } from '../model/entity-id.ts'
import { errorText } from '../model/errors.ts'
import { systemClock, systemRandom } from '../model/system-clock.ts'
import type { SystemLog } from '../logging/log.ts'
import type { Config } from '../config/settings.ts'
import { createActorSystem, type ActorSystem } from '../engine/actor/system.ts'
import { DEFAULT_DEVICE_GATEWAY_SETTINGS } from '../engine/device/device-gateway-options.ts'
import { createDeviceGateway } from '../engine/device/device-gateway.ts'
import { OwnedCalls } from '../engine/device/calls/owned-calls.ts'
import { SessionCalls } from '../engine/device/calls/session-calls.ts'
import { createDeviceOwner, type DeviceOwner } from '../engine/device/owner/device-owner.ts'
import type { PublishLink } from '../engine/link/link.ts'
import type { NodeCatalogue } from '../engine/rulechain/node.ts'
import type { ChangeFeed } from '../engine/subscriptions/change.ts'
import { createWorkerAdmin } from '../engine/workers/admin.ts'
import { openField } from '../nodes/calculated/kinds.ts'
import { createServices } from '../services/create-services.ts'
import { DEFAULT_ATTEMPT_LIMITS } from '../services/onboarding/wrong-attempts.ts'
import { seedDemo, seedMinimal } from '../services/seed.ts'
import type { Services } from '../services/services.ts'
import type { MainQueueSettings } from '../services/queues/shipped-queues.ts'
import { Backups } from './backup/backups.ts'
import { Closing } from './closing.ts'
import { openCluster, type Cluster } from './cluster.ts'
import { openEdges } from './edges.ts'
import type { Ports } from './ready-text.ts'
import { startEngine } from './engine.ts'
import { calculationFigures, eventFigures, figuresOf, serviceFigures } from './figures.ts'
import { refuseUnusableFiles } from './named-files.ts'
import { refuseDemoLoginsInPublic } from './public-address.ts'
import { openCatalogue } from './own-nodes.ts'
import { openOutbound } from './outbound.ts'
import { openParking } from './parking.ts'
import { openIntegrations } from './integrations.ts'
import { jwtDefaults, mailDefaults } from './admin-defaults.ts'
import { openVault } from './secrets-key.ts'
import { openScripting } from './scripts.ts'
import { openSharedAttributes } from './shared-attributes.ts'
import { openStores, type Stores } from './stores.ts'
import { nodeTrial, runParts } from './workshop.ts'

export interface Platform {
  readonly ports: Ports
  /** Set when this start seeded an administrator with a random password. */
  readonly oneTimePassword: string | undefined
  /** Whether demo logins are in this data folder. */
  readonly demo: boolean
  /** Drains and closes everything in order; whether all of it closed cleanly. */
  close(): Promise<boolean>
}

const DEMO_SETTING = 'seed.demo'

/** Starts everything. Throws what a part throws, after closing those that were open already. */
export async function startPlatform(
  config: Config,
  version: string,
  log: SystemLog,
  onFatal: (error: Error) => void,
): Promise<Platform> {
  refuseUnusableFiles(config)
  const catalogue = await openCatalogue(config)
  const closing = new Closing(log)
  try {
    const cluster = await openCluster(config, log, closing)
    const { feed } = cluster
    const stores = await openStores(config, log, closing, cluster, onFatal)
    const opened = await openParking({ config, log, closing, cluster, stores })
    const { vault, settled } = await openVault({ config, log, folder: stores.folder, entities: stores.entities })
    const { scripts, javaScript } = openScripting(config, closing)
    const shared = await openSharedAttributes(config, stores.entities, log, closing)
    const outbound = openOutbound(config)
    const stored = createServices({
      outbound,
      vault,
      jwt: jwtDefaults(config),
      mail: mailDefaults(config),
      entities: stores.entities,
      timeSeries: stores.timeSeries,
      feed,
      link: stores.link,
      deadLetters: stores.link.deadLetters,
      parked: opened.control,
      clock: systemClock,
      random: systemRandom,
      catalogue,
      scripts,
      tryNode: nodeTrial(runParts(config, catalogue, javaScript)),
      openField,
      attributeCacheBytes: config.cacheAttributes ? config.cacheAttributesMb * 2 ** 20 : 0,
      sharedAttributes: shared?.part,
      callLine: cluster.callLine,
      owners: cluster.owners,
      persistentCallsTtlMs: config.rpcTtlSeconds * 1000,
      claims: { isAllowedByDefault: config.claimAllowedByDefault, durationMs: config.claimDurationMs },
      castStrings: config.castStrings,
      integrationRules: {
        ...{ ports: config.integrationPorts, addresses: config.integrationAddresses },
        folder: config.integrationFolder,
        hasCertificate: config.integrationSslCertFile !== undefined,
      },
      provisioning: { ...DEFAULT_ATTEMPT_LIMITS, wrongPerAddress: config.provisionWrongPerAddress },
      usageIntervalMs: config.usageReportSeconds * 1000,
      notificationsTtlMs: config.notificationsTtlSeconds * 1000,
      events: {
        server: config.serviceId ?? hostname(),
        writer: {
          maxText: config.debugEventMaxSymbols,
          debugEvents: config.debugEventRate.count,
          debugWindowMs: config.debugEventRate.seconds * 1000,
        },
        settings: {
          ...{ ttlMs: config.eventsTtlSeconds * 1000, debugTtlMs: config.debugEventsTtlSeconds * 1000 },
          maxRowsPerTenant: config.eventsMaxRows,
        },
      },
      audit: { ttlMs: config.auditLogTtlSeconds * 1000, maxRowsPerTenant: config.auditLogMaxRows },
      logKeptMs: config.linkRetentionMinutes * 60_000,
      logBeside: stores.logBeside,
      maxAlarms: config.alarmsMaxPerTenant,
      report: (text, fields) => log.error(text, fields),
    })
    closing.add('services', () => stored.close())
    await stored.startSecrets()
    settled()
    const seeded = await seed(config, stores, catalogue)
    await refuseDemoLoginsInPublic(config, stored.users)
    const actors = createActorSystem({
      clock: systemClock,
      random: systemRandom,
      onError: ({ error, ...failure }) => log.error('an actor failed', { ...failure, reason: errorText(error) }),
    })
    closing.add('actors', () => actors.close())
    const roles = new Set(config.roles)
    if (roles.has('engine')) startOwnedCalls(cluster, stored, log, closing)
    const parts = {
      config,
      log,
      closing,
      cluster,
      stores,
      services: stored,
      catalogue,
      outbound,
      scripts,
      feed,
      actors,
    }
    const devices = roles.has('engine') ? startDeviceOwner(parts) : undefined
    const { parking, deviceLink, metricsSources } = opened
    const running = devices === undefined ? undefined : await startEngine({ ...parts, devices, parking })
    await stored.startOutbox()
    const gateway = roles.has('transport') ? startGateway({ ...parts, deviceLink }) : undefined
    const integrations = await openIntegrations({ ...parts, deviceLink })
    const backups = new Backups({
      sources: stores.backupSources,
      kept: `link: ${config.link}, entities: ${config.entitiesDatabase}, time series: ${config.timeSeriesDatabase}`,
      holdOutbox: () => stored.holdOutbox(),
      clock: systemClock,
      random: systemRandom,
      log,
    })
    await backups.start()
    closing.add('backups', () => backups.close())
    // From the first request on, what is cached here is kept up with the changes of every other process.
    await feed.settled()
    const ports = await openEdges({
      config,
      version,
      log,
      closing,
      stores,
      services: stored,
      webhooks: integrations.webhooks,
      gateway,
      feed,
      metricsSources: [
        ...cluster.metricsSources,
        ...stores.metricsSources,
        ...metricsSources,
        ...(shared?.metricsSources ?? []),
        ...integrations.metricsSources,
        { name: 'events', figures: () => eventFigures(stored.events.writer) },
        { name: 'services', figures: () => serviceFigures(stored) },
        ...calculationFigures(stored.calculation),
        ...figuresOf({ actors, gateway, devices, running, javaScript }),
      ],
      workers: createWorkerAdmin([
        ...(roles.has('engine') || roles.has('api') ? [javaScript] : []),
        ...(running === undefined ? [] : [running.aggregation]),
      ]),
      backups,
      demo: seeded.demo,
    })
    return { ports, ...seeded, close: () => closing.run() }
  } catch (error) {
    await closing.run()
    throw error
  }
}

async function seed(
  config: Config,
  stores: Stores,
  catalogue: NodeCatalogue,
): Promise<{ demo: boolean; oneTimePassword: string | undefined }> {
  const { entities } = stores
  const options = { entities, clock: systemClock, random: systemRandom, catalogue, main: mainQueueOf(config) }
  const { settings } = entities
  try {
    if (config.demo) {
      if (await seedDemo(options)) await settings.put(DEMO_SETTING, true)
      return { demo: (await settings.find(DEMO_SETTING)) === true, oneTimePassword: undefined }
    }
    const login = await seedMinimal(options)
    return { demo: (await settings.find(DEMO_SETTING)) === true, oneTimePassword: login?.password }
  } catch (error) {
    // Another process of the cluster may have seeded the same empty store meanwhile: its seed is as good.
    if (!(await entities.users.hasAny())) throw error
    return { demo: config.demo, oneTimePassword: undefined }
  }
}

/** What the environment says of `Main` counts for its first start: afterwards its record does, which users may change. */
function mainQueueOf(config: Config): MainQueueSettings {
  return {
    partitions: config.queuePartitions,
    packProcessingTimeoutMs: config.queueTimeoutMs,
    retries: config.queueRetries,
    pauseSeconds: config.queueRetryPauseSeconds,
    maxPauseSeconds: config.queueMaxRetryPauseSeconds,
  }
}

interface DeviceParts {
  readonly config: Config
  readonly closing: Closing
  readonly cluster: Cluster
  readonly stores: Stores
  readonly services: Services
  readonly feed: ChangeFeed
  readonly actors: ActorSystem
}

const DEVICE_SETTINGS = DEFAULT_DEVICE_GATEWAY_SETTINGS

/** Of the role `engine`: the devices whose partitions are this process's. */
function startDeviceOwner({ config, closing, cluster, stores, services, feed, actors }: DeviceParts): DeviceOwner {
  const { membership, deviceLine, owners } = cluster
  const owner = createDeviceOwner({
    link: stores.link,
    line: deviceLine,
    owners,
    members: () => membership.members().map(({ id }) => id),
    directory: {
      findIdentity: (deviceId) => services.devices.findIdentity(deviceId),
      findActive: (after, limit) => services.devices.findActive(after, limit),
    },
    attributes: services.attributes,
    edgeNodes: services.devices,
    feed,
    clock: systemClock,
    random: systemRandom,
    actors,
    settings: {
      ...DEVICE_SETTINGS,
      inactivityTimeoutMs: config.inactivityTimeoutSeconds * 1000,
      stateCheckIntervalMs: config.stateCheckSeconds * 1000,
      activityReportsPerSecond: config.activityReportsPerSecond,
    },
  })
  closing.add('device owner', () => Promise.resolve(owner.close()))
  return owner
}

/** Of the role `engine`: calls to devices whose partitions are this process's. */
function startOwnedCalls(
  { callLine: line, owners }: Cluster,
  services: Services,
  log: SystemLog,
  closing: Closing,
): void {
  const calls = new OwnedCalls({
    line,
    owners,
    store: services.persistentCalls,
    clock: systemClock,
    report: (text, fields) => log.error(text, fields),
  })
  closing.add('calls to devices', () => Promise.resolve(calls.close()))
}

interface GatewayParts extends DeviceParts {
  /** Takes nothing of tenants whose share of parked messages is full. */
  readonly deviceLink: PublishLink
}

const RATE_APIS = {
  Tenant: 'TRANSPORT_MESSAGES_PER_TENANT',
  Device: 'TRANSPORT_MESSAGES_PER_DEVICE',
  Gateway: 'TRANSPORT_MESSAGES_PER_GATEWAY',
  GatewayDevice: 'TRANSPORT_MESSAGES_PER_GATEWAY_DEVICE',
} as const

/** The role `transport`, without its protocols: sessions of devices. */
function startGateway({ config, closing, cluster, deviceLink, services, feed, actors }: GatewayParts) {
  const { callLine: line, owners } = cluster
  const gateway = createDeviceGateway({
    calls: new SessionCalls({ line, owners, clock: systemClock, random: systemRandom }),
    link: deviceLink,
    line: cluster.deviceLine,
    owners: cluster.owners,
    directory: services.devices,
    attributes: services.attributes,
    onboarding: {
      offerForClaim: (device, offer) => services.claims.offer(device, offer),
      provision: (request, clientAddress) => services.provisioning.provision(request, clientAddress),
      provisionByCertificate: (shown) => services.certificateChains.provision(shown),
      connectChild: (gateway, child) => services.gatewayChildren.connect(gateway, child),
    },
    packages: services.content.otaDownloads,
    objects: services.content.typesOfObjects,
    lwm2mKeys: services.devices,
    keptSessions: services.keptSessions,
    meter: services.meter,
    rates: {
      source: services.limits,
      reached: ({ tenantId, level, id }) =>
        services.platformWatch.rateReached({
          tenantId,
          api: RATE_APIS[level],
          ...(level === 'Tenant' ? {} : { level: entityId('DEVICE', id) }),
        }),
    },
    feed,
    clock: systemClock,
    random: systemRandom,
    actors,
    settings: {
      forgetAfterMs: config.inactivityTimeoutSeconds * 1000,
      maxCredentialBytes: config.cacheCredentialsMb * 2 ** 20,
    },
  })
  closing.add('device gateway', () => gateway.close())
  return gateway
}
