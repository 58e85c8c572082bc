/** Parked lanes as people see them. */
import { z } from 'zod'
import type { Clock } from '../../model/clock.ts'
import { originatorOfOrderKey } from '../../model/message.ts'
import { idOf, LANE_STATES, type ParkedLane } from './parked-lane.ts'

export const parkedLaneSchema = z
  .object({
    id: z.string(),
    tenantId: z.string(),
    queueName: z.string(),
    /** A tenant where the queue takes one message of a tenant at a time. */
    originatorType: z.string(),
    originatorId: z.string(),
    messages: z.number(),
    bytes: z.number(),
    why: z.string(),
    /** Unix ms. */
    sinceMs: z.number(),
    /** Of its first message, so far. */
    tries: z.number(),
    /** Unix ms; absent while it is being tried. */
    nextTryMs: z.number().optional(),
    state: z.enum(LANE_STATES),
  })
  .readonly()
export type ParkedLaneView = z.infer<typeof parkedLaneSchema>

export interface ParkedQuery {
  /** Undefined: of all tenants. */
  readonly tenantId: string | undefined
  readonly offset: number
  readonly limit: number
}

export interface ParkedPage {
  readonly lanes: readonly ParkedLaneView[]
  readonly total: number
  /** There may be more: a process is silent, or a partition is nobody's now. */
  readonly isPart?: boolean
}

export interface ParkingFigures {
  /** Lanes and messages that are parked now, their bytes, and those of them that are in process. */
  readonly lanes: number
  readonly messages: number
  readonly bytes: number
  readonly inProcess: number
  /** Tenants whose devices are refused. */
  readonly fullTenants: number
  /** Lanes that were parked, and that went back; messages that were tried from here, and that became dead letters. Each only grows. */
  readonly parked: number
  readonly returned: number
  readonly tries: number
  readonly buried: number
}

export const NO_FIGURES: ParkingFigures = {
  lanes: 0,
  messages: 0,
  bytes: 0,
  inProcess: 0,
  fullTenants: 0,
  parked: 0,
  returned: 0,
  tries: 0,
  buried: 0,
}

export function listOf(
  lanes: Iterable<ParkedLane>,
  { tenantId, offset, limit }: ParkedQuery,
  clock: Clock,
): ParkedPage {
  // Its order is made once for each: a comparison that makes both costs several times as much.
  const found: { readonly lane: ParkedLane; readonly order: string }[] = []
  for (const lane of lanes)
    if (tenantId === undefined || lane.stored.tenantId === tenantId) found.push({ lane, order: orderOf(lane) })
  found.sort((one, other) => compare(one.order, other.order))
  return { lanes: found.slice(offset, offset + limit).map(({ lane }) => viewOf(lane, clock)), total: found.length }
}

function viewOf(lane: ParkedLane, clock: Clock): ParkedLaneView {
  const { stored, state, pausedUntilMs } = lane
  const { tenantId, queueName, originatorType, key, bytes, why, sinceMs, entries } = stored
  return {
    id: idOf(lane),
    tenantId,
    queueName,
    originatorType,
    originatorId: originatorOfOrderKey(key),
    messages: entries.length,
    bytes,
    why,
    sinceMs,
    tries: Math.max(0, (entries[0]?.attempt ?? 1) - 1),
    nextTryMs: pausedUntilMs === undefined ? undefined : Math.round(clock.now() + pausedUntilMs - clock.monotonic()),
    state,
  }
}

/** The order of all lists, whoever merges them: else pages leave lanes out. Those of one originator stay as their process has them. */
export function inOrder(one: ParkedLaneView, other: ParkedLaneView): number {
  return compare(orderOfView(one), orderOfView(other))
}

function orderOfView({ tenantId, queueName, originatorId }: ParkedLaneView): string {
  return `${tenantId} ${queueName} ${originatorId}`
}

function orderOf({ stored }: ParkedLane): string {
  return `${stored.tenantId} ${stored.queueName} ${stored.key}`
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0
}
