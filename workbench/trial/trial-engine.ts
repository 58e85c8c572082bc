/**
 * One version of a chain on an engine and a clock of its own, among the other chains of its tenant: messages go through one after the other,
 * and what they do is seen. Nodes remember for as long as the trial lasts.
 */
import { createActorSystem } from '../../engine/actor/system.ts'
import type { CapabilitySources, NodeIdentity } from '../../engine/rulechain/capabilities.ts'
import type { DebugEvent } from '../../engine/rulechain/chain-events.ts'
import type { OpenConfiguration } from '../../engine/rulechain/compile.ts'
import { isSource, type NodeCatalogue } from '../../engine/rulechain/node.ts'
import { createRuleEngine, type RuleEngine } from '../../engine/rulechain/rule-engine.ts'
import { StatesInMemory } from '../../engine/state/memory-store.ts'
import { NodeStates } from '../../engine/state/node-states.ts'
import { awaitedLater } from '../../model/awaited-later.ts'
import type { TrialChain } from '../../model/chain-trial.ts'
import type { RuleChainGraph, RuleNode } from '../../model/entities.ts'
import { errorText } from '../../model/errors.ts'
import type { JsonObject } from '../../model/json.ts'
import { ManualClock, SeededRandom } from '../../model/manual-clock.ts'
import type { Message } from '../../model/message.ts'
import { SoleWork } from '../sole-work.ts'
import type { NotedEffect, Outcome } from './differences.ts'

export interface TrialEngineParts {
  readonly catalogue: NodeCatalogue
  /** The chain that is looked at; the others are there for it to call. */
  readonly chainId: string
  readonly chains: readonly TrialChain[]
  readonly startMs: number
  readonly openConfiguration: OpenConfiguration
  readonly capabilities: (
    clock: ManualClock,
    note: (node: NodeIdentity, effect: string, members: JsonObject) => void,
  ) => CapabilitySources
  /** Puts a message of the chain's own into the real queue; absent in dry runs, where it is noted. */
  readonly publish?: (message: Message) => void
  /** Gives what runs in real time a moment; false once it has had enough of them. */
  readonly pause: (sofar: number) => Promise<boolean>
  /** What its nodes remember: a store of its own where none is given. */
  readonly store?: StatesInMemory
}

export interface UnstartedNode {
  readonly node: string
  readonly reason: string
}

/** Relations that stand in debug events alone. */
const TOLD_ONLY: ReadonlySet<string> = new Set(['ACK', 'To Root Rule Chain'])
/** Messages that one may make by way of the queue. */
const MAX_RESUMED = 1_000
/** Timers that may go off between two messages. */
const MAX_TIMERS = 10_000
const STREAM = 0
/** What one message may leave in the notes. */
const MAX_NOTES = 10_000

interface Notes {
  readonly entered: string[]
  readonly left: { readonly node: string; readonly relation: string; readonly message: Message }[]
  readonly effects: NotedEffect[]
  readonly failures: string[]
}

export class TrialEngine {
  private readonly parts: TrialEngineParts
  private readonly clock: ManualClock
  private readonly engine: RuleEngine
  private readonly states: NodeStates
  private readonly names = new Map<string, string>()
  private notes: Notes = emptyNotes()
  private resumed: Message[] = []
  private sequence = 0

  constructor(parts: TrialEngineParts) {
    this.parts = parts
    const clock = new ManualClock(parts.startMs)
    this.clock = clock
    const random = new SeededRandom(1)
    this.states = new NodeStates({
      ...{ store: parts.store ?? new StatesInMemory(), clock, serviceId: 'trial', report: () => undefined },
      log: {
        publish: (message, receipt) => {
          this.published(message)
          receipt.stored()
        },
        streamOf: () => STREAM,
        // No message comes again: visits need not be remembered.
        settledBelow: () => this.sequence,
      },
    })
    this.engine = createRuleEngine({
      ...{ catalogue: parts.catalogue, clock, random, openConfiguration: parts.openConfiguration },
      actors: createActorSystem({ clock, onError: ({ error }) => void this.notes.failures.push(errorText(error)) }),
      capabilities: {
        ...parts.capabilities(clock, (node, effect, members) => this.noteEffect(node, effect, members)),
        state: (node) => this.states.of(node),
      },
      log: () => undefined,
      link: {
        publish: (message, receipt) => {
          this.published(message)
          receipt.stored()
        },
      },
      deferral: this.states,
      events: { debug: (event) => this.noteVisit(event), failed: () => undefined },
    })
  }

  /** Resolves with the nodes of the chain that do not start. Throws why it can not run at all. */
  async load(): Promise<readonly UnstartedNode[]> {
    await this.states.taken(STREAM)
    const unstarted: UnstartedNode[] = []
    for (const { chain, graph } of this.parts.chains) {
      const isTried = chain.id === this.parts.chainId
      const started = await this.settled(this.engine.load(chain, this.watched(graph, isTried)))
      if (!isTried || started === undefined) continue
      if (started.error !== undefined) throw started.error
      for (const { name, error, ruleNodeId } of started.nodes)
        if (error !== undefined && !this.isSource(graph, ruleNodeId))
          unstarted.push({ node: name, reason: errorText(error) })
    }
    return unstarted
  }

