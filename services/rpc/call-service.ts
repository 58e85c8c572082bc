/**
 * Calls by users: to devices (RPC), and to the rule engine. Both are a message to the entity's rule chain, and an answer that is waited for:
 * of the device, which a node hands the call to, or of the node that answers REST calls. Source: `rest-api.md` 6.
 */
import { z } from 'zod'
import { awaitedLater } from '../../model/awaited-later.ts'
import type { Clock, Random } from '../../model/clock.ts'
import type { Page, PageQuery } from '../../model/entities.ts'
import { entityId, type EntityId } from '../../model/entity-id.ts'
import type { Principal } from '../../model/principal.ts'
import type { Answers } from '../../engine/device/calls/answers.ts'
import { waitsForNode, type CallOutcome, type CallStatus } from '../../engine/device/calls/call.ts'
import type { CallLine } from '../../engine/device/calls/line.ts'
import type { PartitionOwners } from '../../engine/device/partition-owners.ts'
import type { NodeCalls, NodeDeviceCall } from '../../engine/rulechain/capabilities/calls.ts'
import type { EntityStore } from '../../storage/entities/entity-store.ts'
import type { StoredRpc } from '../../storage/entities/rpcs.ts'
import type { AuditedAction } from '../audit/audit-log.ts'
import { SYSTEM_TENANT, type Changes } from '../changes/changes.ts'
import { itemNotFound } from '../errors.ts'
import { requireRoute, type RouteLookup } from '../changes/message-route.ts'
import { RpcErrors } from './errors.ts'
import { MAX_OPEN_CALLS, type PersistentCalls } from './persistent-calls.ts'

export { CALL_STATUSES } from '../../engine/device/calls/call.ts'

export interface CallDraft {
  readonly method: string
  /** JSON text. */
  readonly params: string
  readonly isOneway: boolean
  readonly isPersistent: boolean
  /** Unix ms. */
  readonly expirationTime: number
  readonly retries: number | null
  /** JSON text. */
  readonly additionalInfo: string | null
  readonly requestId: string | undefined
}

export interface CallServiceParts {
  readonly entities: EntityStore
  readonly changes: Changes
  readonly routeOf: RouteLookup
  readonly line: CallLine
  readonly answers: Answers
  readonly owners: PartitionOwners
  readonly persistent: PersistentCalls
  readonly clock: Clock
  readonly random: Random
  /** As the link calls the queue that the tenant means. */
  readonly linkQueueName: (tenantId: string, name: string) => Promise<string | undefined>
}

/** Of one tenant. */
const MAX_WAITING = 10_000
/** After its end a call may still be answered: on its way through the rule chain. */
const GRACE_MS = 1000
/** The rule chain and the owner of the device have so long to keep a persistent call. */
const KEPT_WITHIN_MS = 60_000
/** A call of a chain waits in memory no longer, whatever its message says. */
const MAX_CALL_MS = 3_600_000

const outcomeSchema = z.object({
  response: z.string().optional(),
  error: z.enum(['TIMEOUT', 'NO_ACTIVE_CONNECTION']).optional(),
  isKept: z.boolean().optional(),
})

export class CallService implements NodeCalls {
  private readonly parts: CallServiceParts
  private readonly waiting = new Map<string, number>()

  constructor(parts: CallServiceParts) {
    this.parts = parts
  }

  /** Callers who wait for an answer. */
  figures(): { readonly waiting: number } {
    let waiting = 0
    for (const ofTenant of this.waiting.values()) waiting += ofTenant
    return { waiting }
  }

  /** `id` is that of the call, kept under it where it is persistent. */
  async callDeviceByUser(
    principal: Principal,
    deviceId: string,
    draft: CallDraft,
  ): Promise<CallOutcome & { readonly id: string }> {
    const { entities, clock, random, answers } = this.parts
    const originator = entityId('DEVICE', deviceId)
    const device = await entities.deviceCredentials.findDeviceById(deviceId)
    if (device === undefined) throw itemNotFound(originator)
    if (draft.isPersistent && (await entities.rpcs.countOpen(deviceId)) >= MAX_OPEN_CALLS)
      throw RpcErrors.TOO_MANY_KEPT({ limit: MAX_OPEN_CALLS })
    const id = draft.requestId ?? random.uuid()
    if (draft.isPersistent && draft.requestId !== undefined) {
      const kept = await entities.rpcs.find(id)
      if (kept?.deviceId === deviceId) return { isKept: true, id }
      if (kept !== undefined) throw RpcErrors.ID_TAKEN({ id })
    }
    const metadata = {
      requestUUID: id,
      originServiceId: answers.self,
      expirationTime: String(draft.expirationTime),
      oneway: String(draft.isOneway),
      persistent: String(draft.isPersistent),
      ...(draft.retries === null ? {} : { retries: String(draft.retries) }),
      deviceName: device.deviceName,
      deviceType: device.deviceType,
    }
    const { method, params, additionalInfo } = draft
    const action: AuditedAction = {
      actionType: 'RPC_CALL',
      entity: originator,
      entityName: device.deviceName,
      customerId: device.customerId,
      actionData: JSON.stringify({ entityId: deviceId, oneWay: draft.isOneway, method, params }),
    }
    const data = JSON.stringify({ method, params, additionalInfo })
    // That a persistent call is kept is said at once; its outcome is not awaited here.
    const untilExpiry = draft.expirationTime - clock.now() + GRACE_MS
    const withinMs = draft.isPersistent ? Math.min(untilExpiry, KEPT_WITHIN_MS) : untilExpiry
    const body = await this.ask(principal, id, Math.max(withinMs, GRACE_MS), async () => {
      const route = await requireRoute(this.parts.routeOf, originator)
      const type = 'RPC_CALL_FROM_SERVER_TO_DEVICE'
      await this.parts.changes.commit([], { type, principal, originator, ...route, metadata, data, audit: action })
    })
    const outcome: CallOutcome =
      body === undefined ? { error: 'TIMEOUT' } : outcomeSchema.parse(JSON.parse(body) as unknown)
    if (outcome.error !== undefined) await this.parts.changes.failed(principal, action, outcome.error)
    return { ...outcome, id }
  }

