/** For tests of nodes: a context whose services note what they are asked, messages, and one run of a node outside the engine. */
import { compileFunction } from 'node:vm'
import type { Clock, Random } from '../model/clock.ts'
import { entityId } from '../model/entity-id.ts'
import type { EntityType } from '../model/entity-id.ts'
import { stringifyJson } from '../model/json.ts'
import type { JsonObject, JsonValue } from '../model/json.ts'
import { Message } from '../model/message.ts'
import type { ParsedData } from '../model/message.ts'
import type {
  Emission,
  FlowStep,
  NodeContext,
  NodeDefinition,
  NodeInstance,
  NodeOutput,
  NodeVisit,
} from '../engine/rulechain/node.ts'
import type { CapabilityName } from '../engine/rulechain/capabilities.ts'
import type { AttributesSave } from '../engine/rulechain/capabilities/attributes.ts'
import type { NodeCallOutcome, NodeDeviceCall } from '../engine/rulechain/capabilities/calls.ts'
import type { TelemetrySave } from '../engine/rulechain/capabilities/telemetry.ts'
import { ScriptErrors } from '../engine/script/errors.ts'
import { FakeAggregation } from './fakes/aggregation.ts'
import { FakeAlarms } from './fakes/alarms.ts'
import { FakeCalculated } from './fakes/calculated.ts'
import { FakeAttributes } from './fakes/attributes.ts'
import { FakeEntities } from './fakes/entities.ts'
import { FakeHistory } from './fakes/history.ts'
import { FakeAi, FakeDeviceState, FakeMail, FakeNotifications, FakeSms, FakeTables, FakeViews } from './fakes/noted.ts'
import { FakeOutbound } from './fakes/outbound.ts'
import { FakeRelations } from './fakes/relations.ts'
import { FakeRoutes } from './fakes/routes.ts'
import { FakeState } from './fakes/state.ts'
import type { CompiledScript, ScriptHost, ScriptKind, ScriptResults } from '../engine/script/script.ts'

export interface RecordedLine {
  readonly level: string
  readonly text: string
  readonly fields: Readonly<Record<string, unknown>> | undefined
}

/** What stands for the platform in a test: fill it before, look at it after. */
export interface Fakes {
  readonly aggregation: FakeAggregation
  readonly ai: FakeAi
  readonly alarms: FakeAlarms
  readonly attributes: FakeAttributes
  readonly calculated: FakeCalculated
  readonly deviceState: FakeDeviceState
  readonly entities: FakeEntities
  readonly history: FakeHistory
  readonly mail: FakeMail
  readonly notifications: FakeNotifications
  readonly outbound: FakeOutbound
  readonly relations: FakeRelations
  readonly routes: FakeRoutes
  readonly sms: FakeSms
  readonly state: FakeState
  readonly tables: FakeTables
  readonly views: FakeViews
}

/** Has every capability. */
export interface TestContext extends NodeContext<CapabilityName> {
  readonly fakes: Fakes
  readonly telemetrySaves: TelemetrySave[]
  readonly attributeSaves: AttributesSave[]
  readonly enqueued: Message[]
  readonly calls: NodeDeviceCall[]
  /** What becomes of the next calls; else of one that need not be answered. */
  readonly callOutcomes: NodeCallOutcome[]
  readonly replies: (readonly string[])[]
  readonly lines: RecordedLine[]
  /** Scripts that are compiled and not closed. */
  openScripts(): number
  /** The next saves fail with this. */
  failSavesWith(error: Error | undefined): void
}

export const TENANT_ID = '11111111-1111-4111-8111-111111111111'
/** The chain that the node is in. */
export const RULE_CHAIN_ID = '22222222-2222-4222-8222-222222222222'
const FIXED_TIME = 1_700_000_000_000

const fixedClock: Clock = {
  now: () => FIXED_TIME,
  monotonic: () => 0,
  after: () => ({ cancel: () => undefined }),
  soon: (run) => queueMicrotask(run),
}

