/** One message, or one wake-up, of a device: its values change, its rules are looked at, and what is to be done comes of it. */
import type { StateTurn } from '../../engine/rulechain/capabilities/state.ts'
import type { NodeSettings } from '../../engine/rulechain/node.ts'
import { entriesOf } from '../../model/entry-json.ts'
import { isMillraceError } from '../../model/errors.ts'
import type { JsonValue } from '../../model/json.ts'
import { isJsonObject } from '../../model/json.ts'
import type { Message } from '../../model/message.ts'
import { sameValue, type Entry, type TypedValue } from '../../model/value.ts'
import { bodyObject } from '../body.ts'
import { pointsIn } from '../action/telemetry-body.ts'
import { nameOf, type AlarmDefinition } from './alarm-rule.ts'
import { decisionOf, type Decision } from './decision.ts'
import type { DeviceMemory } from './device-memory.ts'
import { nextTime, step, type AlarmEvent, type AlarmStanding, type AlarmStep, type RuleCounts } from './rule-state.ts'
import type { RuleKey } from './rule-values.ts'

/** Of a device: what its rules have counted, by the id of their alarm, and what a timer decided that is not done yet. */
export type DeviceState = {
  readonly counts: { readonly [alarm: string]: RuleCounts }
  readonly pending: Decision[]
}

/** As often as the reference looks whether durations are over; data may be old, and what ends them on the way. */
const TIMER_MS = 60_000
const NO_STATE: DeviceState = { counts: {}, pending: [] }

interface Update {
  readonly ts: number
  readonly changed: ReadonlySet<string>
}

export interface Handled {
  readonly decisions: readonly Decision[]
  /** Of an alarm whose rules can not be looked at: those of others count all the same. */
  readonly failure?: Error | undefined
}

/** Throws where the message's body is not what its type says: nothing has changed then. */
export function handleMessage(
  turn: StateTurn<DeviceState>,
  message: Message,
  memory: DeviceMemory,
  settings: NodeSettings,
): Handled {
  memory.metadata = message.metadata
  memory.queueName = message.queueName
  const run = new Run(turn, memory)
  switch (message.type) {
    case 'POST_TELEMETRY_REQUEST':
      telemetry(run, message, memory, settings)
      break
    case 'POST_ATTRIBUTES_REQUEST':
    case 'ATTRIBUTES_UPDATED':
      attributes(run, message, memory, settings)
      break
    case 'ACTIVITY_EVENT':
    case 'INACTIVITY_EVENT':
      if ((message.metadata['scope'] ?? '') === '') telemetry(run, message, memory, settings)
      else attributes(run, message, memory, settings)
      break
    case 'ATTRIBUTES_DELETED':
      deleted(run, message, memory)
      break
    case 'ALARM_CLEAR':
    case 'ALARM_DELETE':
      gone(run, message, memory)
      break
    default:
      return { decisions: [] }
  }
  return { decisions: run.end(), failure: run.failure }
}

/** Time went by; what comes of it waits in the state. */
export function handleTime(turn: StateTurn<DeviceState>, memory: DeviceMemory): void {
  const run = new Run(turn, memory)
  run.each(() => ({ kind: 'time', values: memory }), turn.now)
  run.endOfTime()
}

class Run {
  /** The first one. */
  failure: Error | undefined
  private readonly turn: StateTurn<DeviceState>
  private readonly memory: DeviceMemory
  private readonly decisions: Decision[] = []
  private counts: DeviceState['counts']

  constructor(turn: StateTurn<DeviceState>, memory: DeviceMemory) {
    this.turn = turn
    this.memory = memory
    this.counts = (turn.state ?? NO_STATE).counts
  }

  values({ ts, changed }: Update): void {
    this.memory.ts = ts
    if (changed.size > 0) this.each(() => ({ kind: 'values', ts, changed, values: this.memory }), ts)
  }

  /** `ts`: of what happened. */
  each(eventOf: (alarmId: string, type: string) => AlarmEvent | undefined, ts: number): void {
    const { memory, turn } = this
    for (const alarm of memory.rules.alarms) {
      const { id } = alarm
      const event = eventOf(id, alarm.type)
      if (event === undefined) continue
      const held = memory.active.get(id)
      const counts = this.counts[id] ?? NO_COUNTS
      const stepped = this.step(alarm, { active: held?.severity, counts }, event)
      if (stepped === undefined) continue
      const { standing, result } = stepped
      if (standing.counts !== counts) this.count(id, standing.counts)
      if (standing.active !== held?.severity)
        memory.active.set(id, standing.active && { severity: standing.active, id: held?.id })
      if (result !== undefined) this.decisions.push(decisionOf(alarm, result, memory, ts, turn.now))
    }
  }

  private step(alarm: AlarmDefinition, standing: AlarmStanding, event: AlarmEvent): AlarmStep | undefined {
    try {
      return step(alarm, standing, event, this.turn.now)
    } catch (error) {
      if (!isMillraceError(error)) throw error
      this.failure ??= error
      return undefined
    }
  }

