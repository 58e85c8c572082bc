/**
 * Persistent calls in the store. Each change of status is committed with the message that tells the rule engine of it. What no owner of a
 * device has in hand when its time is over is found here.
 */
import type { Clock, Random, TimerHandle } from '../../model/clock.ts'
import { entityId } from '../../model/entity-id.ts'
import { errorText } from '../../model/errors.ts'
import { isJsonObject, parseJson, stringifyJson, type JsonObject } from '../../model/json.ts'
import type { KnownMessageType } from '../../model/message-type.ts'
import { Message } from '../../model/message.ts'
import type { CallStatus, DeviceCall } from '../../engine/device/calls/call.ts'
import type { CallStore } from '../../engine/device/calls/owned-calls.ts'
import type { EntityStore } from '../../storage/entities/entity-store.ts'
import type { StoredRpc } from '../../storage/entities/rpcs.ts'
import type { Statement } from '../../storage/entities/database.ts'
import type { Changes } from '../changes/changes.ts'
import { idJson } from '../entity-json.ts'
import { itemNotFound } from '../errors.ts'
import type { RouteLookup } from '../changes/message-route.ts'
import type { Report } from '../changes/outbox.ts'
import { RpcErrors } from './errors.ts'

export interface PersistentCallsParts {
  readonly entities: EntityStore
  readonly changes: Changes
  readonly routeOf: RouteLookup
  readonly clock: Clock
  readonly random: Random
  readonly report: Report
  /** Age at which calls go, whatever became of them. */
  readonly ttlMs: number
}

const SWEEP_MS = 60_000
const ROWS_PER_SWEEP = 500
/** Of one device: chains make calls too. */
export const MAX_OPEN_CALLS = 1_000
/** The same of calls that are over; the oldest go. */
const MAX_PAST_CALLS = 1_000
/** Its owner notices first. */
const OVERDUE_MS = 30_000

export class PersistentCalls implements CallStore {
  private readonly parts: PersistentCallsParts
  private timer: TimerHandle | undefined
  private isClosed = false

  constructor(parts: PersistentCallsParts) {
    this.parts = parts
  }

  start(): void {
    if (this.isClosed) return
    this.timer = this.parts.clock.after(SWEEP_MS, () => {
      void this.sweep()
        .catch((error: unknown) =>
          this.parts.report('Persistent calls whose time is over are not looked at; trying again', {
            error: errorText(error),
          }),
        )
        .then(() => this.start())
    })
  }

  close(): void {
    this.isClosed = true
    this.timer?.cancel()
  }

  async accept(call: DeviceCall): Promise<boolean> {
    const { entities, clock } = this.parts
    const before = await entities.rpcs.find(call.id)
    if (before !== undefined)
      return (
        before.deviceId === call.deviceId &&
        (before.status === 'QUEUED' || before.status === 'TIMEOUT') &&
        before.isOpen
      )
    if ((await entities.rpcs.countOpen(call.deviceId)) >= MAX_OPEN_CALLS)
      throw RpcErrors.TOO_MANY_KEPT({ limit: MAX_OPEN_CALLS })
    const gone = () => itemNotFound(entityId('DEVICE', call.deviceId))
    const rpc: StoredRpc = {
      id: call.id,
      createdTime: clock.now(),
      version: 1,
      tenantId: call.tenantId,
      deviceId: call.deviceId,
      expirationTime: call.expirationTime,
      request: stringifyJson(requestJson(call)),
      response: null,
      additionalInfo: call.additionalInfo,
      status: 'QUEUED',
      isOpen: true,
    }
    // A call that waited while its device went to another tenant is the former tenant's.
    const owned = entities.devices.requireTenant(call.deviceId, call.tenantId, gone)
    await this.commit(rpc, [owned, entities.rpcs.insert(rpc), entities.rpcs.keepPast(call.deviceId, MAX_PAST_CALLS)])
    return true
  }

