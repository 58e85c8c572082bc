/** The figures of each part under their Prometheus names: `millrace_<part>_<what>_<unit>`, totals never going down. */
import type { MetricsSource } from '../api/metrics.ts'
import type { ActorSystem } from '../engine/actor/system.ts'
import type { ClosableDeviceGateway } from '../engine/device/device-gateway.ts'
import type { SegmentLog } from '../engine/link/segment-log.ts'
import type { Queue } from '../engine/queue/queue.ts'
import type { RuleEngine } from '../engine/rulechain/rule-engine.ts'
import type { JavaScriptWorkers } from '../engine/script/javascript/javascript-workers.ts'
import type { EmbeddedTimeSeries } from '../storage/timeseries/embedded/store.ts'

export interface FigureParts {
  readonly link: SegmentLog
  readonly timeSeries: EmbeddedTimeSeries
  readonly actors: ActorSystem
  readonly engine: RuleEngine
  readonly javaScript: JavaScriptWorkers
  readonly queue: Queue
  readonly gateway: ClosableDeviceGateway
}

export function figuresOf(parts: FigureParts): readonly MetricsSource[] {
  const { link, timeSeries, actors, engine, javaScript, queue, gateway } = parts
  return [
    { name: 'link', figures: () => linkFigures(link) },
    { name: 'queue', figures: () => queueFigures(queue) },
    { name: 'actors', figures: () => ({ ...actors.figures() }) },
    { name: 'rule_engine', figures: () => ruleEngineFigures(engine) },
    { name: 'javascript', figures: () => ({ ...javaScript.figures() }) },
    { name: 'devices', figures: () => ({ ...gateway.figures() }) },
    { name: 'time_series', figures: () => numbersOf(timeSeries.figures()) },
  ]
}

function linkFigures(link: SegmentLog): Record<string, number> {
  const figures = link.figures()
  return {
    published_messages_total: figures.published,
    stored_messages_total: figures.stored,
    refused_messages_total: figures.refused,
    delivered_messages_total: figures.delivered,
    settled_messages_total: figures.settled,
    buried_messages_total: figures.buried,
    writes_total: figures.writes,
    written_bytes_total: figures.bytesWritten,
    pending_messages: figures.pending,
    unsettled_messages: figures.unsettled,
    backlog_bytes: figures.backlogBytes,
    segments: figures.segments,
    dead_letters: figures.deadLetters,
    dead_letters_dropped_total: figures.deadLettersDropped,
  }
}

function queueFigures(queue: Queue): Record<string, number> {
  const figures = queue.figures()
  return {
    received_messages_total: figures.received,
    settled_messages_total: figures.settled,
    failed_tries_total: figures.failed,
    timed_out_tries_total: figures.timedOut,
    retried_messages_total: figures.retried,
    buried_messages_total: figures.buried,
    held_messages: figures.held,
    messages_in_flight: figures.inFlight,
    packs_total: figures.packs,
    failing_originators: figures.failingLanes,
  }
}

function ruleEngineFigures(engine: RuleEngine): Record<string, number> {
  const { received, failed } = engine.totals()
  const chains = engine.figures()
  const inFlight = chains.reduce((sum, chain) => sum + chain.inFlight, 0)
  return {
    chains: chains.length,
    messages_in_flight: inFlight,
    node_messages_total: received,
    node_failures_total: failed,
  }
}

function numbersOf(figures: object): Record<string, number> {
  const numbers: Record<string, number> = {}
  for (const [name, value] of Object.entries(figures)) {
    if (typeof value === 'number') numbers[name] = value
  }
  return numbers
}
