/** The one policy for all that nodes call outside, and the clients they do it with. */
import type { Clock } from '../../model/clock.ts'
import type { NodeIdentity } from '../../engine/rulechain/capabilities.ts'
import type {
  NodeOutbound,
  OutboundClient,
  OutboundKind,
  OutboundKinds,
  OutboundLimits,
} from '../../engine/rulechain/capabilities/outbound.ts'
import { AddressGuard, type Resolve } from './address-guard.ts'
import { CallRoom, type RoomFigures, type RoomLimits } from './call-room.ts'
import { LOADERS } from './clients.ts'
import { OutboundErrors } from './errors.ts'
import { hiddenSecrets } from './hidden-secrets.ts'
import { SharedTurns } from './shared-turns.ts'
import { ManagedClient } from './managed-client.ts'

export interface OutboundSettings extends RoomLimits {
  /** Internal addresses and networks that nodes may call. */
  readonly allowedAddresses: readonly string[]
  /** Addresses, networks and names of hosts that they may not, whatever allows them. */
  readonly deniedAddresses: readonly string[]
  /** Longest call. */
  readonly timeoutMs: number
  /** Of one node at a time, where the node does not say. */
  readonly nodeCalls: number
  /** Nodes of one tenant with a client. */
  readonly tenantClients: number
  readonly forceAck: boolean
  readonly serviceId: string
}

export const DEFAULT_OUTBOUND_SETTINGS: OutboundSettings = {
  allowedAddresses: [],
  deniedAddresses: [],
  timeoutMs: 15_000,
  calls: 2000,
  bytes: 128 * 2 ** 20,
  tenantCalls: 200,
  tenantBytes: 32 * 2 ** 20,
  tenantWaiting: 10_000,
  nodeCalls: 100,
  tenantClients: 200,
  forceAck: false,
  serviceId: 'sole',
}

/** Of a call that no message waits for: models of artificial intelligence think for long. */
const LONGEST_MS = 600_000

/** Set up by the system administrator for all tenants; one that hangs holds up no other. */
export type SharedService = 'mail' | 'sms'

/** Of one service that all tenants share: connections to it, and what waits for them. */
const SHARED_ROOM: RoomLimits = {
  ...{ calls: 16, bytes: 64 * 2 ** 20 },
  ...{ tenantCalls: 4, tenantBytes: 16 * 2 ** 20, tenantWaiting: 1000 },
}

export interface OutboundParts {
  readonly clock: Clock
  readonly settings: OutboundSettings
  /** Names to addresses; the system's by default. */
  readonly resolve?: Resolve
}

export type OutboundFigures = RoomFigures & { readonly clients: number }

export class Outbound {
  readonly guard: AddressGuard
  private readonly parts: OutboundParts
  private readonly room: CallRoom
  private readonly shared: Readonly<Record<SharedService, SharedTurns>>
  /** How many clients each tenant has. */
  private readonly clients = new Map<string, number>()

  constructor(parts: OutboundParts) {
    this.parts = parts
    this.guard = new AddressGuard(parts.settings.allowedAddresses, parts.resolve, parts.settings.deniedAddresses)
    this.room = new CallRoom(parts.settings)
    const turns = () => new SharedTurns(parts.clock, parts.settings.timeoutMs, SHARED_ROOM)
    this.shared = { mail: turns(), sms: turns() }
  }

  get figures(): OutboundFigures {
    return { ...this.room.figures, clients: [...this.clients.values()].reduce((sum, count) => sum + count, 0) }
  }

  /** What a node sees of it. */
  readonly ofNode = ({ tenantId, secrets = [] }: Pick<NodeIdentity, 'tenantId' | 'secrets'>): NodeOutbound => ({
    forceAck: this.parts.settings.forceAck,
    serviceId: this.parts.settings.serviceId,
    open: (kind, settings, limits) => this.open({ tenantId, secrets }, kind, settings, limits),
  })

  /**
   * Runs what calls a service that all tenants share, such as the system's mail server: a tenant has a part of the places. Throws `TIMEOUT` where
   * none is free in time, `CALL_TOO_BIG`, `TENANT_FULL`.
   */
  inTurn<Result>(service: SharedService, tenantId: string, bytes: number, run: () => Promise<Result>): Promise<Result> {
    return this.shared[service].inTurn(tenantId, bytes, run)
  }

  private open<Kind extends OutboundKind>(
    { tenantId, secrets }: Required<Pick<NodeIdentity, 'tenantId' | 'secrets'>>,
    kind: Kind,
    settings: OutboundKinds[Kind]['settings'],
    { parallel = 0, timeoutMs = 0, isAwaited = true }: OutboundLimits = {},
  ): OutboundClient<OutboundKinds[Kind]['call'], OutboundKinds[Kind]['answer']> {
    const { clock, settings: policy } = this.parts
    const { guard } = this
    const closed = this.countClient(tenantId, policy.tenantClients)
    return new ManagedClient({
      tenantId,
      room: this.room,
      clock,
      parallel: parallel === 0 ? policy.nodeCalls : parallel,
      timeoutMs: timeoutMs === 0 ? policy.timeoutMs : Math.min(timeoutMs, isAwaited ? policy.timeoutMs : LONGEST_MS),
      open: async (closing) => {
        const openClient = await LOADERS[kind]()
        return openClient(settings, { guard, clock, closing, answerLimit: this.room.answerLimit })
      },
      hide: hiddenSecrets(settings, secrets),
      closed,
    })
  }

  /** Throws `TOO_MANY_CLIENTS`. */
  private countClient(tenantId: string, limit: number): () => void {
    const count = this.clients.get(tenantId) ?? 0
    if (count >= limit) throw OutboundErrors.TOO_MANY_CLIENTS({ count, limit })
    this.clients.set(tenantId, count + 1)
    return () => {
      const left = (this.clients.get(tenantId) ?? 1) - 1
      if (left === 0) this.clients.delete(tenantId)
      else this.clients.set(tenantId, left)
    }
  }
}