  /** Moves its clock to a time of the log, and lets go off what waits for it. */
  async moveTo(ms: number): Promise<void> {
    for (let timers = 0; timers < MAX_TIMERS; timers++) {
      const left = ms - this.clock.now()
      if (left <= 0) break
      await this.clock.advance(Math.min(left, this.clock.untilNextTimerMs ?? left))
      await this.finishResumed()
    }
  }

  /** Resolves with what came of it and of what went off since the message before; `isEnded` is false where something never ended. */
  async send(message: Message): Promise<{ readonly outcome: Outcome; readonly isEnded: boolean }> {
    const isEnded = (await this.process([message])) && (await this.finishResumed())
    const outcome = this.notes
    this.notes = emptyNotes()
    return { outcome, isEnded }
  }

  async close(): Promise<void> {
    await this.settled(this.engine.close())
    await this.settled(this.states.close())
  }

  private async finishResumed(): Promise<boolean> {
    for (let made = 0; this.resumed.length > 0;) {
      const next = this.resumed
      this.resumed = []
      made += next.length
      if (made > MAX_RESUMED) return false
      if (!(await this.process(next))) return false
    }
    return true
  }

  private async process(messages: readonly Message[]): Promise<boolean> {
    const works = messages.map((message) => {
      // A copy, since each version numbers its own.
      const own = message.with({})
      own.sequence = ++this.sequence
      return new SoleWork(own)
    })
    this.engine.process(works)
    for (let looks = 0; ; looks++) {
      await this.clock.settle()
      if (works.every(({ open }) => open === 0)) break
      if (!(await this.parts.pause(looks))) return false
    }
    this.notes.failures.push(...works.flatMap(({ errors }) => errors.map(errorText)))
    return true
  }

  /** Waits for what needs both its clock's turns and real time. Undefined where it takes too long. */
  private async settled<Value>(wanted: Promise<Value>): Promise<Value | undefined> {
    let isDone = false
    const done = awaitedLater(wanted.finally(() => (isDone = true)))
    for (let looks = 0; !isDone; looks++) {
      await this.clock.settle()
      if (!isDone && !(await this.parts.pause(looks))) return undefined
    }
    return done
  }

  /** What goes on behind a node stays in the trial; what begins anew is one message more for whoever it is for. */
  private published(message: Message): void {
    if (message.resumption !== undefined) {
      this.resumed.push(message)
      return
    }
    const { type, originator, data } = message
    if (this.parts.publish !== undefined) this.parts.publish(message)
    this.addEffect({ node: 'queue', effect: 'send to queue', of: { ...originator }, type, data })
  }

  private noteEffect(node: NodeIdentity, effect: string, members: JsonObject): void {
    const { ruleChainId, ruleChainName, ruleNodeName } = node
    const name = ruleChainId === this.parts.chainId ? ruleNodeName : `${ruleChainName} / ${ruleNodeName}`
    this.addEffect({ node: name, effect, ...members })
  }

  private addEffect(effect: NotedEffect): void {
    if (this.notes.effects.length < MAX_NOTES) this.notes.effects.push(effect)
  }

  private noteVisit({ ruleNodeId, direction, relation = '', message }: DebugEvent): void {
    const node = this.names.get(ruleNodeId)
    if (node === undefined || this.notes.entered.length + this.notes.left.length > MAX_NOTES) return
    if (direction === 'IN') this.notes.entered.push(node)
    else if (!TOLD_ONLY.has(relation)) this.notes.left.push({ node, relation, message })
  }

  /** Sources do not run: what they sent is in the log. */
  private watched(graph: RuleChainGraph, isTried: boolean): RuleChainGraph {
    return {
      ...graph,
      nodes: graph.nodes.map((node): RuleNode => {
        if (isTried) this.names.set(node.id, node.name)
        const debugSettings = isTried
          ? { failuresEnabled: true, allEnabled: true, allEnabledUntil: Number.MAX_SAFE_INTEGER }
          : null
        const disabledReason = this.sendsByItself(node) ? 'a trial takes messages from the log' : node.disabledReason
        return { ...node, debugSettings, disabledReason }
      }),
    }
  }

  private isSource({ nodes }: RuleChainGraph, ruleNodeId: string): boolean {
    const node = nodes.find(({ id }) => id === ruleNodeId)
    return node !== undefined && this.sendsByItself(node)
  }

  private sendsByItself({ type, configuration }: RuleNode): boolean {
    const definition = this.parts.catalogue.find(type)
    return definition !== undefined && isSource(definition, configuration)
  }
}

function emptyNotes(): Notes {
  return { entered: [], left: [], effects: [], failures: [] }
}
