/** Builds the services over their stores. Nothing runs before `startOutbox`. */
import type { Clock } from '../model/clock.ts'
import { Answers } from '../engine/device/calls/answers.ts'
import { createCallLine } from '../engine/device/calls/line.ts'
import { soleOwner } from '../engine/device/partition-owners.ts'
import { entityId, type EntityId } from '../model/entity-id.ts'
import type { Message } from '../model/message.ts'
import { PermissionTable } from './access/access.ts'
import { Admin } from './admin/admin.ts'
import { sendBySmtp } from './mail/smtp.ts'
import { AuditLog, DEFAULT_AUDIT_SETTINGS } from './audit/audit-log.ts'
import { LoginAudit } from './audit/login-audit.ts'
import { nameLookup } from './audit/names.ts'
import { followAttributes } from './attributes/followed-attributes.ts'
import { CachedAttributes } from './attributes/attributes.ts'
import { Changes } from './changes/changes.ts'
import { Cleanup } from './cleanup/cleanup.ts'
import { Remains } from './cleanup/remains.ts'
import { Components } from './components.ts'
import { createContent } from './content/content.ts'
import { DEFAULT_EVENT_SETTINGS, Events } from './events/events.ts'
import { DEFAULT_EVENT_WRITER_SETTINGS, EventWriter } from './events/event-writer.ts'
import { OtaUpdates } from './content/ota-updates.ts'
import { CommitDoubts } from './changes/commit-doubts.ts'
import { AlarmExpiry, DEFAULT_MAX_ALARMS } from './alarms/alarm-expiry.ts'
import { AlarmQueries } from './alarms/alarm-queries.ts'
import { ChainTrialDesk } from './rule-chains/chain-trials.ts'
import { ChainStatisticsReader } from './rule-chains/chain-statistics.ts'
import { Deployments } from './deployments.ts'
import { AlarmService } from './alarms/alarm-service.ts'
import { Propagation } from './alarms/propagation.ts'
import { assetProfiles } from './entities/asset-profile.ts'
import { deviceProfiles } from './entities/device-profile.ts'
import { manyNamesLookup } from './entities/many-names.ts'
import { CalculatedFields } from './calculated-fields/calculated-fields.ts'
import { Calculation } from './calculated-fields/runtime/runtime.ts'
import type { NodeCalculated } from '../engine/rulechain/capabilities/calculated.ts'
import { BulkImport } from './import/bulk-import.ts'
import { FileImport } from './import/file-import.ts'
import { Transfers } from './import/positions.ts'
import { FileErasure } from './cleanup/file-erasure.ts'
import { TenantTransfer } from './transfer/tenant-transfer.ts'
import { DECLARED, DECLARED_TABLES } from './entities/declared.ts'
import { entityViews, exposureOf } from './entities/entity-view.ts'
import { EntityRegistry } from './entities/entity-registry.ts'
import { TenantDeadLetters } from './queues/dead-letters.ts'
import { StoredDevices } from './devices/devices.ts'
import { StoredKeptSessions } from './devices/kept-sessions.ts'
import { ParkedLanes } from './queues/parked.ts'
import { EntityQueries } from './queries/entity-queries.ts'
import { EntityGroups } from './queries/entity-groups.ts'
import { queryTables } from './queries/query-tables.ts'
import { RelationSearches } from './queries/relation-search.ts'
import { QueryResolver } from './queries/resolve.ts'
import { DEFAULT_CLAIM_SETTINGS, DeviceClaims } from './onboarding/claims.ts'
import { AiChats } from './ai/ai-chats.ts'
import { AiFiles } from './ai/ai-files.ts'
import { AiModels } from './ai/ai-models.ts'
import { FigureBook } from './integrations/figures.ts'
import { Integrations } from './integrations/integrations.ts'
import { NOTHING_ALLOWED } from './integrations/operator-rules.ts'
import { Jobs } from './jobs/jobs.ts'
import { DeviceMove } from './onboarding/device-move.ts'
import { MovedDevices } from './onboarding/moved-devices.ts'
import { GatewayChildren } from './onboarding/gateway-children.ts'
import { CertificateChains } from './onboarding/certificate-chains.ts'
import { Provisioning } from './onboarding/provisioning.ts'
import { createNotifications } from './notifications/create-notifications.ts'
import type { ChangeNotifications } from './notifications/change-notifications.ts'
import { DEFAULT_OUTBOUND_SETTINGS, Outbound } from './outbound/outbound.ts'
import { OutboxPublisher } from './changes/outbox.ts'
import { ownerLookup, type OwnerLookup } from './access/ownership.ts'
import { FarEnds } from './relations/far-ends.ts'
import { RelationService } from './relations/relations.ts'
import { LimitsOfTenants } from './tenants/limits.ts'
import { RestRates } from './tenants/rate-limits.ts'
import { routeLookup } from './changes/message-route.ts'
import { CallService } from './rpc/call-service.ts'
import { PersistentCalls } from './rpc/persistent-calls.ts'
import { QueueStatistics } from './queues/queue-statistics.ts'
import { StoredQueues } from './queues/queues.ts'
import { NodeSecrets } from './rule-chains/node-secrets.ts'
import { RuleChains } from './rule-chains/rule-chains.ts'
import type { ServicesOptions } from './services-options.ts'
import type { Services } from './services.ts'
import { SystemSms } from './sms/system-sms.ts'
import { tenantSms } from './sms/tenant-sms.ts'
import { StoredTelemetry } from './telemetry/telemetry.ts'
import { TenantProperty } from './tenants/tenant-property.ts'
import { tenantStart } from './tenants/tenant-start.ts'
import { ViewedFeed } from './telemetry/viewed-feed.ts'
import { ViewedTelemetry, type ExposureLookup } from './telemetry/viewed-telemetry.ts'
import { StoredTenants } from './tenants/tenants.ts'
import { StoredUsers } from './users/users.ts'
import { UsageMeter } from '../engine/usage/usage.ts'
import { Mailer } from './mail/mailer.ts'
import { UsageNews } from './usage/usage-news.ts'
import { UsageStates } from './usage/usage-states.ts'
import { users as userDefinition } from './entities/user.ts'
import { createPeople, type People } from './users/people.ts'