  /** The answer of the entity's rule chain, JSON text; undefined where none came in time. */
  async callRuleEngineByUser(
    principal: Principal,
    entity: EntityId,
    call: { readonly data: string; readonly timeoutMs: number; readonly queueName: string | undefined },
  ): Promise<string | undefined> {
    const { clock, random, answers, routeOf, changes, linkQueueName } = this.parts
    const id = random.uuid()
    const expirationTime = clock.now() + call.timeoutMs
    return this.ask(principal, id, call.timeoutMs, async () => {
      const route = await requireRoute(routeOf, entity)
      const tenantId = entity.entityType === 'USER' ? (principal.tenantId ?? SYSTEM_TENANT) : route.tenantId
      const named = call.queueName === undefined ? undefined : await linkQueueName(tenantId, call.queueName)
      await changes.commit([], {
        type: 'REST_API_REQUEST',
        principal,
        originator: entity,
        ...route,
        tenantId,
        queueName: named ?? route.queueName,
        metadata: { serviceId: answers.self, requestUUID: id, expirationTime: String(expirationTime) },
        data: call.data,
      })
    })
  }

  find(id: string): Promise<StoredRpc | undefined> {
    return this.parts.entities.rpcs.find(id)
  }

  page(deviceId: string, status: CallStatus | undefined, query: PageQuery): Promise<Page<StoredRpc>> {
    return this.parts.entities.rpcs.page(deviceId, status, query)
  }

  /** It is gone from the store and from what waits for the device. */
  async deleteByUser(principal: Principal, id: string): Promise<void> {
    const { entities, changes, persistent, line, owners } = this.parts
    const rpc = await entities.rpcs.find(id)
    if (rpc === undefined) throw itemNotFound({ entityType: 'RPC', id })
    const entity = entityId('RPC', id)
    const actionData = JSON.stringify({ entityId: id })
    const audited = await changes.auditedAction(principal, { actionType: 'DELETED', entity, actionData })
    await changes.commitWith([entities.rpcs.delete(rpc), audited], await persistent.messageOf(rpc, 'DELETED'))
    const owner = owners.ownerOf(owners.partitionOf(rpc.deviceId))
    if (owner !== undefined) line.toOwner(owner, { kind: 'withdrawn', deviceId: rpc.deviceId, callId: id })
  }

  /** Calls that wait for the device: it went to another tenant. */
  withdrawOf(formerTenantId: string, deviceId: string): void {
    const { line, owners } = this.parts
    const owner = owners.ownerOf(owners.partitionOf(deviceId))
    if (owner !== undefined) line.toOwner(owner, { kind: 'moved', deviceId, formerTenantId })
  }

  toDevice(call: NodeDeviceCall): Promise<CallOutcome> {
    const { line, owners, answers, clock } = this.parts
    const owner = owners.ownerOf(owners.partitionOf(call.deviceId))
    const id = waitsForNode(call.id)
    // A second delivery of the same message: the first one is told.
    const isAwaited = answers.hasRoom && !answers.has(id)
    const withinMs = call.isPersistent ? KEPT_WITHIN_MS : Math.min(call.expirationTime - clock.now(), MAX_CALL_MS)
    const answer = isAwaited ? answers.wait(id, withinMs + GRACE_MS) : Promise.resolve(undefined)
    if (owner !== undefined)
      line.toOwner(owner, { kind: 'call', call: isAwaited ? { ...call, node: answers.self } : call })
    return answer.then((body) =>
      body === undefined ? { error: 'TIMEOUT' } : outcomeSchema.parse(JSON.parse(body) as unknown),
    )
  }

  replyToDevice(serviceId: string, sessionId: string, body: string): void {
    this.parts.line.toTransport(serviceId, { kind: 'reply', replyId: sessionId, body })
  }

  answer(serviceId: string, requestId: string, body: string): void {
    this.parts.answers.give(serviceId, requestId, body)
  }

  private async ask(
    principal: Principal,
    id: string,
    withinMs: number,
    send: () => Promise<void>,
  ): Promise<string | undefined> {
    const tenantId = principal.tenantId ?? SYSTEM_TENANT
    const waiting = this.waiting.get(tenantId) ?? 0
    if (waiting >= MAX_WAITING || !this.parts.answers.hasRoom) throw RpcErrors.TOO_MANY_WAITING({ limit: MAX_WAITING })
    if (this.parts.answers.has(id)) throw RpcErrors.ID_TAKEN({ id })
    this.waiting.set(tenantId, waiting + 1)
    const answer = awaitedLater(this.parts.answers.wait(id, withinMs))
    try {
      await send()
      return await answer
    } finally {
      this.parts.answers.forget(id)
      const left = (this.waiting.get(tenantId) ?? 1) - 1
      if (left === 0) this.waiting.delete(tenantId)
      else this.waiting.set(tenantId, left)
    }
  }
}
