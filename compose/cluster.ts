/** This process among the others: the one connection to NATS, who else lives, and the changes of all of them. */
import { errorText } from '../model/errors.ts'
import type { Log } from '../model/log.ts'
import { systemClock, systemRandom } from '../model/system-clock.ts'
import type { MetricsSource } from '../api/metrics.ts'
import { withoutPasswords } from '../config/define.ts'
import type { Config } from '../config/settings.ts'
import { soleMember, type Member, type Membership } from '../engine/cluster/membership.ts'
import type { ClusterBus } from '../engine/cluster/bus.ts'
import type { NatsLine } from '../engine/cluster/nats-connection.ts'
import { localDeviceLine, type DeviceLine } from '../engine/device/announcement.ts'
import { createCallLine, type CallLine } from '../engine/device/calls/line.ts'
import { partitionOwners, soleOwner, type PartitionOwners } from '../engine/device/partition-owners.ts'
import { createChangeFeed } from '../engine/subscriptions/change-feed.ts'
import type { ChangeFeed } from '../engine/subscriptions/change.ts'
import type { Closing } from './closing.ts'

export interface Cluster {
  readonly membership: Membership
  readonly feed: ChangeFeed
  /** Between sessions of devices and their owners. */
  readonly deviceLine: DeviceLine
  /** Between callers, owners and transports. */
  readonly callLine: CallLine
  readonly owners: PartitionOwners
  /** Undefined where this process is alone, as is the bus. */
  readonly line: NatsLine | undefined
  readonly bus: ClusterBus | undefined
  readonly metricsSources: readonly MetricsSource[]
}

/** Alone with `LINK=segment-log`. Throws `nats.UNREACHABLE`, `nats.REFUSED`, `nats.UNTRUSTED`. */
export async function openCluster(config: Config, log: Log, closing: Closing): Promise<Cluster> {
  const self: Member = { id: systemRandom.uuid(), roles: config.roles, startedAt: systemClock.now() }
  const listenerThrew = (error: unknown): void => log.error('a change listener threw', { reason: errorText(error) })
  if (config.link === 'segment-log') {
    return {
      membership: soleMember(self),
      feed: createChangeFeed(listenerThrew),
      deviceLine: localDeviceLine(self.id),
      callLine: createCallLine({ self: self.id, clock: systemClock }),
      owners: soleOwner(self.id),
      line: undefined,
      bus: undefined,
      metricsSources: [],
    }
  }
  // Loaded only here: the embedded default starts without a client of NATS.
  const [{ connectNats }, { natsBus }, { openMembership }, { openClusterChangeFeed }, lines] = await Promise.all([
    import('../engine/cluster/nats-connection.ts'),
    import('../engine/cluster/nats-bus.ts'),
    import('../engine/cluster/nats-membership.ts'),
    import('../engine/cluster/cluster-change-feed.ts'),
    import('../engine/device/cluster-line.ts'),
  ])
  const line = await connectNats({
    servers: config.natsUrl,
    credsFile: config.natsCredsFile,
    tls: { caFile: config.natsCaFile, certFile: config.natsCertFile, keyFile: config.natsKeyFile },
    name: `millrace ${config.roles.join(',')} ${self.id}`,
    clock: systemClock,
  })
  const stopListening = line.onConnection((connected) => {
    if (connected) log.info('NATS is back: what waited goes on')
    else
      log.error('NATS is away: nothing is acknowledged until it is back', { servers: withoutPasswords(config.natsUrl) })
  })
  closing.add('NATS', () => {
    stopListening()
    return line.close()
  })
  const bus = natsBus(line, (error) =>
    log.error('a message of another process was not heard', { reason: errorText(error) }),
  )
  const membership = await openMembership({ bus, cluster: config.natsPrefix, self, clock: systemClock })
  closing.add('membership', () => membership.close())
  const feed = await openClusterChangeFeed({
    bus,
    membership,
    cluster: config.natsPrefix,
    clock: systemClock,
    report: listenerThrew,
  })
  closing.add('change feed', () => feed.close())
  const deviceLine = lines.clusterDeviceLine({ bus, cluster: config.natsPrefix, self: self.id })
  closing.add('device line', () => deviceLine.close())
  const callLine = createCallLine({
    self: self.id,
    clock: systemClock,
    cluster: { bus, prefix: config.natsPrefix },
  })
  closing.add('call line', () => Promise.resolve(callLine.close()))
  return {
    membership,
    feed,
    deviceLine,
    callLine,
    owners: partitionOwners({
      membership,
      partitions: config.queuePartitions,
      streams: config.natsStreams,
      connection: bus,
    }),
    line,
    bus,
    metricsSources: [
      {
        name: 'device_line',
        figures: () => ({ sent_messages_total: deviceLine.figures.sent, lost_messages_total: deviceLine.figures.lost }),
      },
      {
        name: 'cluster',
        figures: () => {
          const { sent, received, refused, gaps, unsettled } = feed.figures()
          return {
            members: membership.members().length,
            connected: membership.isConnected ? 1 : 0,
            sent_changes_total: sent,
            received_changes_total: received,
            refused_messages_total: refused,
            gaps_total: gaps,
            unsettled_waits_total: unsettled,
          }
        },
      },
    ],
  }
}