export function testContext(
  change: Partial<Pick<NodeContext, 'ruleNodeName' | 'queueName' | 'settings' | 'clock'>> = {},
): TestContext {
  let saveError: Error | undefined
  let issued = 0
  const scripts = new TestScripts()
  const random: Random = {
    next: () => 0.5,
    uuid: () => `00000000-0000-4000-8000-${String(++issued).padStart(12, '0')}`,
  }
  const fakes = fakesOf(TENANT_ID, change.clock ?? fixedClock)
  const context: TestContext = {
    fakes,
    tenantId: TENANT_ID,
    ruleChainId: RULE_CHAIN_ID,
    ruleChainName: 'Test chain',
    ruleNodeId: '33333333-3333-4333-8333-333333333333',
    ruleNodeName: change.ruleNodeName ?? 'Test node',
    queueName: change.queueName ?? null,
    clock: change.clock ?? fixedClock,
    random,
    settings: change.settings ?? { castStrings: true, logsInfo: true },
    telemetrySaves: [],
    attributeSaves: fakes.attributes.saves,
    enqueued: [],
    calls: [],
    callOutcomes: [],
    replies: [],
    lines: [],
    openScripts: () => scripts.open,
    failSavesWith: (error) => {
      saveError = error
      fakes.attributes.failure = error
    },
    log: (level, text, fields) => void context.lines.push({ level, text, fields }),
    enqueue: async (message) => void context.enqueued.push(message),
    services: {
      ...fakes,
      scripts,
      calls: {
        toDevice: async (call) => {
          context.calls.push(call)
          return context.callOutcomes.shift() ?? {}
        },
        replyToDevice: (...reply) => void context.replies.push(reply),
        answer: (...reply) => void context.replies.push(reply),
      },
      telemetry: {
        save: (request, done) => {
          context.telemetrySaves.push(request)
          done(saveError, request.place ?? 0)
        },
      },
      queues: {
        linkName: async (tenantId, name) =>
          name === 'Slow' && tenantId === TENANT_ID ? `${tenantId}.${name}` : undefined,
      },
    },
  }
  return context
}

function fakesOf(tenantId: string, clock: Clock): Fakes {
  const now = (): number => clock.now()
  const entities = new FakeEntities(tenantId)
  entities.add({ id: entityId('RULE_CHAIN', RULE_CHAIN_ID), name: 'Test chain' })
  const alarms = new FakeAlarms(now)
  const attributes = new FakeAttributes()
  const history = new FakeHistory()
  const relations = new FakeRelations((device) => entities.find(device)?.type)
  return {
    aggregation: new FakeAggregation({
      ...{ entities, alarms, attributes, history, relations },
      soon: (run) => clock.soon(run),
    }),
    ai: new FakeAi(),
    alarms,
    attributes,
    calculated: new FakeCalculated(),
    deviceState: new FakeDeviceState(),
    entities,
    history,
    mail: new FakeMail(),
    notifications: new FakeNotifications(),
    outbound: new FakeOutbound(),
    relations,
    routes: new FakeRoutes(),
    sms: new FakeSms(),
    state: new FakeState(now),
    tables: new FakeTables(),
    views: new FakeViews(),
  }
}

export interface MessageDraft {
  readonly id?: string
  readonly ts?: number
  readonly type?: string
  readonly originatorType?: EntityType
  readonly originatorId?: string
  readonly data: string
  readonly metadata?: Readonly<Record<string, string>>
  readonly known?: ParsedData
}

export function testMessage(draft: MessageDraft): Message {
  return new Message(
    {
      id: draft.id ?? '44444444-4444-4444-8444-444444444444',
      ts: draft.ts ?? FIXED_TIME,
      type: draft.type ?? 'POST_TELEMETRY_REQUEST',
      tenantId: TENANT_ID,
      originator: entityId(
        draft.originatorType ?? 'DEVICE',
        draft.originatorId ?? '55555555-5555-4555-8555-555555555555',
      ),
      metadata: draft.metadata ?? {},
      data: draft.data,
    },
    draft.known,
  )
}

/** Where a message came out: its emissions, or the flow step or nothing; a thrown error is `Failure`. */
export interface NodeResult {
  readonly emissions: readonly Emission[]
  readonly step?: FlowStep
  readonly error?: Error
}

export async function createNode(
  definition: NodeDefinition,
  configuration: JsonObject = definition.defaultConfiguration,
  context: NodeContext<CapabilityName> = testContext(),
): Promise<NodeInstance> {
  return definition.create(configuration, context)
}

