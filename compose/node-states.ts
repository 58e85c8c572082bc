/** What rule nodes remember: in the entity store, in the partitions that the link says are this process's. */
import { hostname } from 'node:os'
import { systemClock } from '../model/system-clock.ts'
import type { RateLimitedLog } from '../logging/rate-limited-log.ts'
import type { Config } from '../config/settings.ts'
import { partitionOf, streamOf } from '../engine/link/partition.ts'
import { NodeStates } from '../engine/state/node-states.ts'
import type { ChangeFeed } from '../engine/subscriptions/change.ts'
import { AlarmVisits } from '../services/alarms/visits.ts'
import { StoredNodeStates } from '../services/node-states.ts'
import type { Closing } from './closing.ts'
import type { Cluster } from './cluster.ts'
import type { Stores } from './stores.ts'

export interface NodeStatesParts {
  readonly config: Config
  readonly closing: Closing
  readonly cluster: Cluster
  readonly stores: Stores
  readonly feed: ChangeFeed
  readonly nodeLog: RateLimitedLog
}

/** What rule nodes remember: their states, and what came of their visits that changed alarms. */
export interface NodeMemory {
  readonly states: NodeStates
  readonly visits: AlarmVisits
}

/** Before the link is read: what it delivers finds the states of its partition. */
export function openNodeStates({ config, closing, cluster, stores, feed, nodeLog }: NodeStatesParts): NodeMemory {
  const { link, entities } = stores
  const isAlone = cluster.line === undefined
  const name = isAlone ? 'segment-log' : `nats ${config.natsPrefix}`
  const log = {
    streamOf: isAlone ? () => 0 : (id: string) => streamOf(partitionOf(id, config.queuePartitions), config.natsStreams),
    settledBelow: (stream: number) => link.settledBelow(stream),
  }
  const report = (text: string, fields: Readonly<Record<string, unknown>>): void => nodeLog.error(text, fields)
  const store = new StoredNodeStates({
    ...{ entities, clock: systemClock, report, log: name },
    self: cluster.membership.self.id,
  })
  const fence = (stream: number) => store.fence(stream)
  const visits = new AlarmVisits({ entities, clock: systemClock, report, log: { ...log, name, fence } })
  const states = new NodeStates({
    store,
    clock: systemClock,
    serviceId: config.serviceId ?? hostname(),
    log: {
      publish: (message, receipt) => link.publish(message, receipt),
      checkFits: (message) => link.checkFits(message),
      ...log,
    },
    report: (level, text, fields) => nodeLog[level](text, fields),
    settings: { maxTenantBytes: config.nodeStateTenantMiB * 2 ** 20 },
  })
  link.watch({
    // Alone, whoever has the data folder owns it all, and each start is a new owner.
    taken: async (stream, isHeld, epoch) => {
      await states.taken(stream, isHeld, isAlone ? undefined : epoch)
      visits.forget(stream)
    },
    ...(isAlone ? {} : { epochOf: (stream: number) => states.epochOf(stream) }),
    gone: (stream) => {
      states.gone(stream)
      visits.forget(stream)
    },
  })
  const stopListening = feed.listenToAll(['entity-deleted', 'device-changed'], (change) => {
    if (change.kind === 'entity-deleted') states.forget(change.entity, change.tenantId)
    // Its rows went with its tenant before.
    else if (change.hasMoved === true) states.forget(change.entity)
  })
  store.start()
  visits.start()
  closing.add('node states', async () => {
    stopListening()
    await states.close()
    await store.close()
    await visits.close()
  })
  return { states, visits }
}
