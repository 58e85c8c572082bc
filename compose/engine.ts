/** The role `engine`: takes messages from the link through the rule chains. */
import { systemClock, systemRandom } from '../model/system-clock.ts'
import type { SystemLog } from '../logging/log.ts'
import { RateLimitedLog } from '../logging/rate-limited-log.ts'
import type { Config } from '../config/settings.ts'
import type { ActorSystem } from '../engine/actor/system.ts'
import type { Parking } from '../engine/parking/parking.ts'
import { createRuleEngine, type RuleEngine } from '../engine/rulechain/rule-engine.ts'
import type { NodeCatalogue } from '../engine/rulechain/node.ts'
import type { ScriptHost } from '../engine/script/script.ts'
import type { ChangeFeed } from '../engine/subscriptions/change.ts'
import { USAGE } from '../engine/usage/usage.ts'
import { NotedChainEvents } from '../services/events/chain-events.ts'
import { calculationChain } from '../services/calculated-fields/runtime/runtime.ts'
import { nodeCapabilitiesOf } from '../services/node-capabilities.ts'
import { KnownEntities } from '../services/node-capabilities/known-entities.ts'
import { KnownRelations } from '../services/node-capabilities/known-relations.ts'
import { OwnEntities } from '../services/node-capabilities/own-entities.ts'
import type { Outbound } from '../services/outbound/outbound.ts'
import type { Services } from '../services/services.ts'
import type { Closing } from './closing.ts'
import type { Cluster } from './cluster.ts'
import type { DeviceOwner } from '../engine/device/owner/device-owner.ts'
import { Trials } from '../workbench/trial/trials.ts'
import { openNodeStates } from './node-states.ts'
import type { AggregationWorkers } from '../engine/workers/aggregation/aggregation-workers.ts'
import type { NodeStates } from '../engine/state/node-states.ts'
import { notedLink } from './noted-link.ts'
import { QueueDeployment } from './queue-deployment.ts'
import { repeat } from './repeat.ts'
import { openAggregation } from './aggregation.ts'
import { openCustomTables } from './custom-tables.ts'
import { openQueues, type OpenedQueues } from './opened-queues.ts'
import { RuleChainDeployment } from './rule-chain-deployment.ts'
import { stampsOf } from './stamps.ts'
import type { Stores } from './stores.ts'

export interface EngineParts {
  readonly config: Config
  readonly log: SystemLog
  readonly closing: Closing
  readonly cluster: Cluster
  readonly stores: Stores
  readonly services: Services
  readonly catalogue: NodeCatalogue
  readonly outbound: Outbound
  readonly scripts: ScriptHost
  readonly feed: ChangeFeed
  readonly actors: ActorSystem
  readonly devices: Pick<DeviceOwner, 'delivered' | 'report'>
  /** Undefined where parked messages have no store. */
  readonly parking: Parking | undefined
}

export interface RunningEngine {
  readonly engine: RuleEngine
  readonly queues: OpenedQueues
  readonly outbound: Outbound
  readonly states: NodeStates
  readonly aggregation: AggregationWorkers
}

/** As the reference writes them. */
const STATISTICS_INTERVAL_MS = 3_600_000
const QUEUE_STATISTICS_INTERVAL_MS = 60_000

