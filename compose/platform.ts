/** The composition root: builds each part in the order of the arrows, wires them, and closes them in reverse. */
import { errorText } from '../model/errors.ts'
import { systemClock, systemRandom } from '../model/system-clock.ts'
import type { SystemLog } from '../logging/log.ts'
import { RateLimitedLog } from '../logging/rate-limited-log.ts'
import type { Config } from '../config/settings.ts'
import { createActorSystem } from '../engine/actor/system.ts'
import { createDeviceGateway } from '../engine/device/device-gateway.ts'
import { MAX_AHEAD_MS } from '../engine/device/device-record.ts'
import { createQueue } from '../engine/queue/queue.ts'
import { createRuleEngine } from '../engine/rulechain/rule-engine.ts'
import { createScriptHost } from '../engine/script/host.ts'
import { createJavaScriptWorkers } from '../engine/script/javascript/javascript-workers.ts'
import { createChangeFeed } from '../engine/subscriptions/change-feed.ts'
import type { ChangeFeed } from '../engine/subscriptions/change.ts'
import { catalogue } from '../nodes/catalogue.ts'
import { createServices } from '../services/create-services.ts'
import { nodeServicesOf } from '../services/node-services.ts'
import { seedDemo, seedMinimal } from '../services/seed.ts'
import type { Services } from '../services/services.ts'
import { Closing } from './closing.ts'
import { openEdges, type Ports } from './edges.ts'
import { figuresOf } from './figures.ts'
import { refuseDemoLoginsInPublic } from './public-address.ts'
import { RuleChainDeployment } from './rule-chain-deployment.ts'
import { openStores, type Stores } from './stores.ts'

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
  const closing = new Closing(log)
  try {
    const stores = await openStores(config, log, closing, onFatal)
    // The run before had ended when the data folder was taken: none of its times is later.
    const timesNotBefore = systemClock.now() + MAX_AHEAD_MS
    const feed = createChangeFeed((error) => log.error('a change listener threw', { reason: errorText(error) }))
    const stored = createServices({
      entities: stores.entities,
      timeSeries: stores.timeSeries,
      feed,
      link: stores.link,
      deadLetters: stores.link.deadLetters,
      clock: systemClock,
      random: systemRandom,
      catalogue,
      cacheAttributes: config.cacheAttributes,
      report: (text, fields) => log.error(text, fields),
    })
    closing.add('services', () => stored.close())
    const seeded = await seed(config, stores)
    await refuseDemoLoginsInPublic(config, stored.users)
    const engine = await startEngine({ config, log, closing, stores, services: stored, feed, timesNotBefore })
    const ports = await openEdges({
      config,
      version,
      log,
      closing,
      stores,
      services: { ...engine.services, close: () => stored.close() },
      gateway: engine.gateway,
      feed,
      metricsSources: engine.metricsSources,
      demo: seeded.demo,
    })
    return { ports, ...seeded, close: () => closing.run() }
  } catch (error) {
    await closing.run()
    throw error
  }
}

async function seed(config: Config, stores: Stores): Promise<{ demo: boolean; oneTimePassword: string | undefined }> {
  const options = { entities: stores.entities, clock: systemClock, random: systemRandom, catalogue }
  const { settings } = stores.entities
  if (config.demo) {
    if (await seedDemo(options)) await settings.put(DEMO_SETTING, true)
    return { demo: (await settings.find(DEMO_SETTING)) === true, oneTimePassword: undefined }
  }
  const login = await seedMinimal(options)
  return { demo: (await settings.find(DEMO_SETTING)) === true, oneTimePassword: login?.password }
}

interface EngineParts {
  readonly config: Config
  readonly log: SystemLog
  readonly closing: Closing
  readonly stores: Stores
  readonly services: Services
  readonly feed: ChangeFeed
  /** Unix ms. */
  readonly timesNotBefore: number
}

async function startEngine({ config, log, closing, stores, services, feed, timesNotBefore }: EngineParts) {
  const actors = createActorSystem({
    clock: systemClock,
    random: systemRandom,
    onError: ({ error, ...failure }) => log.error('an actor failed', { ...failure, reason: errorText(error) }),
  })
  closing.add('actors', () => actors.close())
  const javaScript = createJavaScriptWorkers({
    clock: systemClock,
    threads: config.jsThreads,
    memoryLimitMb: config.jsMemoryMb,
    timeoutMs: config.jsMaxCpuTimeMs,
    queueBound: config.jsQueueBound,
  })
  closing.add('JavaScript workers', () => javaScript.close())
  const nodeLog = new RateLimitedLog(log, systemClock, config.nodeLogLinesPerSecond)
  closing.add('node log', () => nodeLog.close())
  const scripts = createScriptHost({
    tbel: { timeoutMs: config.tbelTimeoutMs, memoryBytes: config.tbelMemoryMb * 2 ** 20 },
    javaScript: (source) => javaScript.compile(source),
    clock: systemClock,
    random: systemRandom,
  })
  const engine = createRuleEngine({
    catalogue,
    services: nodeServicesOf(services, scripts),
    clock: systemClock,
    random: systemRandom,
    actors,
    link: stores.link,
    log: (level, text, fields) => nodeLog[level](text, fields),
    settings: {
      nodes: {
        castStrings: config.castStrings,
        logsInfo: config.logLevel === 'debug' || config.logLevel === 'info',
      },
    },
  })
  closing.add('rule engine', () => engine.close())
  const deployment = new RuleChainDeployment(services.ruleChains, engine, log)
  closing.add('rule chain deployment', () => deployment.close())
  await deployment.start(feed)
  const queue = createQueue({
    link: stores.link,
    processor: engine,
    clock: systemClock,
    settings: {
      retries: config.queueRetries,
      pauseBetweenRetriesMs: config.queueRetryPauseSeconds * 1000,
      maxPauseBetweenRetriesMs: config.queueMaxRetryPauseSeconds * 1000,
      processingTimeoutMs: config.queueTimeoutMs,
    },
    // Through the log that bounds its rate: a store at its limit comes and goes.
    onOutage: (failure) => {
      if (failure === undefined) nodeLog.info('an outage is over: the messages that waited go on')
      else nodeLog.error('messages wait for what is away or full', { reason: failure.message })
    },
  })
  closing.add('queue', () => queue.close())
  await services.startOutbox()
  const gateway = createDeviceGateway({
    link: stores.link,
    directory: { findByAccessToken: (token) => services.devices.findByAccessToken(token) },
    attributes: services.attributes,
    feed,
    clock: systemClock,
    random: systemRandom,
    actors,
    settings: {
      inactivityTimeoutMs: config.inactivityTimeoutSeconds * 1000,
      stateCheckIntervalMs: config.stateCheckSeconds * 1000,
    },
    timesNotBefore,
  })
  closing.add('device gateway', () => gateway.close())
  return {
    gateway,
    services: { ...services, ruleChains: deployment.deployedService() },
    metricsSources: figuresOf({
      link: stores.link,
      timeSeries: stores.timeSeries,
      actors,
      engine,
      javaScript,
      queue,
      gateway,
    }),
  }
}