/** Hands messages to a node as a batch where it takes batches, and one after the other where not. */
export async function runNode(instance: NodeInstance, ...messages: readonly Message[]): Promise<readonly NodeResult[]> {
  if (instance.handleBatch === undefined) {
    const results: NodeResult[] = []
    for (const message of messages) results.push(await runOne(instance, message))
    return results
  }
  const results: (NodeResult | undefined)[] = messages.map(() => undefined)
  const settle = (index: number, result: NodeResult): void => {
    if (results[index] !== undefined) throw new Error(`two outcomes for message ${index}`)
    results[index] = result
  }
  await instance.handleBatch(messages, {
    visit: (index) => nextVisit(messages[index]),
    emit: (index, output) => settle(index, resultOf(messages[index], output)),
    fail: (index, error) => settle(index, failure(messages[index], error)),
  })
  return results.map((result, index) => {
    if (result === undefined) throw new Error(`no outcome for message ${index}`)
    return result
  })
}

let visits = 0

/** Another one each time. */
function nextVisit(message: Message | undefined): NodeVisit {
  const id = `visit ${++visits}`
  return { id, originatorId: message?.originator.id ?? '', sequence: visits }
}

async function runOne(instance: NodeInstance, message: Message): Promise<NodeResult> {
  try {
    return resultOf(message, await instance.handle?.(message, { visit: () => nextVisit(message) }))
  } catch (error) {
    return failure(message, error instanceof Error ? error : new Error(String(error)))
  }
}

function resultOf(message: Message | undefined, output: NodeOutput): NodeResult {
  if (message === undefined) throw new Error('outcome for a message that was not in the batch')
  if (output === undefined) return { emissions: [] }
  if (typeof output === 'string') return { emissions: [{ message, relations: [output] }] }
  if ('flow' in output) return { emissions: [], step: output }
  return { emissions: 'message' in output ? [output] : output }
}

function failure(message: Message | undefined, error: Error): NodeResult {
  if (message === undefined) throw new Error('failure of a message that was not in the batch')
  return { emissions: [{ message, relations: ['Failure'] }], error }
}

/** Runs bodies as JavaScript in this process: inline for TBEL, in a batch for JS, as the real hosts do. Only for tests. */
export class TestScripts implements ScriptHost {
  open = 0

  compile<Kind extends ScriptKind>(source: { language: string; kind: Kind; body: string }): CompiledScript<Kind> {
    if (source.body.trim() === '') throw ScriptErrors.SCRIPT_BODY({ reason: 'blank' })
    const compiled = compileFunction(source.body, ['msg', 'metadata', 'msgType']) as (...args: unknown[]) => unknown
    this.open++
    const run = (message: Message): ScriptResults[Kind] => {
      const value = compiled(structuredClone(message.json()), { ...message.metadata }, message.type)
      return resultOfKind(source.kind, value) as ScriptResults[Kind]
    }
    let isClosed = false
    return {
      ...(source.language === 'TBEL' ? { run } : {}),
      runBatch: async (messages, result) => {
        await Promise.resolve()
        messages.forEach((message, index) => {
          try {
            result.value(index, run(message))
          } catch (error) {
            result.error(index, error instanceof Error ? error : new Error(String(error)))
          }
        })
      },
      close: () => {
        if (!isClosed) this.open--
        isClosed = true
      },
    }
  }
}

function resultOfKind(kind: ScriptKind, value: unknown): ScriptResults[ScriptKind] {
  switch (kind) {
    case 'filter':
      if (typeof value === 'boolean') return value
      break
    case 'log':
      if (typeof value === 'string') return value
      break
    case 'json':
      return stringifyJson((value ?? null) as JsonValue)
    case 'switch':
      if (typeof value === 'string') return [value]
      if (Array.isArray(value)) return value.map(String)
      break
    case 'generate':
      if (value !== null && typeof value === 'object' && !Array.isArray(value)) return transformed(value)
      break
    case 'transform':
      if (value !== null && typeof value === 'object') return (Array.isArray(value) ? value : [value]).map(transformed)
      break
    case 'generate':
      if (value !== null && typeof value === 'object' && !Array.isArray(value)) return transformed(value)
      break
    case 'json':
      return stringifyJson(value as JsonValue)
  }
  throw ScriptErrors.SCRIPT_RESULT_TYPE({ actual: typeof value, expected: kind })
}

function transformed(value: { msg?: JsonValue; metadata?: Record<string, unknown>; msgType?: string }) {
  return {
    ...(value.msg === undefined ? {} : { data: stringifyJson(value.msg) }),
    ...(value.metadata === undefined
      ? {}
      : { metadata: Object.fromEntries(Object.entries(value.metadata).map(([key, text]) => [key, String(text)])) }),
    ...(value.msgType === undefined ? {} : { type: value.msgType }),
  }
}
