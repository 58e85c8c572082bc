/** For tests of rule chains: graphs in a line each, nodes made of functions, works that check how often they end. */
import type { RuleChain, RuleChainGraph, RuleNode } from '../../model/entities.ts'
import { entityId } from '../../model/entity-id.ts'
import type { JsonObject } from '../../model/json.ts'
import { Message } from '../../model/message.ts'
import type { MessageFields } from '../../model/message.ts'
import { createActorSystem } from '../actor/system.ts'
import { ManualClock, SeededRandom } from '../actor/testkit.ts'
import type { Link } from '../link/link.ts'
import type { Work } from '../queue/work.ts'
import type { CapabilityName } from './capabilities.ts'
import type { NodeCatalogue, NodeContext, NodeDefinition, NodeEditor, NodeInstance } from './node.ts'
import { createRuleEngine } from './rule-engine.ts'
import type { RuleEngine, RuleEngineOptions, RuleEngineSettings } from './rule-engine.ts'

export const TENANT_ID = '10000000-0000-4000-8000-000000000001'

export const ORDINARY_EDITOR: NodeEditor = {
  ...{ clustering: 'ENABLED', hasQueueName: false, hasInput: true, hasOutput: true },
  ...{ isChain: false, form: '', icon: '' },
}

export type MakeNode = (
  context: NodeContext<CapabilityName>,
  configuration: JsonObject,
) => NodeInstance | Promise<NodeInstance>

/** Node types by name; `handle` alone stands for a node of that function. */
export function catalogueOf(
  types: Readonly<Record<string, MakeNode>>,
  uses: readonly CapabilityName[] = [],
): NodeCatalogue {
  const definitions = new Map<string, NodeDefinition>()
  for (const [type, create] of Object.entries(types)) {
    definitions.set(type, {
      type,
      name: type,
      category: 'FILTER',
      configurationVersion: 0,
      description: 'for a test',
      relations: 'custom',
      defaultConfiguration: {},
      configurationSchema: {},
      uses,
      effects: false,
      editor: ORDINARY_EDITOR,
      create: (configuration, context) => create(context, configuration),
      check: () => undefined,
    })
  }
  return { find: (type) => definitions.get(type), all: () => [...definitions.values()] }
}

export interface NodeLine {
  readonly type: string
  readonly name?: string
  readonly configuration?: JsonObject
  readonly disabledReason?: string
}

/** `connections`: `[from, relation, to]`. The first node is number 0 unless there is none. */
export function chainOf(
  ruleChainId: string,
  nodes: readonly NodeLine[],
  connections: readonly (readonly [number, string, number])[],
  change: Partial<RuleChain> = {},
): { readonly chain: RuleChain; readonly graph: RuleChainGraph } {
  const chain: RuleChain = {
    id: ruleChainId,
    createdTime: 0,
    version: 1,
    tenantId: TENANT_ID,
    name: `chain ${ruleChainId}`,
    type: 'CORE',
    firstRuleNodeId: null,
    root: true,
    debugMode: false,
    configuration: null,
    additionalInfo: null,
    ...change,
  }
  const graph: RuleChainGraph = {
    ruleChainId,
    version: 1,
    firstNodeIndex: nodes.length === 0 ? null : 0,
    nodes: nodes.map((line, index) => nodeRecord(ruleChainId, line, index)),
    connections: connections.map(([fromIndex, type, toIndex]) => ({ fromIndex, type, toIndex })),
  }
  return { chain, graph }
}

function nodeRecord(ruleChainId: string, line: NodeLine, index: number): RuleNode {
  return {
    id: `${ruleChainId}-${index}`,
    createdTime: 0,
    ruleChainId,
    type: line.type,
    name: line.name ?? `${line.type} ${index}`,
    debugSettings: null,
    singletonMode: false,
    queueName: null,
    configurationVersion: 0,
    configuration: line.configuration ?? {},
    additionalInfo: null,
    disabledReason: line.disabledReason ?? null,
  }
}

/** Counts its branches like the queue's own work and keeps how it ended. */
export class TestWork implements Work {
  readonly message: Message
  readonly attempt = 1
  isCancelled = false
  executions = 0
  postponedMs = 0
  open = 1
  readonly errors: Error[] = []

  constructor(message: Message) {
    this.message = message
  }

  get isSettled(): boolean {
    return this.open === 0
  }

  branch(count: number): void {
    if (this.open <= 0) throw new Error('branched after it was settled')
    this.open += count
  }

  postpone(nowMs: number): void {
    this.postponedMs = nowMs
  }

  end(error?: Error): void {
    if (this.open <= 0) throw new Error('ended once too often')
    this.open--
    if (error !== undefined) this.errors.push(error)
  }
}

let issued = 0

export function testWork(change: Partial<MessageFields> & { readonly device?: string } = {}): TestWork {
  const { device, ...fields } = change
  return new TestWork(
    new Message({
      id: `message-${++issued}`,
      ts: 1_700_000_000_000,
      type: 'POST_TELEMETRY_REQUEST',
      tenantId: TENANT_ID,
      originator: entityId('DEVICE', device ?? 'device-1'),
      metadata: {},
      data: '{}',
      ...fields,
    }),
  )
}

export interface TestEngine {
  readonly engine: RuleEngine
  readonly clock: ManualClock
  readonly published: Message[]
  readonly log: { readonly level: string; readonly text: string; readonly fields: Readonly<Record<string, unknown>> }[]
  /** Hands works in and lets everything run that needs no time. */
  run(...works: readonly TestWork[]): Promise<void>
}

export function testEngine(
  types: Readonly<Record<string, MakeNode>>,
  settings: Partial<RuleEngineSettings> = {},
  given?: Pick<Link, 'publish'>,
  more: Partial<
    Pick<
      RuleEngineOptions,
      | 'events'
      | 'storedGraph'
      | 'storedChain'
      | 'capabilities'
      | 'deferral'
      | 'meter'
      | 'tracer'
      | 'openConfiguration'
      | 'ownChain'
    >
  > & { readonly clock?: ManualClock } = {},
): TestEngine {
  const clock = more.clock ?? new ManualClock()
  const published: Message[] = []
  const log: TestEngine['log'] = []
  const link: Pick<Link, 'publish'> = given ?? {
    publish: (message, receipt) => {
      published.push(message)
      receipt.stored()
    },
  }
  const engine = createRuleEngine({
    catalogue: catalogueOf(types, more.capabilities?.state === undefined ? [] : ['state']),
    capabilities: {},
    clock,
    random: new SeededRandom(1),
    actors: createActorSystem({
      clock,
      onError: ({ error }) => {
        throw error
      },
    }),
    log: (level, text, fields) => void log.push({ level, text, fields }),
    link,
    settings,
    ...more,
  })
  const run = async (...works: readonly TestWork[]): Promise<void> => {
    engine.process(works)
    await clock.settle()
  }
  return { engine, clock, published, log, run }
}

/** Loads while the manual clock turns. */
export async function loaded<Value>(clock: ManualClock, loading: Promise<Value>): Promise<Value> {
  await clock.settle()
  return loading
}
