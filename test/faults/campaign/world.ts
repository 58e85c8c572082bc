/** What a fault of the campaign can lay hands on: the processes of one shape of Millrace, its servers, and the lines between. */
import type { FaultProxy } from '../../support/fault-proxy.ts'
import type { RunLog } from '../../support/run-log/index.ts'
import type { NatsRoute, RunningServer, StoreServer } from '../../support/servers/index.ts'
import type { Member } from './member.ts'
import type { TransportAddress } from './steady-load.ts'

export type Shape = 'production' | 'nats-cluster' | 'embedded'

export interface World {
  readonly shape: Shape
  readonly transports: readonly Member[]
  readonly engines: readonly Member[]
  readonly api: Member
  /** Every Millrace process once. */
  readonly members: readonly Member[]
  /** Of a NATS cluster every node. */
  readonly servers: Readonly<Record<StoreServer, readonly RunningServer[]>>
  /** The lines to a server, one a member; none where members are connected without a proxy. */
  lines(server: StoreServer, members?: readonly Member[]): readonly FaultProxy[]
  /** Where devices connect, a transport each. */
  readonly addresses: readonly TransportAddress[]
  /** The MQTT lines of devices, one a transport; none where they connect without a proxy. */
  readonly deviceLines: readonly FaultProxy[]
  /** The lines between the nodes of a NATS cluster; none elsewhere. */
  readonly natsRoutes: readonly NatsRoute[]
  /** The log of runs, where every message goes through its node. */
  readonly runLog: RunLog | undefined
  /** One more engine, until it is stopped. */
  addEngine(): Promise<Member>
  /** The folder of a disk of its own below the data, where the world was made with one. */
  readonly smallDisk: string | undefined
  close(): Promise<void>
}
