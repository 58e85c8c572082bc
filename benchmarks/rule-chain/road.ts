/** The example chain on the real engine, with everything around it that costs nothing: no link, no storage, a silent log. */
import { readFileSync } from 'node:fs'
import type { RuleChain, RuleChainGraph } from '../../model/entities.ts'
import { entityId } from '../../model/entity-id.ts'
import type { JsonObject } from '../../model/json.ts'
import { Message, type ParsedData } from '../../model/message.ts'
import { systemClock, systemRandom } from '../../model/system-clock.ts'
import { createActorSystem } from '../../engine/actor/system.ts'
import type { Work } from '../../engine/queue/work.ts'
import type { CapabilitySources } from '../../engine/rulechain/capabilities.ts'
import { createRuleEngine } from '../../engine/rulechain/rule-engine.ts'
import type { RuleEngine } from '../../engine/rulechain/rule-engine.ts'
import type { RuleTracer } from '../../engine/rulechain/tracer.ts'
import type { ScriptHost } from '../../engine/script/script.ts'
import { catalogue } from '../../nodes/catalogue.ts'

export const TENANT_ID = '10000000-0000-4000-8000-000000000001'
const CHAIN_ID = '20000000-0000-4000-8000-000000000001'

interface ExportedChain {
  readonly ruleChain: { readonly name: string }
  readonly metadata: {
    readonly firstNodeIndex: number
    readonly nodes: readonly {
      readonly type: string
      readonly name: string
      readonly configuration: JsonObject
      readonly configurationVersion?: number
    }[]
    readonly connections: RuleChainGraph['connections']
  }
}

export interface Road {
  readonly engine: RuleEngine
  readonly figures: { saved: number; logged: number }
  close(): Promise<void>
}

export async function openRoad(exampleFile: URL, scripts: ScriptHost, tracer?: RuleTracer): Promise<Road> {
  const { chain, graph } = importChain(exampleFile)
  return openChain(chain, graph, scripts, tracer === undefined ? {} : { tracer })
}

export async function openChain(
  chain: RuleChain,
  graph: RuleChainGraph,
  scripts: ScriptHost,
  { tracer, capabilities = {} }: { readonly tracer?: RuleTracer; readonly capabilities?: CapabilitySources } = {},
): Promise<Road> {
  const figures = { saved: 0, logged: 0 }
  const actors = createActorSystem({
    clock: systemClock,
    random: systemRandom,
    onError: ({ error }) => {
      throw error
    },
  })
  const engine = createRuleEngine({
    catalogue,
    clock: systemClock,
    random: systemRandom,
    actors,
    capabilities: {
      scripts: () => scripts,
      calls: () => ({ toDevice: async () => ({}), replyToDevice: () => undefined, answer: () => undefined }),
      telemetry: () => ({
        save: (request, done) => {
          figures.saved += request.points.length
          done(undefined, request.place ?? 0)
        },
      }),
      attributes: () => ({ save: async () => undefined, find: () => [], delete: async () => undefined }),
      queues: () => ({ linkName: async () => undefined }),
      ...capabilities,
    },
    log: (level, text) => {
      if (level !== 'info') throw new Error(text)
      figures.logged++
    },
    link: { publish: (_message, receipt) => receipt.stored() },
    ...(tracer === undefined ? {} : { tracer }),
  })
  const start = await engine.load(chain, graph)
  const failed = start.nodes.find(({ error }) => error !== undefined)
  if (start.error !== undefined || failed !== undefined) throw start.error ?? failed?.error ?? new Error('not started')
  return {
    engine,
    figures,
    close: async () => {
      await engine.close()
      await actors.close()
    },
  }
}

function importChain(file: URL): { readonly chain: RuleChain; readonly graph: RuleChainGraph } {
  const { ruleChain, metadata } = JSON.parse(readFileSync(file, 'utf8')) as ExportedChain
  const { firstNodeIndex, connections, nodes } = metadata
  return graphOf(ruleChain.name, nodes, connections, firstNodeIndex)
}

/** What a chain says of one of its nodes. */
export type NodeDraft = ExportedChain['metadata']['nodes'][number]

export function graphOf(
  chainName: string,
  drafts: readonly NodeDraft[],
  connections: RuleChainGraph['connections'],
  firstNodeIndex = 0,
): { readonly chain: RuleChain; readonly graph: RuleChainGraph } {
  const chain: RuleChain = {
    id: CHAIN_ID,
    createdTime: 0,
    version: 1,
    tenantId: TENANT_ID,
    name: chainName,
    type: 'CORE',
    firstRuleNodeId: null,
    root: true,
    debugMode: false,
    configuration: null,
    additionalInfo: null,
  }
  const nodes = drafts.map((node, index) => ({
    id: `30000000-0000-4000-8000-${String(index).padStart(12, '0')}`,
    createdTime: 0,
    ruleChainId: CHAIN_ID,
    type: node.type,
    name: node.name,
    debugSettings: null,
    singletonMode: false,
    queueName: null,
    configurationVersion: node.configurationVersion ?? 0,
    configuration: node.configuration,
    additionalInfo: null,
    disabledReason: null,
  }))
  return { chain, graph: { ruleChainId: CHAIN_ID, version: 1, firstNodeIndex, nodes, connections } }
}

/** Distinct texts of a pack: one in twenty is out of range, as in a plant with a few broken sensors. */
export function payloads(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => {
    const temperature = index % 20 === 0 ? 81.5 : 15 + (index % 100) / 10 + 0.05
    return `{"temperature":${temperature},"humidity":${40 + (index % 50)},"pressure":${1000.5 + (index % 30)}}`
  })
}

/** `known` is what a transport knows of the data already, having decoded it. */
export function messageOf(data: string, index: number, known?: ParsedData): Message {
  return new Message(
    {
      id: MESSAGE_ID,
      ts: 1_700_000_000_000 + index,
      type: 'POST_TELEMETRY_REQUEST',
      tenantId: TENANT_ID,
      originator: DEVICES[index % DEVICES.length] ?? entityId('DEVICE', MESSAGE_ID),
      metadata: METADATA,
      data,
    },
    known,
  )
}

const MESSAGE_ID = '40000000-0000-4000-8000-000000000001'
const METADATA = { deviceName: 'Thermometer', deviceType: 'default', ts: '1700000000000' }
export const DEVICES = Array.from({ length: 100 }, (_, index) =>
  entityId('DEVICE', `50000000-0000-4000-8000-0000000000${String(index).padStart(2, '0')}`),
)

/** Counts like the queue's work; tells when the whole pack has settled. */
export class BenchmarkWork implements Work {
  executions = 0
  readonly message: Message
  readonly attempt = 1
  readonly isCancelled = false
  private open = 1
  private readonly pack: { open: number; failed: number; readonly done: () => void }

  constructor(message: Message, pack: { open: number; failed: number; readonly done: () => void }) {
    this.message = message
    this.pack = pack
  }

  branch(count: number): void {
    this.open += count
  }

  postpone(): void {
    // It has no deadline.
  }

  end(error?: Error): void {
    if (error !== undefined) this.pack.failed++
    if (--this.open === 0 && --this.pack.open === 0) this.pack.done()
  }
}
