/**
 * Durations that end though nothing is heard of the device. A wake-up decides, and stores what it decided; the next one has it done; the one
 * after that sends what is told of it. So each step is durable before the next, and a kill between two of them repeats at most the last.
 */
import type { AlarmVisit } from '../../engine/rulechain/capabilities/alarms.ts'
import type { StateTurn } from '../../engine/rulechain/capabilities/state.ts'
import type { Emission } from '../../engine/rulechain/node.ts'
import type { EntityId } from '../../model/entity-id.ts'
import { errorText } from '../../model/errors.ts'
import { stringifyJson } from '../../model/json.ts'
import { Message } from '../../model/message.ts'
import type { Decision } from './decision.ts'
import type { DeviceMemories, DeviceMemory, ProfileNodeContext } from './device-memory.ts'
import { dueOf, handleTime, rearm, type DeviceState } from './device-turn.ts'

const LOOK_AGAIN_MS = 250
const AGAIN_AFTER_FAILURE_MS = 60_000

type CarryOut = (
  decisions: readonly Decision[],
  device: EntityId,
  cause: Message,
  visit: AlarmVisit,
) => Promise<readonly Emission[]>

/** Of what was begun for a device; undefined while it is under way. */
interface Begun<Value> {
  /** What it was begun for: the partition may leave and come back with another state. */
  readonly cause: string
  value: Value | undefined
  hasFailed: boolean
}

/** Held here until it is used: the memories may drop it before. */
interface Loaded {
  /** Undefined where the device is gone, or its profile has no rules any more. */
  readonly memory: DeviceMemory | undefined
}

export class ProfileTimers {
  private readonly context: ProfileNodeContext
  private readonly memories: DeviceMemories
  private readonly carryOut: CarryOut
  private readonly effects = new Map<string, Begun<readonly Emission[]>>()
  private readonly loads = new Map<string, Begun<Loaded>>()

  constructor(context: ProfileNodeContext, memories: DeviceMemories, carryOut: CarryOut) {
    this.context = context
    this.memories = memories
    this.carryOut = carryOut
  }

  wake(turn: StateTurn<DeviceState>): void {
    const { entity, state } = turn
    if (entity === undefined || state === undefined) return
    if (state.pending.length > 0) return this.doPending(turn, entity, state)
    const held = this.memories.peek(entity.id)
    const cause = stringifyJson(state.counts)
    const loaded = held === undefined ? valueOf(this.loads.get(entity.id), cause) : { memory: held }
    if (loaded === undefined) return this.wait(turn, entity, this.loads, cause, () => this.load(entity))
    this.loads.delete(entity.id)
    if (loaded.memory === undefined) turn.set(undefined)
    else handleTime(turn, loaded.memory)
  }

  private doPending(turn: StateTurn<DeviceState>, entity: EntityId, { counts, pending }: DeviceState): void {
    const cause = stringifyJson(pending)
    const told = valueOf(this.effects.get(entity.id), cause)
    if (told === undefined) {
      return this.wait(turn, entity, this.effects, cause, () =>
        this.carryOut(pending, entity, this.causeOf(entity), visitOf(pending, entity)),
      )
    }
    this.effects.delete(entity.id)
    for (const { message, relations } of told) for (const relation of relations) turn.send(message, relation)
    turn.set(Object.keys(counts).length === 0 ? undefined : { counts, pending: [] })
    const memory = this.memories.peek(entity.id)
    // Durations that nobody can foretell are looked at soon.
    const due = memory === undefined ? (Object.keys(counts).length === 0 ? undefined : turn.now) : dueOf(memory, counts)
    rearm(turn, due)
  }

  /** Begins it, and has the device woken to look whether it is done. */
  private wait<Value>(
    turn: StateTurn<DeviceState>,
    { id }: EntityId,
    begun: Map<string, Begun<Value>>,
    cause: string,
    begin: () => Promise<Value>,
  ): void {
    const before = begun.get(id)
    const known = before?.cause === cause ? before : undefined
    if (known?.hasFailed === true) {
      begun.delete(id)
      turn.wakeAt(turn.now + AGAIN_AFTER_FAILURE_MS)
      return
    }
    turn.wakeAt(turn.now + LOOK_AGAIN_MS)
    if (known !== undefined) return
    const mine: Begun<Value> = { cause, value: undefined, hasFailed: false }
    begun.set(id, mine)
    begin().then(
      (value) => void (mine.value = value),
      (error: unknown) => {
        mine.hasFailed = true
        const reason = errorText(error)
        this.context.log('warn', 'alarm rules can not be evaluated when their time comes; later again', { reason })
      },
    )
  }

  private async load(entity: EntityId): Promise<Loaded> {
    return { memory: await this.memories.of(entity) }
  }

  private causeOf(entity: EntityId): Message {
    const { random, clock, tenantId } = this.context
    const memory = this.memories.peek(entity.id)
    return new Message({
      ...{ id: random.uuid(), ts: clock.now(), type: 'ALARM', tenantId, originator: entity, data: '{}' },
      customerId: memory?.device.customerId ?? undefined,
      metadata: memory?.metadata ?? {},
      queueName: memory?.queueName,
    })
  }
}

/** The same as long as what was decided waits, through restarts. */
function visitOf(pending: readonly Decision[], { id }: EntityId): AlarmVisit {
  const decided = pending.map(({ does, id: alarm, severity, startTs }) => `${does} ${alarm} ${severity} ${startTs}`)
  return { id: `time ${decided.join()}`, originatorId: id, sequence: null }
}

function valueOf<Value>(begun: Begun<Value> | undefined, cause: string): Value | undefined {
  return begun?.cause === cause ? begun.value : undefined
}
