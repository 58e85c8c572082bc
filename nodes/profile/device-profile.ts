/**
 * Evaluates the alarm rules of device profiles (`rule-nodes.md` 50, `rule-engine.md` 7.2). What rules have counted is stored in the transaction
 * that says which messages counted; what is to be done with alarms is part of it and done after it, so that a kill between loses nothing.
 */
import { z } from 'zod'
import type { AlarmVisit } from '../../engine/rulechain/capabilities/alarms.ts'
import { isLater, type Soon } from '../../engine/rulechain/capabilities/soon.ts'
import type { BatchResult, Emission, NodeOutput } from '../../engine/rulechain/node.ts'
import type { EntityId } from '../../model/entity-id.ts'
import type { Message } from '../../model/message.ts'
import { PROCESS_BACKFILL, passesBy, type BackfillConfiguration } from '../backfill.ts'
import { defineNode } from '../define-node.ts'
import { partId } from '../part-id.ts'
import { asMessage, carryOut, decisionSchema, type Decision } from './decision.ts'
import { DeviceMemories, type DeviceMemory, type ProfileNodeContext } from './device-memory.ts'
import { handleMessage, type DeviceState } from './device-turn.ts'
import { ProfileTimers } from './profile-timers.ts'

const DECIDED = 'decided'
const FAILURE = 'Failure'

const stateSchema = z.object({
  counts: z.record(
    z.string(),
    z.record(z.string(), z.object({ count: z.number(), lastTs: z.number(), durationMs: z.number() })),
  ),
  pending: z.array(decisionSchema),
})

export const deviceProfile = defineNode({
  type: 'org.thingsboard.rule.engine.profile.TbDeviceProfileNode',
  name: 'device profile (deprecated)',
  category: 'ACTION',
  relations: ['Success', 'Alarm Created', 'Alarm Updated', 'Alarm Severity Updated', 'Alarm Cleared'],
  description:
    "Evaluates the alarm rules of the device's profile. Each alarm that is raised, updated or cleared goes on as a message before the original, which takes Success. What rules have counted is always stored.",
  configurationVersion: 1,
  configuration: z.looseObject({
    processBackfill: PROCESS_BACKFILL,
    persistAlarmRulesState: z.boolean().nullish().meta({
      title: 'Store the state of alarm rules',
      description: 'Unused: it is always stored.',
    }),
    fetchAlarmRulesStateOnStart: z.boolean().nullish().meta({
      title: 'Read the state of alarm rules at start',
      description: 'Unused: it is read when needed.',
    }),
  }),
  unknownKeys: 'accepted',
  defaults: { persistAlarmRulesState: false, fetchAlarmRulesStateOnStart: false },
  examples: [
    {
      title: 'what is no device goes on as it is',
      configuration: { persistAlarmRulesState: false, fetchAlarmRulesStateOnStart: false },
      given: { originatorType: 'ASSET', data: '{"temperature":90}' },
      expect: { relations: ['Success'], data: '{"temperature":90}' },
    },
  ],
  uses: ['alarms', 'attributes', 'entities', 'history', 'state'],
  effects: true,
  create: (configuration, context) => new DeviceProfileNode(configuration, context),
})

class DeviceProfileNode {
  private readonly configuration: BackfillConfiguration
  private readonly context: ProfileNodeContext
  private readonly memories: DeviceMemories
  private readonly keyed
  /** Those whose rules are known when they come in, for the turn in which they are handled. */
  private readonly prepared = new WeakMap<Message, DeviceMemory>()
  /** Batches that wait for what their rules need, and those that came behind them. */
  private waiting = 0
  private tail: Promise<unknown> = Promise.resolve()
  /** By device: its alarms change one after the other. */
  private readonly underWay = new Map<string, Promise<unknown>>()

  constructor(configuration: BackfillConfiguration, context: ProfileNodeContext) {
    this.configuration = configuration
    this.context = context
    this.memories = new DeviceMemories(context)
    const timers = new ProfileTimers(context, this.memories, (decisions, device, cause, visit) =>
      this.carryOut(decisions, device, cause, visit),
    )
    this.keyed = context.services.state.keyed<DeviceState, undefined>({
      per: 'originator',
      parse: (stored) => stateSchema.parse(stored),
      handle: (turn, message) => {
        const memory = this.prepared.get(message)
        if (memory === undefined) return 'Success'
        const { decisions, failure } = handleMessage(turn, message, memory, context.settings)
        if (decisions.length === 0) return failure ?? 'Success'
        const decided = decisions.map((decision) => ({ message: asMessage(decision, message), relations: [DECIDED] }))
        return failure === undefined ? decided : [...decided, { message, relations: [FAILURE], error: failure }]
      },
      replayed: (message, output) => {
        const memory = this.prepared.get(message)
        if (memory !== undefined) foresee(memory, decisionsOf(output))
      },
      wake: (turn) => timers.wake(turn),
    })
  }

  handleBatch(messages: readonly Message[], result: BatchResult): void | Promise<void> {
    const prepared = messages.map((message, index) => this.prepare(message, index, result))
    if (this.waiting === 0 && !prepared.some(isLater)) return this.run(messages, prepared, result)
    this.waiting++
    const ran = this.tail.then(async () => {
      try {
        return { ended: this.run(messages, await Promise.all(prepared.map(async (one) => one)), result) }
      } finally {
        this.waiting--
      }
    })
    // Whose batch it is hears of the error; the next one only waits for the end.
    this.tail = ran.catch(() => undefined)
    return ran.then(({ ended }) => ended)
  }

