/**
 * Trials of this process: few at a time, each bounded in messages and time, with rests that leave most of the core to the live road. They read the
 * log, which keeps what they have not read yet, and wait while deliveries wait.
 */
import type { CompleteSources } from '../../engine/rulechain/capabilities.ts'
import type { OpenConfiguration } from '../../engine/rulechain/compile.ts'
import type { Link, LoggedFrame, ReadableLink } from '../../engine/link/link.ts'
import type { FrameObserver } from '../../engine/link/options.ts'
import type { NodeCatalogue } from '../../engine/rulechain/node.ts'
import type { ChainTrials, TrialOrder, TrialChain, TrialReport, TrialVersions } from '../../model/chain-trial.ts'
import type { Clock, Random } from '../../model/clock.ts'
import { errorText } from '../../model/errors.ts'
import type { Message } from '../../model/message.ts'
import { DryCapabilities } from './dry-capabilities.ts'
import { Differences, type Outcome } from './differences.ts'
import { TrialErrors } from './errors.ts'
import { framesByTime, startAt } from './log-reader.ts'
import { Tally } from './tally.ts'
import { TrialEngine } from './trial-engine.ts'

export interface TrialsParts {
  readonly link: ReadableLink & Pick<Link, 'publish'>
  /** What the log's owner gives messages as it opens frames: of what is read again they have nothing. */
  readonly observer: () => FrameObserver
  readonly catalogue: NodeCatalogue
  readonly capabilities: CompleteSources
  /** With secrets: of replays that do what nodes do. */
  readonly openConfiguration: OpenConfiguration
  /** Without secrets: of dry runs, whose calls are shown. */
  readonly maskConfiguration: OpenConfiguration
  readonly clock: Clock
  readonly random: Random
}

const MAX_RUNNING = 2
/** Finished ones of a tenant whose report is kept. */
const MAX_KEPT = 5
const KEPT_MS = 15 * 60_000
const MAX_CHAINS = 500
/** A trial works this part of its time. */
const REST_FACTOR = 3
const PAUSE_MS = 2
/** For one message: 5 s. */
const MAX_PAUSES = 2_500
/** How often a shadow looks for what came. */
const LOOK_MS = 200

export class Trials implements ChainTrials {
  private readonly parts: TrialsParts
  private readonly trials = new Map<string, Trial>()
  private isClosed = false

  constructor(parts: TrialsParts) {
    this.parts = parts
  }

  begin(order: TrialOrder, versions: TrialVersions): TrialReport {
    if (this.isClosed) throw TrialErrors.STOPPED()
    this.forget(order.tenantId)
    const running = [...this.trials.values()].filter(({ isRunning }) => isRunning)
    if (running.some(({ tenantId }) => tenantId === order.tenantId)) throw TrialErrors.RUNNING()
    if (running.length >= MAX_RUNNING) throw TrialErrors.FULL({ limit: MAX_RUNNING })
    if (versions.others.length > MAX_CHAINS) throw TrialErrors.TOO_MANY_CHAINS({ limit: MAX_CHAINS })
    const trial = new Trial(this.parts.random.uuid(), order, versions, this.parts)
    this.trials.set(trial.id, trial)
    trial.run()
    return trial.report()
  }

  report(tenantId: string, id: string): TrialReport {
    return this.found(tenantId, id).report()
  }

  async stop(tenantId: string, id: string): Promise<TrialReport> {
    const trial = this.found(tenantId, id)
    await trial.stop()
    return trial.report()
  }

  async close(): Promise<void> {
    this.isClosed = true
    await Promise.all([...this.trials.values()].map((trial) => trial.stop()))
  }

  private found(tenantId: string, id: string): Trial {
    const trial = this.trials.get(id)
    if (trial?.tenantId !== tenantId) throw TrialErrors.UNKNOWN()
    return trial
  }

