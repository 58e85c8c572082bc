/** What nodes of windows share: points in, messages of closed windows out, the state between. How points become windows is handed in. */
import { z } from 'zod'
import { stringifyJson, type JsonObject } from '../../model/json.ts'
import { Message } from '../../model/message.ts'
import type { DataPoint } from '../../model/value.ts'
import type { StateTurn } from '../../engine/rulechain/capabilities/state.ts'
import type { NodeContext, NodeInstance } from '../../engine/rulechain/node.ts'
import { pointsOf } from '../action/telemetry-body.ts'
import { withMetadata } from '../body.ts'
import { resultsOf, type MetricValues, type WindowMetric } from './window-metrics.ts'

export const MAX_OPEN_WINDOWS = 200
/** A clock that is wrong by more must not hold windows open for so long. */
export const MAX_AHEAD_MS = 86_400_000
const LONGEST_SEC = 7 * 86_400

/** The two fields that each form of windows has. */
export const timingConfiguration = {
  allowedLatenessSec: z.int().min(0).max(LONGEST_SEC).meta({
    title: 'Allowed lateness',
    description: 'Seconds that a window stays open after a point behind its end was seen.',
  }),
  idleTimeoutSec: z.int().min(1).max(LONGEST_SEC).meta({
    title: 'Idle time-out',
    description: 'Seconds without a message after which the clock closes windows that are over.',
  }),
}

export interface ClosedWindow {
  readonly from: number
  /** Exclusive. */
  readonly to: number
  readonly metrics: MetricValues
}

export interface WindowStep<Windows> {
  /** Points that went into a window. */
  readonly counted: number
  readonly next: Windows
  /** By time. */
  readonly closed: readonly ClosedWindow[]
  /** Points whose windows were all closed before: they are counted nowhere. */
  readonly late: readonly DataPoint[]
}

export interface WindowKind<Windows> {
  readonly schema: z.ZodType<Windows>
  withPoints(state: Windows | undefined, points: readonly DataPoint[], now: number): WindowStep<Windows>
  /** No point came for a while: what is over by the clock is closed without waiting for a later one. */
  whenIdle(state: Windows, now: number): Pick<WindowStep<Windows>, 'next' | 'closed'>
  /** When the first that is open is over; undefined where none is. */
  firstEnd(state: Windows): number | undefined
  /** The end of the last window in which a point of that time would have been. */
  lastEndOf(ts: number): number
}

export interface WindowNodeRules<Windows> {
  readonly kind: WindowKind<Windows>
  readonly metrics: readonly WindowMetric[]
  readonly idleTimeoutSec: number
  /** What the windows are made by: under another one they begin anew. */
  readonly madeBy: JsonObject
}

export function windowNode<Windows extends JsonObject>(
  { kind, metrics, idleTimeoutSec, madeBy }: WindowNodeRules<Windows>,
  { services, settings, tenantId }: NodeContext<'state'>,
): NodeInstance {
  const of = stringifyJson(madeBy)
  const idleMs = idleTimeoutSec * 1000
  const stateSchema = z.strictObject({ of: z.string(), customerId: z.string().nullable(), windows: kind.schema })
  type State = { readonly of: string; readonly customerId: string | null; readonly windows: Windows }
  const tell = (turn: StateTurn<State>, customerId: string | null, closed: readonly ClosedWindow[]): void => {
    const originator = turn.entity
    if (originator === undefined) return
    const fields = { id: '', ts: turn.now, tenantId, originator, customerId: customerId ?? undefined }
    for (const { from, to, metrics: values } of closed) {
      const metadata = { ts: String(from), windowStart: String(from), windowEnd: String(to) }
      const data = stringifyJson(resultsOf(metrics, values))
      turn.send(new Message({ ...fields, type: 'POST_TELEMETRY_REQUEST', metadata, data }), 'Success')
    }
  }
  return services.state.keyed<State, undefined>({
    per: 'originator',
    parse: (stored) => {
      const state = stateSchema.parse(stored)
      if (state.of !== of) throw new RangeError('the windows are of another configuration')
      return state
    },
    handle(turn, message) {
      const points = pointsOf(message, message.metadataTs(), { castStrings: settings.castStrings, nulls: 'skip' })
      const { next, closed, counted, late } = kind.withPoints(turn.state?.windows, points, turn.now)
      if (counted > 0) {
        const customerId = message.customerId ?? null
        tell(turn, customerId, closed)
        turn.set({ of, customerId, windows: next })
        turn.wakeAt(kind.firstEnd(next) === undefined ? undefined : turn.now + idleMs)
      }
      const [first] = late
      if (first === undefined) return undefined
      const end = String(kind.lastEndOf(first.ts))
      return { message: withMetadata(message, [['lateWindowEnd', end]]), relations: ['Late'] }
    },
    wake(turn) {
      const { state } = turn
      if (state === undefined) return
      const { next, closed } = kind.whenIdle(state.windows, turn.now)
      tell(turn, state.customerId, closed)
      turn.set({ ...state, windows: next })
      // Those that end later, as of times ahead of the clock.
      const first = kind.firstEnd(next)
      if (first !== undefined) turn.wakeAt(Math.max(first, turn.now + idleMs))
    },
  })
}