  end(): readonly Decision[] {
    const { pending } = this.turn.state ?? NO_STATE
    // What was decided is stored, so that the message has the same outcome when it comes again.
    if (this.decisions.length > 0 || this.counts !== (this.turn.state ?? NO_STATE).counts) this.set(pending)
    const { wakesAt, now } = this.turn
    const due = this.due()
    if (due === undefined) {
      if (wakesAt !== undefined && pending.length === 0) this.turn.wakeAt(undefined)
    } else if (wakesAt === undefined || wakesAt > Math.max(due, now + TIMER_MS)) {
      this.turn.wakeAt(Math.max(due, now + TIMER_MS))
    }
    return this.decisions
  }

  endOfTime(): void {
    const { now } = this.turn
    this.set(this.decisions)
    if (this.decisions.length > 0) this.turn.wakeAt(now)
    else rearm(this.turn, this.due())
  }

  due(): number | undefined {
    return dueOf(this.memory, this.counts)
  }

  private count(alarmId: string, counts: RuleCounts): void {
    const { [alarmId]: _before, ...others } = this.counts
    this.counts = Object.keys(counts).length === 0 ? others : { ...others, [alarmId]: counts }
  }

  private set(pending: readonly Decision[]): void {
    const isNothing = pending.length === 0 && Object.keys(this.counts).length === 0
    this.turn.set(isNothing ? undefined : { counts: this.counts, pending: [...pending] })
  }
}

const NO_COUNTS: RuleCounts = {}

/** When a duration will be over, Unix ms. */
export function dueOf(memory: DeviceMemory, counts: DeviceState['counts']): number | undefined {
  let due: number | undefined
  for (const alarm of memory.rules.alarms) {
    const ofAlarm = counts[alarm.id]
    if (ofAlarm === undefined) continue
    const active = memory.active.get(alarm.id)?.severity
    const time = nextTime(alarm, { active, counts: ofAlarm }, memory)
    if (time !== undefined && time < (due ?? Number.POSITIVE_INFINITY)) due = time
  }
  return due
}

/** After a wake-up: what is not due yet is looked at when it is, and what can not be done now a while later. */
export function rearm(turn: StateTurn<DeviceState>, due: number | undefined): void {
  turn.wakeAt(due === undefined ? undefined : due > turn.now ? due : turn.now + TIMER_MS)
}

function telemetry(run: Run, message: Message, memory: DeviceMemory, { castStrings }: NodeSettings): void {
  const points = pointsIn(message, message.metadataTs(), { castStrings, nulls: 'skip' })
  const byTime = new Map<number, Entry[]>()
  for (const point of points) {
    const entries = byTime.get(point.ts)
    if (entries === undefined) byTime.set(point.ts, [point])
    else entries.push(point)
  }
  for (const [ts, entries] of [...byTime].toSorted(([one], [other]) => one - other))
    run.values({ ts, changed: taken(memory, 'TIME_SERIES', entries, ts) })
}

function attributes(run: Run, message: Message, memory: DeviceMemory, { castStrings }: NodeSettings): void {
  const entries = message.entries() ?? entriesOf(bodyObject(message), { castStrings, nulls: 'skip' })
  const { ts } = message
  if (entries.length > 0) run.values({ ts, changed: taken(memory, 'ATTRIBUTE', entries, ts) })
}

function deleted(run: Run, message: Message, memory: DeviceMemory): void {
  const keys = bodyObject(message)['attributes']
  if (!Array.isArray(keys)) return
  const names = keys.filter((key) => typeof key === 'string').map((key) => nameOf({ type: 'ATTRIBUTE', key }))
  const changed = new Set(names.filter((name) => memory.values.has(name)))
  for (const name of changed) memory.values.set(name, undefined)
  run.values({ ts: message.ts, changed })
}

/** Somebody cleared or deleted an alarm: another one of its type may be active again already. */
function gone(run: Run, message: Message, memory: DeviceMemory): void {
  const { id, type } = bodyObject(message)
  const alarmId = idOf(id)
  run.each((ruleId, ruleType) => {
    const known = memory.active.get(ruleId)
    const isIt = ruleType === type && (known?.id === undefined || known.id === alarmId)
    return isIt ? { kind: 'gone' } : undefined
  }, message.ts)
}

function idOf(id: JsonValue | undefined): JsonValue | undefined {
  return isJsonObject(id) ? id['id'] : id
}

/** Takes over the values that rules look at. The same ones of the same time changed nothing. */
function taken(
  memory: DeviceMemory,
  type: RuleKey['type'],
  entries: readonly (TypedValue & { readonly key: string })[],
  ts: number,
): ReadonlySet<string> {
  const changed = new Set<string>()
  const isSameTime = memory.ts === ts
  for (const entry of entries) {
    const name = nameOf({ type, key: entry.key })
    if (!memory.values.has(name)) continue
    const before = memory.values.get(name)
    memory.values.set(name, entry)
    if (!isSameTime || before === undefined || !sameValue(before, entry)) changed.add(name)
  }
  return changed
}