  async changed(call: Pick<DeviceCall, 'id' | 'isOneway'>, status: CallStatus, response?: string): Promise<void> {
    const { entities } = this.parts
    const before = await entities.rpcs.find(call.id)
    if (before === undefined || !before.isOpen) return
    const isOpen =
      status === 'QUEUED' || status === 'SENT' || status === 'TIMEOUT' || (status === 'DELIVERED' && !call.isOneway)
    const rpc: StoredRpc = {
      ...before,
      version: before.version + 1,
      status,
      response: response ?? before.response,
      isOpen,
    }
    await this.commit(rpc, [entities.rpcs.update(rpc)])
  }

  async waiting(deviceId: string, limit: number): Promise<readonly DeviceCall[]> {
    return (await this.parts.entities.rpcs.waiting(deviceId, limit)).map(callOf)
  }

  /** The message that tells of it: of a change that is committed elsewhere. */
  async messageOf(rpc: StoredRpc, status: CallStatus): Promise<Message | undefined> {
    const { routeOf, random, clock } = this.parts
    const originator = entityId('DEVICE', rpc.deviceId)
    const route = await routeOf(originator)
    if (route === undefined) return undefined
    const type: KnownMessageType = `RPC_${status}`
    return new Message({
      id: random.uuid(),
      ts: clock.now(),
      type,
      tenantId: rpc.tenantId,
      originator,
      customerId: route.customerId ?? undefined,
      metadata: {},
      data: stringifyJson(rpcJson({ ...rpc, status })),
      ruleChainId: route.ruleChainId ?? undefined,
      queueName: route.queueName ?? undefined,
    })
  }

  /** A bounded number of calls. */
  async sweep(): Promise<void> {
    const { entities, clock, ttlMs } = this.parts
    for (const rpc of await entities.rpcs.overdue(clock.now() - OVERDUE_MS, ROWS_PER_SWEEP)) {
      try {
        await this.changed(callOf(rpc), 'EXPIRED')
      } catch (error) {
        // Another process was first, or the next sweep finds it.
        this.parts.report('A persistent call whose time is over is not marked yet', {
          rpcId: rpc.id,
          error: errorText(error),
        })
      }
    }
    await entities.rpcs.removeOlder(clock.now() - ttlMs, ROWS_PER_SWEEP)
  }

  private async commit(rpc: StoredRpc, statements: readonly Statement[]): Promise<void> {
    const message = await this.messageOf(rpc, rpc.status as CallStatus)
    await this.parts.changes.commitWith(statements, message)
  }
}

/** As REST shows it and messages carry it (`rest-api.md` 6). */
export function rpcJson(rpc: StoredRpc): JsonObject {
  return {
    id: idJson('RPC', rpc.id),
    createdTime: rpc.createdTime,
    tenantId: idJson('TENANT', rpc.tenantId),
    deviceId: idJson('DEVICE', rpc.deviceId),
    expirationTime: rpc.expirationTime,
    request: parseJson(rpc.request),
    response: rpc.response === null ? null : parseJson(rpc.response),
    status: rpc.status,
    additionalInfo: rpc.additionalInfo === null ? null : parseJson(rpc.additionalInfo),
  }
}

function requestJson(call: DeviceCall): JsonObject {
  return {
    id: call.id,
    tenantId: idJson('TENANT', call.tenantId),
    deviceId: idJson('DEVICE', call.deviceId),
    oneway: call.isOneway,
    expirationTime: call.expirationTime,
    body: { method: call.method, params: call.params },
    persisted: true,
    retries: call.retries,
  }
}

function callOf(rpc: StoredRpc): DeviceCall {
  const request = parseJson(rpc.request)
  const body = isJsonObject(request) ? request['body'] : undefined
  const member = (name: string): string => {
    const value = isJsonObject(body) ? body[name] : undefined
    return typeof value === 'string' ? value : ''
  }
  const retries = isJsonObject(request) ? request['retries'] : null
  return {
    id: rpc.id,
    tenantId: rpc.tenantId,
    deviceId: rpc.deviceId,
    method: member('method'),
    params: member('params') || 'null',
    isOneway: isJsonObject(request) && request['oneway'] === true,
    isPersistent: true,
    expirationTime: rpc.expirationTime,
    retries: typeof retries === 'number' ? retries : null,
    additionalInfo: rpc.additionalInfo,
    origin: '',
  }
}
