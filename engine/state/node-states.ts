/**
 * The states of all nodes in the partitions of this process: who owns which comes from the log. What a node remembers moves with the
 * partition, and with it the time at which it wants to be woken and the messages that it sends later.
 */
import type { Clock } from '../../model/clock.ts'
import type { EntityId } from '../../model/entity-id.ts'
import { errorText, isMillraceError } from '../../model/errors.ts'
import type { JsonValue } from '../../model/json.ts'
import type { Message } from '../../model/message.ts'
import type { PublishReceipt } from '../link/link.ts'
import type { DeferredMessage, Deferral } from '../rulechain/deferral.ts'
import type { NodeIdentity } from '../rulechain/capabilities.ts'
import type { KeyedNode, NodeState } from '../rulechain/capabilities/state.ts'
import type { NodeInstance } from '../rulechain/node-instance.ts'
import type { StateEntry } from './entry.ts'
import { StateErrors } from './errors.ts'
import { KeyedInstance, type KeyedHost, type StatefulInstance } from './keyed-instance.ts'
import type { OutgoingLink } from './outgoing.ts'
import { StatePartition, type PartitionHost } from './partition.ts'
import type { NodeStateStore, StoredOutput } from './store.ts'
import { TenantBytes } from './tenant-bytes.ts'

/** What the states must know of the log. */
export interface StateLog extends OutgoingLink {
  streamOf(originatorId: string): number
  /** Messages of the stream below it are settled durably; 0 where that is not known. */
  settledBelow(stream: number): number
}

export interface NodeStatesSettings {
  /** Of one tenant, in all its nodes. */
  readonly maxTenantBytes: number
  /** Of one state. */
  readonly maxStateBytes: number
  /** States in memory, of a partition; those that are not are read again. */
  readonly maxEntries: number
}

export const DEFAULT_NODE_STATES_SETTINGS: NodeStatesSettings = {
  maxTenantBytes: 256 * 2 ** 20,
  maxStateBytes: 2 ** 20,
  maxEntries: 50_000,
}

export interface NodeStatesOptions {
  readonly store: NodeStateStore
  readonly log: StateLog
  readonly clock: Clock
  readonly serviceId: string
  readonly settings?: Partial<NodeStatesSettings>
  report(level: 'warn' | 'error', text: string, fields: Readonly<Record<string, unknown>>): void
}

export interface NodeStateFigures {
  /** Owned by this process. */
  readonly partitions: number
  /** In memory. */
  readonly states: number
  /** Of nodes, handed to the log and not answered. */
  readonly underWay: number
}

export class NodeStates implements KeyedHost, PartitionHost, Deferral {
  readonly clock: Clock
  readonly link: OutgoingLink
  private readonly options: NodeStatesOptions
  private readonly settings: NodeStatesSettings
  private readonly owned = new Map<number, StatePartition>()
  private readonly instances = new Map<string, StatefulInstance>()
  private readonly tenants: TenantBytes
  /** Counts what was taken. */
  private stays = 0
  private isClosed = false

  constructor(options: NodeStatesOptions) {
    this.options = options
    this.clock = options.clock
    this.link = options.log
    this.settings = { ...DEFAULT_NODE_STATES_SETTINGS, ...options.settings }
    this.tenants = new TenantBytes(options.store, options.clock)
  }

  /**
   * The stream is this process's, under this epoch of the log; without one it is nobody else's, ever. Resolves when nobody else can commit
   * to it; rejects where the store does not answer.
   */
  async taken(stream: number, isHeld: () => boolean = () => true, epoch?: number): Promise<void> {
    const { store } = this.options
    const claimed = await store.claim(stream, epoch)
    const partition = new StatePartition(stream, ++this.stays, claimed, this, this.settings.maxEntries)
    if (!isHeld() || this.isClosed) return
    await partition.begin()
    if (!isHeld() || this.isClosed) return partition.drop(StateErrors.NOT_OWNED({ partition: stream }))
    this.gone(stream)
    this.owned.set(stream, partition)
    for (const instance of this.instances.values()) this.begin(instance, partition)
  }

  epochOf(stream: number): Promise<number> {
    return this.options.store.epochOf(stream)
  }

  gone(stream: number): void {
    const partition = this.owned.get(stream)
    this.owned.delete(stream)
    partition?.drop(StateErrors.NOT_OWNED({ partition: stream }))
  }

  /** What a node asks for when it is made. */
  of(identity: NodeIdentity): NodeState {
    return {
      serviceId: this.options.serviceId,
      keyed: <State extends JsonValue, Known>(node: KeyedNode<State, Known>): NodeInstance => {
        const instance = new KeyedInstance(identity, node, this)
        this.instances.set(identity.ruleNodeId, instance)
        for (const partition of this.owned.values()) this.begin(instance, partition)
        return instance
      },
      stayOf: (originatorId) => this.owned.get(this.streamOf(originatorId))?.stay,
      partitionOf: (originatorId) => this.streamOf(originatorId),
      waiting: () => {
        let waiting = 0
        for (const partition of this.owned.values()) waiting += partition.waitingOf(identity.ruleNodeId)
        return waiting
      },
    }
  }