  private forget(tenantId: string): void {
    const oldest = this.parts.clock.now() - KEPT_MS
    const ended = [...this.trials.values()].filter(({ isRunning }) => !isRunning)
    const own = ended.filter((trial) => trial.tenantId === tenantId)
    const surplus = own.slice(0, Math.max(0, own.length - MAX_KEPT + 1))
    for (const { id } of [...ended.filter(({ endedAt }) => endedAt < oldest), ...surplus]) this.trials.delete(id)
  }
}

class Trial {
  readonly id: string
  readonly tenantId: string
  endedAt = 0
  private readonly order: TrialOrder
  private readonly versions: TrialVersions
  private readonly parts: TrialsParts
  private readonly startedAt: number
  private readonly from: number
  private readonly until: number
  private readonly observer: FrameObserver
  private readonly differences = new Differences()
  private readonly tally = new Tally()
  private phase: TrialReport['phase'] = 'running'
  private reason: string | undefined
  private cut: TrialReport['cut']
  private reached: number
  private retainedFrom: number | undefined
  private messages = 0
  private reachedChain = 0
  private failed = 0
  private unended = 0
  private passedOver = 0
  private unstarted: TrialReport['unstarted'] = []
  private isStopping = false
  private done: Promise<void> = Promise.resolve()
  private wake: () => void = () => undefined

  constructor(id: string, order: TrialOrder, versions: TrialVersions, parts: TrialsParts) {
    this.id = id
    this.tenantId = order.tenantId
    this.order = order
    this.versions = versions
    this.parts = parts
    this.observer = parts.observer()
    this.startedAt = parts.clock.now()
    this.from = order.kind === 'replay' ? (order.from ?? 0) : this.startedAt
    this.until = order.kind === 'replay' ? this.startedAt : this.startedAt + order.durationMs
    this.reached = this.from
  }

  get isRunning(): boolean {
    return this.phase === 'running'
  }

  run(): void {
    this.done = this.through().then(
      () => this.end(this.isStopping ? 'stopped' : 'done'),
      (error: unknown) => {
        this.reason = errorText(error)
        this.end('failed')
      },
    )
  }

  async stop(): Promise<void> {
    this.isStopping = true
    this.wake()
    await this.done
  }

  report(): TrialReport {
    const { id, phase, reason, cut, startedAt, from, until, reached, retainedFrom } = this
    const { messages, reachedChain, failed, unended, passedOver, unstarted } = this
    const { kind, isReal, maxMessages } = this.order
    return {
      ...{ id, kind, phase, reason, isReal, cut, startedAt, from, until, reached, retainedFrom },
      ...{ messages, maxMessages, reachedChain, failed, unended, passedOver, unstarted },
      ...{ differing: this.differences.differing, differences: this.differences.told() },
      ...{ untoldNodes: this.differences.untoldNodes, nodes: this.tally.nodes() },
    }
  }

  private end(phase: TrialReport['phase']): void {
    this.phase = phase
    this.endedAt = this.parts.clock.now()
  }

  private async through(): Promise<void> {
    const { kind } = this.order
    const starts = await this.starts()
    const tried = this.engineOf(this.versions.tried, this.order.isReal)
    const live = kind === 'shadow' ? this.engineOf(this.versions.live, false) : undefined
    try {
      const told = (version: 'live' | 'tried', nodes: readonly { readonly node: string; readonly reason: string }[]) =>
        nodes.map((node) => ({ ...node, version }))
      this.unstarted = [...told('tried', await tried.load()), ...told('live', (await live?.load()) ?? [])]
      for (;;) {
        const isOver = kind === 'replay' || this.parts.clock.now() >= this.until
        await this.readOn(starts, tried, live)
        if (isOver || this.isStopping || this.cut !== undefined) return
        await this.rest(Math.min(LOOK_MS, Math.max(1, this.until - this.parts.clock.now())))
      }
    } finally {
      await tried.close()
      await live?.close()
    }
  }