/** Resolves once every chain is loaded and messages are taken. */
export async function startEngine(parts: EngineParts): Promise<RunningEngine> {
  const { config, log, closing, stores, services, catalogue, outbound, scripts } = parts
  const { feed, actors, devices, parking } = parts
  const nodeLog = new RateLimitedLog(log, systemClock, config.nodeLogLinesPerSecond)
  closing.add('node log', () => nodeLog.close())
  const { states, visits } = openNodeStates({ ...parts, nodeLog })
  const events = new NotedChainEvents(services.events.writer, systemClock, (step) =>
    services.platformWatch.componentChanged(step),
  )
  const own = new OwnEntities(services, feed)
  const known = { entities: new KnownEntities(feed), relations: new KnownRelations(feed) }
  closing.add('what nodes asked for', () => {
    for (const cache of [own, known.entities, known.relations]) cache.close()
    return Promise.resolve()
  })
  // Resolves when other processes know of these listeners too.
  await services.movedDevices.start()
  const tables = openCustomTables(config, log, closing)
  const aggregation = openAggregation(config, closing)
  const capabilities = nodeCapabilitiesOf({
    ...{ own, known, states, visits, services, scripts, owner: devices, outbound, tables },
    aggregation,
  })
  const engine = createRuleEngine({
    catalogue: services.calculation?.catalogue(catalogue) ?? catalogue,
    ownChain: (tenantId, ruleChainId) => (ruleChainId === tenantId ? calculationChain(tenantId) : undefined),
    capabilities,
    clock: systemClock,
    random: systemRandom,
    actors,
    link: stores.link,
    deferral: states,
    meter: services.meter,
    events,
    storedGraph: (tenantId, id) => services.ruleChains.sealedGraph(tenantId, id),
    storedChain: (tenantId, id) => services.ruleChains.find(tenantId, id),
    openConfiguration: services.ruleChains.openConfiguration,
    log: (level, text, fields) => nodeLog[level](text, fields),
    settings: {
      nodeTimeoutMs: config.ruleNodeTimeoutMs,
      nodes: {
        castStrings: config.castStrings,
        logsInfo: config.logLevel === 'debug' || config.logLevel === 'info',
      },
    },
  })
  closing.add('rule engine', () => engine.close())
  services.meter.follow(function* () {
    for (const [tenantId, count] of engine.takeExecutions()) yield [tenantId, USAGE.ruleEngineExecutions, count]
  })
  const deployment = new RuleChainDeployment(services.ruleChains, engine, log, systemClock, events)
  closing.add('rule chain deployment', () => deployment.close())
  const trials = new Trials({
    ...{ link: stores.link, catalogue, capabilities, clock: systemClock, random: systemRandom },
    observer: () => stampsOf(config),
    openConfiguration: services.ruleChains.openConfiguration,
    maskConfiguration: services.ruleChains.maskConfiguration,
  })
  closing.add('trials of rule chains', () => trials.close())
  services.chainTrials.follow(trials)
  services.chainStatistics.follow((ruleChainId) => engine.statistics(ruleChainId))
  services.deployments.follow('RULE_CHAIN', (id) => deployment.deployment(id))
  await deployment.start(feed)
  await services.calculation?.start()
  // What wants to be woken finds its node.
  await services.calculation?.followTenants((tenantId) => engine.startOwn(tenantId, tenantId))
  const queues = openQueues({
    link: notedLink(stores.link, (batch) => devices.delivered(batch)),
    processor: engine,
    clock: systemClock,
    parking,
    settings: {
      tenantShare: config.queueTenantRoomPercent / 100,
      crowdingTimeoutMs: config.queueCrowdingTimeoutMs,
      triesBeforeParking: config.queueTriesBeforeParking,
      ...(config.queueStrictOrder ? { maxInFlightPerOriginator: 1 } : {}),
    },
    onOutage: outageReport(nodeLog),
  })
  closing.add('queues', () => queues.close())
  const queueDeployment = new QueueDeployment({ queues: services.queues, runtime: queues, clock: systemClock, log })
  closing.add('queue deployment', () => queueDeployment.close())
  services.deployments.follow('QUEUE', () => queueDeployment.settled())
  await queueDeployment.start(feed)
  const statistics = repeat(systemClock, STATISTICS_INTERVAL_MS, () => events.statistics(engine.figures()))
  closing.add('statistics of chains', () => Promise.resolve(statistics.close()))
  let writing: Promise<void> | undefined
  const queueStatistics = repeat(systemClock, QUEUE_STATISTICS_INTERVAL_MS, () => {
    // What comes while the last ones are written waits in the queues.
    writing ??= services.queueStatistics.write(queues.takeTenantCounts()).finally(() => (writing = undefined))
  })
  closing.add('queue statistics', async () => {
    queueStatistics.close()
    await writing
  })
  return { engine, queues, outbound, states, aggregation: aggregation.workers }
}

/** A line when a queue's outage begins and one when it is over, at a bounded rate: a store at its limit comes and goes. */
function outageReport(log: RateLimitedLog) {
  return (queue: string, failure: Error | undefined): void => {
    if (failure === undefined) log.info('an outage is over: the messages that waited go on', { queue })
    else log.error('messages wait for what is away or full', { queue, reason: failure.message })
  }
}