  close(): void | Promise<void> {
    return this.keyed.close?.()
  }

  /** Whether it is for the rules; undefined where it has its outcome already. */
  private prepare(message: Message, index: number, result: BatchResult): Soon<true | undefined> {
    if (message.originator.entityType !== 'DEVICE' || passesBy(message, this.configuration)) return done(result, index)
    try {
      const memory = this.memories.of(message.originator)
      if (!isLater(memory)) return this.ready(message, index, result, memory)
      return memory.then(
        (known) => this.ready(message, index, result, known),
        (error: unknown) => failed(result, index, error),
      )
    } catch (error) {
      return failed(result, index, error)
    }
  }

  private ready(message: Message, index: number, result: BatchResult, memory: DeviceMemory | undefined) {
    if (memory === undefined) return done(result, index)
    this.prepared.set(message, memory)
    return true
  }

  private run(
    messages: readonly Message[],
    prepared: readonly Soon<true | undefined>[],
    result: BatchResult,
  ): void | Promise<void> {
    const places = messages.flatMap((_, index) => (prepared[index] === true ? [index] : []))
    if (places.length === 0) return undefined
    const handed = places.map((index) => messageAt(messages, index))
    const effects: Promise<void>[] = []
    const placeOf = (index: number): number => places[index] ?? -1
    const ended = this.keyed.handleBatch?.(handed, {
      visit: (index) => result.visit(placeOf(index)),
      emit: (index, output) => {
        const decisions = decisionsOf(output)
        if (decisions.length === 0) return result.emit(placeOf(index), output)
        const message = messageAt(handed, index)
        const original = failureOf(output) ?? { message, relations: ['Success'] }
        effects.push(this.finish(original, placeOf(index), decisions, result))
      },
      fail: (index, error) => {
        this.memories.doubt(messageAt(handed, index).originator.id)
        result.fail(placeOf(index), error)
      },
    })
    if (isPending(ended)) return ended.then(async () => void (await Promise.all(effects)))
    return effects.length === 0 ? undefined : Promise.all(effects).then(() => undefined)
  }

  private async finish(original: Emission, index: number, decisions: readonly Decision[], result: BatchResult) {
    const { message } = original
    try {
      const told = await this.carryOut(decisions, message.originator, message, result.visit(index))
      result.emit(index, [...told, original])
    } catch (error) {
      failed(result, index, error)
    }
  }

  /** What is told of the alarms. Rejects where one can not be written: the alarms of the device are looked at again then. */
  private carryOut(
    decisions: readonly Decision[],
    device: EntityId,
    cause: Message,
    visit: AlarmVisit,
  ): Promise<readonly Emission[]> {
    const before = this.underWay.get(device.id) ?? Promise.resolve()
    const carried = before
      .catch(() => undefined)
      .then(async () => {
        const told: Emission[] = []
        for (const [part, decision] of decisions.entries()) {
          const ownCause = cause.with({ id: partId(cause.id, part) })
          const { services, clock } = this.context
          const own = { ...visit, id: `${visit.id} ${part} ${decision.id}` }
          const carriedOut = await carryOut(decision, device, ownCause, services.alarms, own, clock.now())
          this.note(device, decision, carriedOut.active)
          if (carriedOut.told !== undefined) told.push(carriedOut.told)
        }
        return told
      })
    this.underWay.set(device.id, carried)
    const end = (): void => {
      if (this.underWay.get(device.id) === carried) this.underWay.delete(device.id)
    }
    carried.then(end, () => {
      end()
      this.memories.doubt(device.id)
    })
    return carried
  }

  /** What was decided meanwhile counts more. */
  private note(
    device: EntityId,
    { id, severity, does }: Decision,
    active: { severity: Decision['severity']; id: string } | undefined,
  ) {
    const memory = this.memories.peek(device.id)
    if (memory?.active.has(id) !== true) return
    const known = memory.active.get(id)
    const isAsDecided = does === 'clear' ? known === undefined : known?.severity === severity
    if (isAsDecided) memory.active.set(id, active)
  }
}

/**
 * The alarms as they will stand: what was decided before a kill is carried out after the memory was read, and messages behind it are looked at before.
 * A clear that finds nothing does no harm, one that is not decided does.
 */
function foresee({ active }: DeviceMemory, decisions: readonly Decision[]): void {
  for (const { does, id, severity } of decisions) {
    const known = active.get(id)
    if (does === 'clear') active.set(id, undefined)
    else if (known?.severity !== severity) active.set(id, { severity, id: known?.id })
  }
}

function emissionsOf(output: NodeOutput): readonly Emission[] {
  if (output === undefined || typeof output === 'string' || !Array.isArray(output)) return []
  const emissions: readonly Emission[] = output
  return emissions
}

function failureOf(output: NodeOutput): Emission | undefined {
  return emissionsOf(output).find(({ relations }) => relations.includes(FAILURE))
}

function decisionsOf(output: NodeOutput): readonly Decision[] {
  return emissionsOf(output)
    .filter(({ relations }) => relations.includes(DECIDED))
    .map(({ message }) => decisionSchema.parse(message.json()))
}

function done(result: BatchResult, index: number): undefined {
  result.emit(index, 'Success')
}

function failed(result: BatchResult, index: number, error: unknown): undefined {
  result.fail(index, error instanceof Error ? error : new Error(String(error)))
}

function messageAt(messages: readonly Message[], index: number): Message {
  const message = messages[index]
  if (message === undefined) throw new RangeError(`there is no message ${index}`)
  return message
}

function isPending(value: void | Promise<void>): value is Promise<void> {
  return value instanceof Promise
}