  private async starts(): Promise<number[]> {
    const { link } = this.parts
    const found = []
    for (let stream = 0; stream < link.streams; stream++) {
      found.push(await startAt(link, stream, this.from))
      this.observer.taken(stream, 0, undefined)
    }
    const retained = found.flatMap(({ retainedFrom }) => (retainedFrom === undefined ? [] : [retainedFrom]))
    this.retainedFrom = retained.length === 0 ? undefined : Math.min(...retained)
    return found.map(({ position }) => position)
  }

  private async readOn(positions: number[], tried: TrialEngine, live: TrialEngine | undefined): Promise<void> {
    const { clock } = this.parts
    for await (const frame of framesByTime(this.parts.link, positions)) {
      if (frame.storedAt >= this.until) return
      this.observer.opened(frame)
      const begun = clock.monotonic()
      await this.take(frame, tried, live)
      if (this.isStopping || this.cut !== undefined) return
      // As much again and more belongs to the live road.
      await this.rest(Math.ceil((clock.monotonic() - begun) * REST_FACTOR))
      if (this.order.kind === 'shadow' && clock.now() >= this.until + this.order.durationMs) {
        this.cut = 'time'
        return
      }
    }
  }

  private async take(frame: LoggedFrame, tried: TrialEngine, live: TrialEngine | undefined): Promise<void> {
    this.reached = Math.max(this.reached, frame.storedAt)
    for (const message of frame.messages) {
      if (message.tenantId !== this.tenantId) continue
      if (message.resumption !== undefined) {
        this.passedOver++
        continue
      }
      if (this.messages >= this.order.maxMessages) {
        this.cut = 'messages'
        return
      }
      this.messages++
      await this.compare(message, frame.storedAt, tried, live)
      if (this.isStopping) return
    }
  }

  private async compare(
    message: Message,
    at: number,
    tried: TrialEngine,
    live: TrialEngine | undefined,
  ): Promise<void> {
    const now = await outcomeOf(tried, message, at)
    const before = live === undefined ? undefined : await outcomeOf(live, message, at)
    if (!now.isEnded || before?.isEnded === false) this.unended++
    if (now.outcome.failures.length > 0) this.failed++
    if (now.outcome.entered.length > 0 || (before?.outcome.entered.length ?? 0) > 0) this.reachedChain++
    this.tally.add(now.outcome)
    if (before !== undefined && now.isEnded && before.isEnded)
      this.differences.add(message, before.outcome, now.outcome)
  }

  private engineOf(version: TrialChain, isReal: boolean): TrialEngine {
    const { catalogue, capabilities, openConfiguration, maskConfiguration, clock, link } = this.parts
    const { tenantId } = this
    const publish = (message: Message): void =>
      link.publish(message, { stored: () => undefined, refused: () => void this.failed++ })
    return new TrialEngine({
      ...{ catalogue, chainId: version.chain.id, startMs: Math.max(this.from, this.retainedFrom ?? this.startedAt) },
      chains: [...this.versions.others, version],
      openConfiguration: isReal ? openConfiguration : maskConfiguration,
      capabilities: (own, note) =>
        isReal ? capabilities : new DryCapabilities({ tenantId, real: capabilities, clock: own, note }).sources(),
      ...(isReal ? { publish } : {}),
      pause: async (sofar) => {
        await new Promise<void>((resolve) => void clock.after(PAUSE_MS, resolve))
        return sofar < MAX_PAUSES
      },
    })
  }

  private async rest(ms: number): Promise<void> {
    if (this.isStopping) return
    await new Promise<void>((resolve) => {
      this.wake = resolve
      this.parts.clock.after(ms, resolve)
    })
  }
}

async function outcomeOf(
  engine: TrialEngine,
  message: Message,
  at: number,
): Promise<{ readonly outcome: Outcome; readonly isEnded: boolean }> {
  await engine.moveTo(at)
  return engine.send(message)
}