const PERSISTENT_CALLS_TTL_MS = 30 * 86_400_000
const USAGE_INTERVAL_MS = 60_000
const NOTIFICATIONS_TTL_MS = 30 * 86_400_000
/** In a refusal. */
const PROFILES_NAMED = 10

/** `close` waits for what is on its way to the link; the stores and the link are closed by whoever opened them. */
export function createServices(options: ServicesOptions): Services {
  const { entities, timeSeries, feed, link, clock, random, catalogue, report, vault } = options
  const ownerOfOthers = ownerLookup(entities)
  const ownerOf: OwnerLookup = async (entity) => (await ownerOfOthers(entity)) ?? declared.ownerOf(entity)
  const routeOf = routeLookup(entities, ownerOf, (entity) => declared.destinationOf(entity))
  const publisher = new OutboxPublisher(entities, link, clock, report)
  const nameOf = (entity: EntityId): Promise<string | undefined> => nameLookup(entities, declared)(entity)
  const settings = options.audit ?? DEFAULT_AUDIT_SETTINGS
  const audit = new AuditLog({ entities, clock, random, report, settings, nameOf })
  const events = new Events({
    ...{ entities, clock, report },
    writer: new EventWriter({
      ...{ entities, clock, random, report, server: options.events?.server ?? 'sole' },
      settings: { ...DEFAULT_EVENT_WRITER_SETTINGS, ...options.events?.writer },
    }),
    settings: { ...DEFAULT_EVENT_SETTINGS, ...options.events?.settings },
  })
  const changes = new Changes(entities, publisher, link, clock, random, audit)
  const persistentCalls = new PersistentCalls({
    ...{ entities, changes, routeOf, clock, random, report },
    ttlMs: options.persistentCallsTtlMs ?? PERSISTENT_CALLS_TTL_MS,
  })
  const line = options.callLine ?? createCallLine({ self: 'sole', clock })
  const owners = options.owners ?? soleOwner(line.self)
  const answers = new Answers(line, clock)
  const linkQueueName = (tenantId: string, name: string): Promise<string | undefined> => queues.linkName(tenantId, name)
  const calls = new CallService({
    ...{ entities, changes, routeOf, line, owners, answers, clock, random, linkQueueName },
    persistent: persistentCalls,
  })
  const cleanup = new Cleanup(entities, timeSeries, new Remains(options.deadLetters, options.parked), clock, report)
  const { attributeCacheBytes: bytes, sharedAttributes: shared } = options
  const { cache, stop: stopFollowing } = followAttributes({ entities, feed, bytes, shared })
  const doubts = new CommitDoubts(clock)
  const outbound = options.outbound ?? defaultOutbound(clock)
  const sms: SystemSms = new SystemSms({ settings: { find: (key) => admin.settings.find(key) }, outbound })
  const admin = new Admin({
    ...{ entities, vault, feed, doubts, changes, clock, random },
    ...{ jwt: options.jwt, mail: options.mail, send: sendBySmtp },
    sendSms: (target, number, text) => sms.sendBy(target, number, text),
  })
  const deployments = new Deployments()
  const queues = new StoredQueues({
    ...{ entities, feed, doubts, deployments, changes, clock, random },
    async profilesWith(kind, queueName, tenantId) {
      const service = kind === 'device' ? declared.of(deviceProfiles) : declared.of(assetProfiles)
      const owned = tenantId === undefined ? [] : [{ column: 'tenant_id', is: tenantId }]
      const where = [{ column: 'default_queue_name', is: queueName }, ...owned]
      return (await service.pageOfNames(where, { page: 0, pageSize: PROFILES_NAMED })).data
    },
  })
  const users = new StoredUsers(
    ...([entities, clock, feed, doubts] as const),
    (principal, action) => changes.auditedAction(principal, action),
    (user, address) => void people.accounts.mailLockout(user, address),
  )
  const forgetAttributes = (entityId: string): void => cache.forget(entityId)
  const limits = new LimitsOfTenants(entities, feed)
  const property = new TenantProperty(DECLARED, DECLARED_TABLES)
  const told: ChangeNotifications = {
    entityChanged: (event) => watch.entityChanged(event),
    alarmChanged: (change) => watch.alarmChanged(change),
    alarmCommented: (change, comment, isNew) => watch.alarmCommented(change, comment, isNew),
    committed: (statements) => watch.committed(statements),
  }
  const declared: EntityRegistry = new EntityRegistry(DECLARED, {
    notifications: told,
    ...{ entities, changes, feed, doubts, cleanup, clock, random, ownerOf, forgetAttributes, limits },
    hasQueue: async (tenantId, name) => (await entities.queues.findByName(tenantId, name)) !== undefined,
    ownedBy: (tenantId) => property.of(tenantId, entities, clock.now()),
    tenantStart: (tenantId) => tenantStart({ entities, clock, random, catalogue }, tenantId).statements,
    relationsGone: (tenantId, entity) => relationService.newsOfAll(tenantId, entity, true),
    alarmsUnassigned: (principal, gone) => alarms.unassignedWith(principal, gone),
  })
  const calculated: NodeCalculated = {
    mayNeed: (tenantId) => calculation?.triggers.mayNeed(tenantId) ?? false,
    handOver: (change, done) => calculation?.triggers.handOver(change, done) ?? false,
  }
  const meter = new UsageMeter()
  const attributes = new CachedAttributes(entities, cache, feed, changes, routeOf, clock, doubts, calculated)
  const telemetry = new StoredTelemetry(timeSeries, feed, changes, routeOf, clock, calculated, meter)
  const access = new PermissionTable(ownerOf, DECLARED)
  const relations = new RelationSearches((read) => entities.relations.findOf({ ...read, group: 'COMMON' }))
  const tables = queryTables(DECLARED)
  const resolver = new QueryResolver({ tables, access, attributes, relations })
  const exposure: ExposureLookup = (viewId) => exposureOf(declared.of(entityViews), viewId)
  const viewed = new ViewedTelemetry(telemetry, exposure)
  const entityQueries = new EntityQueries({
    ...{ entities, timeSeries, clock, resolver },
    latestOfView: async (id, keys) => (await viewed.latest(entityId('ENTITY_VIEW', id), keys)).value,
  })
  const tenants = new StoredTenants(entities, declared, feed)
  const devices = new StoredDevices({ entities, declared, changes, feed, doubts })
  const bulkImport = new BulkImport({ declared, devices, attributes, telemetry, clock })
  const transfers = new Transfers(entities, clock, random)
  const alarms = new AlarmService({
    ...{ entities, changes, feed, doubts, cleanup, clock, random, routeOf, forgetAttributes },
    findUser: (id) => users.find(id),
    userPage: (page) => declared.of(userDefinition).pageWhere(page),
    namesOf: manyNamesLookup(declared),
    originators: [...tables.values()],
    propagation: new Propagation(entities.relations),
    notifications: told,
    meter,
  })
  const alarmExpiry = new AlarmExpiry({
    ...{ entities, alarms, limits, clock, report },
    maxAlarms: options.maxAlarms ?? DEFAULT_MAX_ALARMS,
  })
  const texts = { isSetUp: () => sms.isSetUp(), send: tenantSms(sms, meter, outbound) }
  const people: People = createPeople({
    ...{ entities, declared, access, admin, vault, texts, report, clock, random },
    credentials: users,
  })
  const notificationSet = createNotifications({
    ...{ declared, entities, feed, doubts, vault, limits, clock, random, report },
    userSettings: people.settings,
    mail: { settings: () => admin.mailSettings(), send: sendBySmtp },
    texts,
    ttlMs: options.notificationsTtlMs ?? NOTIFICATIONS_TTL_MS,
  })
  const { notifications, triggers, watch, platformWatch, rateReached } = notificationSet
  const otaUpdates = new OtaUpdates({ entities, declared, attributes, telemetry, feed, clock, report })
  const usage = new UsageStates({
    ...{ entities, meter, limits, telemetry, feed, clock, random, report },
    news: new UsageNews({
      ...{ declared, triggers, committed: (statements) => watch.committed(statements) },
      mailer: new Mailer({ settings: () => admin.mailSettings(), send: sendBySmtp, report }),
      ...{ clock, report },
    }),
    intervalMs: options.usageIntervalMs ?? USAGE_INTERVAL_MS,
  })
  const movedDevices = new MovedDevices({ entities, feed, clock, report })
  const keptSessions = new StoredKeptSessions({ entities, clock, report })
  const nodeSecrets = new NodeSecrets(vault, catalogue)
  const ruleChains = new RuleChains({
    ...{ entities, declared, changes, feed, doubts, deployments, catalogue, clock, random, limits },
    scripts: options.scripts,
    tryNode: options.tryNode,
    secrets: nodeSecrets,
  })
  const content = createContent({
    ...{ declared, entities, users, clock, random },
    readable: (principal, dashboards) => access.allowed(principal, 'READ', 'DASHBOARD', dashboards),
  })
  const aiModels = new AiModels({ declared, entities, vault: options.vault })
  const { castStrings = true, scripts, integrationRules = NOTHING_ALLOWED } = options
  const integrations = new Integrations({
    ...{ declared, entities, vault, scripts, clock, random, castStrings },
    rules: integrationRules,
  })
  const integrationFigures = new FigureBook({
    ...{ attributes, events: events.writer, clock, report, server: options.events?.server ?? 'sole' },
  })
  const jobs = new Jobs({ declared, entities, clock, report })
  const relationService: RelationService = new RelationService({
    ...{ entities, changes, routeOf, feed, doubts, clock, random },
    follower: {
      isInterested: (tenantId): boolean => calculation?.relations.isInterested(tenantId) ?? false,
      newsOf: (...told): readonly Message[] => calculation?.relations.newsOf(...told) ?? [],
    },
  })
  const { openField } = options
  const calculation: Calculation | undefined =
    openField === undefined
      ? undefined
      : new Calculation({
          ...{ declared, attributes, telemetry: viewed, relations: relationService, alarms, limits, routeOf },
          ...{ events: events.writer, feed, link, meter, clock, random, report, open: openField },
        })
  const provisioning = new Provisioning({
    ...{ entities, declared, attributes, changes, feed, clock },
    ...(options.provisioning === undefined ? {} : { limits: options.provisioning }),
  })
  return {
    declared,
    calculated,
    calculation,
    otaUpdates,
    subscriberFeed: new ViewedFeed(feed, exposure),
    entityQueries,
    entityGroups: new EntityGroups({ entities, timeSeries, declared, relations: relationService, tables }),
    alarms,
    alarmQueries: new AlarmQueries({ entities, entityQueries, resolver, tables, clock, alarms }),
    calculatedFields: new CalculatedFields({
      ...{ declared, clock, random },
      namesOf: manyNamesLookup(declared),
      calculation,
    }),
    content,
    relations: relationService,
    farEnds: new FarEnds({ access, declared, nameOf }),
    telemetry: viewed,
    telemetryWrites: telemetry,
    bulkImport,
    fileErasure: new FileErasure({
      ...{ cleanup, entities, timeSeries, clock, deadLetters: options.deadLetters, parked: options.parked },
      logKeptMs: options.logKeptMs ?? 0,
      logBeside: options.logBeside ?? (() => Promise.resolve({ isGone: true })),
    }),
    tenantTransfer: new TenantTransfer({ entities, timeSeries, changes, feed, doubts, clock, nodeSecrets }),
    fileImport: new FileImport({ transfers, lines: bulkImport, entities }),
    attributes,
    devices,
    claims: new DeviceClaims({
      ...{ entities, declared, attributes, changes, clock, random },
      settings: options.claims ?? DEFAULT_CLAIM_SETTINGS,
    }),
    jobs,
    aiModels,
    integrations,
    integrationFigures,
    ai: new AiChats({ models: aiModels, files: new AiFiles(content.resources, clock), outbound, clock }),
    deviceMove: new DeviceMove({ entities, declared, changes, limits, feed, doubts, calls, clock, random }),
    movedDevices,
    keptSessions,
    gatewayChildren: new GatewayChildren({ entities, declared, feed, clock }),
    provisioning,
    certificateChains: new CertificateChains({ entities, declared, provisioning, devices, clock }),
    tenants,
    limits,
    meter,
    usage,
    restRates: new RestRates(limits, clock, rateReached),
    components: new Components(catalogue),
    users,
    admin,
    sms,
    people,
    notifications,
    notificationWatch: watch,
    platformWatch,
    ruleChains,
    deployments,
    chainStatistics: new ChainStatisticsReader(clock),
    chainTrials: new ChainTrialDesk(),
    queues,
    routeOf,
    queueStatistics: new QueueStatistics({
      ...{ entities, declared, telemetry, limits, clock, report, server: options.events?.server ?? 'sole' },
    }),
    deadLetters: new TenantDeadLetters(options.deadLetters),
    parked: new ParkedLanes(options.parked),
    access,
    audit,
    events,
    logins: new LoginAudit(entities, audit, clock, report),
    calls,
    persistentCalls,
    async startSecrets() {
      await admin.start()
      await people.twoFactor.sealAnew()
      await notifications.settings.sealAnew()
      await ruleChains.sealAnew()
      await aiModels.sealAnew()
      await integrations.sealAnew()
    },
    async startOutbox() {
      await calculation?.start()
      await publisher.start()
      // A deleted tenant may have left much: nobody who starts waits for it.
      cleanup.resumeLater()
      audit.start()
      events.start()
      jobs.start()
      persistentCalls.start()
      keptSessions.start()
      otaUpdates.start()
      alarmExpiry.start()
      notifications.start()
      await usage.start()
    },
    holdOutbox: () => publisher.holdEntries(),
    close: () => {
      stopFollowing()
      admin.close()
      limits.close()
      calculation?.close()
      persistentCalls.close()
      answers.close()
      doubts.close()
      users.close()
      const counted = usage.close()
      const others = [
        counted,
        integrationFigures.close(),
        // Else the texts that go out until then would find no provider, and count as failed.
        notificationSet.close().finally(() => sms.close()),
        events.close(),
        otaUpdates.close(),
        jobs.close(),
        audit.close(),
        movedDevices.close(),
        keptSessions.close(),
        alarmExpiry.close(),
      ]
      const closing = [publisher.close(), cleanup.close(), ...others]
      return Promise.all(closing).then(() => undefined)
    },
  }
}

function defaultOutbound(clock: Clock): Outbound {
  return new Outbound({ clock, settings: DEFAULT_OUTBOUND_SETTINGS })
}