  /** Keeps a message for later; told when it is durable. */
  defer({ message, at, node, originatorId }: DeferredMessage, receipt: PublishReceipt): void {
    const stream = this.streamOf(originatorId)
    const partition = this.owned.get(stream)
    if (partition === undefined) return receipt.refused(StateErrors.NOT_OWNED({ partition: stream }))
    const put = (): void => {
      const text = this.encode(message)
      const { tenantId, ruleChainId, ruleNodeId } = node
      const place = { tenantId, ruleChainId, ruleNodeId, entityId: message.originator.id }
      const stored: StoredOutput = { ...place, id: message.id, due: at, message: text, bytes: text.length }
      try {
        this.checkRoom(tenantId, node.ruleNodeName, 0, text.length)
      } catch (error) {
        // A full tenant is no outage: nobody waits until it has room.
        const reason = { node: node.ruleNodeName, reason: errorText(error) }
        return receipt.refused(isMillraceError(error) ? error : StateErrors.UNAVAILABLE(reason, error))
      }
      this.grew(tenantId, text.length)
      partition.send([{ message, stored }]).whenDone((refusal) => {
        if (refusal === undefined) receipt.stored()
        else receipt.refused(StateErrors.UNAVAILABLE({ node: node.ruleNodeName, reason: refusal.message }, refusal))
      })
    }
    const known = this.knowTenant(node.tenantId)
    if (known === undefined) return put()
    known.then(put, (error: unknown) =>
      receipt.refused(StateErrors.UNAVAILABLE({ node: node.ruleNodeName, reason: errorText(error) }, error)),
    )
  }

  /** An entity was deleted or became another tenant's, and its states went. */
  forget({ entityType, id }: EntityId, tenantId?: string): void {
    // Alarms come and go by the thousand, and are no originators.
    if (entityType === 'ALARM') return
    for (const partition of this.owned.values()) partition.forget(id)
    this.tenants.doubt(tenantId)
  }

  figures(): NodeStateFigures {
    const owned = [...this.owned.values()]
    return {
      partitions: owned.length,
      states: owned.reduce((sum, { size }) => sum + size, 0),
      underWay: owned.reduce((sum, partition) => sum + partition.underWay, 0),
    }
  }

  async close(): Promise<void> {
    this.isClosed = true
    await Promise.all([...this.owned.values()].map((partition) => partition.close()))
    this.owned.clear()
  }

  now(): number {
    return this.clock.now()
  }

  streamOf(originatorId: string): number {
    return this.options.log.streamOf(originatorId)
  }

  settledBelow(stream: number): number {
    return this.options.log.settledBelow(stream)
  }

  checkFits(message: Message): void {
    this.options.log.checkFits?.(message)
  }

  partition(stream: number): StatePartition | undefined {
    return this.owned.get(stream)
  }

  encode(message: Message): string {
    return this.options.store.encode(message)
  }

  decode(text: string): Message {
    return this.options.store.decode(text)
  }

  checkRoom(tenantId: string, node: string, bytes: number, more: number): void {
    const { maxStateBytes, maxTenantBytes } = this.settings
    if (bytes > maxStateBytes) throw StateErrors.STATE_TOO_LARGE({ node, bytes, limit: maxStateBytes })
    const has = this.tenants.of(tenantId)
    if (more > 0 && has + more > maxTenantBytes) throw StateErrors.TENANT_FULL({ bytes: has, limit: maxTenantBytes })
  }

  knowTenant(tenantId: string): Promise<void> | undefined {
    return this.tenants.know(tenantId)
  }

  grew(tenantId: string, bytes: number): void {
    this.tenants.grew(tenantId, bytes)
  }

  doubtful(): void {
    this.tenants.doubt()
  }

  wake(partition: StatePartition, entry: StateEntry): boolean {
    const instance = this.instances.get(entry.place.ruleNodeId)
    if (instance === undefined) return false
    instance.wake(partition, entry)
    return true
  }

  lost(partition: StatePartition): void {
    if (this.owned.get(partition.stream) === partition) this.owned.delete(partition.stream)
    this.report('error', 'a partition of node states belongs to another process now', { stream: partition.stream })
  }

  closed(instance: StatefulInstance): void {
    const { ruleNodeId } = instance.identity
    // The version after it is there already.
    if (this.instances.get(ruleNodeId) !== instance) return
    this.instances.delete(ruleNodeId)
    for (const partition of this.owned.values()) partition.forgetNode(ruleNodeId)
  }

  report(level: 'warn' | 'error', text: string, fields: Readonly<Record<string, unknown>>): void {
    this.options.report(level, text, fields)
  }

  private begin(instance: StatefulInstance, partition: StatePartition): void {
    instance.begin(partition).catch((error: unknown) => {
      if (partition.isLost || this.instances.get(instance.identity.ruleNodeId) !== instance) return
      const { ruleNodeId, ruleNodeName } = instance.identity
      const fields = { ruleNodeId, ruleNode: ruleNodeName, reason: errorText(error) }
      this.report('warn', 'a source can not begin yet: its state can not be read', fields)
      this.clock.after(BEGIN_AGAIN_MS, () => this.begin(instance, partition))
    })
  }
}

const BEGIN_AGAIN_MS = 1000
