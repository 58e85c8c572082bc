/** The figures of each part under their Prometheus names: `millrace_<part>_<what>_<unit>`, totals never going down. */
import type { MetricsSource, Sample } from '../api/metrics.ts'
import type { ActorFigures, ActorSystem } from '../engine/actor/system.ts'
import type { ClosableDeviceGateway, DeviceGatewayFigures } from '../engine/device/device-gateway-options.ts'
import type { DeviceOwner, DeviceOwnerFigures } from '../engine/device/owner/device-owner.ts'
import type { QueueFigures } from '../engine/queue/queue.ts'
import type { RuleEngine } from '../engine/rulechain/rule-engine.ts'
import type { JavaScriptFigures, JavaScriptWorkers } from '../engine/script/javascript/javascript-workers.ts'
import type { AggregationFigures } from '../engine/workers/aggregation/aggregation-workers.ts'
import type { NodeStateFigures } from '../engine/state/node-states.ts'
import type { Calculation, CalculationFigures } from '../services/calculated-fields/runtime/runtime.ts'
import type { EventFigures, EventWriter } from '../services/events/event-writer.ts'
import type { AttemptFigures } from '../services/onboarding/wrong-attempts.ts'
import type { Services } from '../services/services.ts'
import type { TelemetryFigures } from '../services/telemetry/telemetry.ts'
import type { OutboundFigures } from '../services/outbound/outbound.ts'
import type { RunningEngine } from './engine.ts'
import { named, type Names } from '../model/figure-names.ts'
import type { OpenedQueues } from './opened-queues.ts'

export interface FigureParts {
  readonly actors: ActorSystem
  /** Undefined where the process has not the role. */
  readonly gateway: ClosableDeviceGateway | undefined
  readonly devices: DeviceOwner | undefined
  readonly running: RunningEngine | undefined
  readonly javaScript: JavaScriptWorkers
}

export function figuresOf(parts: FigureParts): readonly MetricsSource[] {
  const { actors, gateway, devices, running, javaScript } = parts
  return [
    { name: 'actors', figures: () => named(actors.figures(), ACTORS) },
    ...(gateway === undefined ? [] : [{ name: 'devices', figures: () => named(gateway.figures(), DEVICES) }]),
    ...(devices === undefined ? [] : [{ name: 'owned_devices', figures: () => named(devices.figures(), OWNED) }]),
    ...(running === undefined ? [] : engineFigures(running)),
    { name: 'javascript', figures: () => named(javaScript.figures(), JAVASCRIPT) },
  ]
}

function engineFigures({ engine, queues, outbound, states, aggregation }: RunningEngine): readonly MetricsSource[] {
  return [
    { name: 'queue', figures: () => totalFigures(queues) },
    { name: 'queues', figures: () => ({}), samples: () => queueSamples(queues) },
    { name: 'rule_engine', figures: () => ruleEngineFigures(engine) },
    { name: 'outbound', figures: () => named(outbound.figures, OUTBOUND) },
    { name: 'node_states', figures: () => named(states.figures(), NODE_STATES) },
    { name: 'aggregation', figures: () => named(aggregation.figures(), AGGREGATION) },
  ]
}

const AGGREGATION: Names<AggregationFigures> = {
  waiting: 'waiting',
  running: 'running',
  threads: 'threads',
  inline: 'inline_jobs_total',
  pooled: 'pooled_jobs_total',
  entities: 'entities_total',
  refused: 'refused_total',
  timedOut: 'timed_out_total',
  pooledMs: 'pooled_milliseconds_total',
}

const NODE_STATES: Names<NodeStateFigures> = {
  partitions: 'partitions',
  states: 'in_memory',
  underWay: 'messages_under_way',
}

const OUTBOUND: Names<OutboundFigures> = {
  calls: 'calls',
  bytes: 'bytes',
  waiting: 'waiting',
  clients: 'clients',
}

const CALCULATED: Names<CalculationFigures> = {
  fields: 'fields',
  handedOver: 'handed_over_messages_total',
  forwarded: 'forwarded_messages_total',
  calculated: 'calculations_total',
  failed: 'failed_calculations_total',
  results: 'results_total',
}

/** Nothing where fields do not run. */
export function calculationFigures(calculation: Pick<Calculation, 'figures'> | undefined): readonly MetricsSource[] {
  if (calculation === undefined) return []
  return [{ name: 'calculated_fields', figures: () => named(calculation.figures(), CALCULATED) }]
}

type ServiceFigureParts = Pick<
  Services,
  'provisioning' | 'claims' | 'calls' | 'notifications' | 'audit' | 'telemetryWrites'
> & {
  readonly content: Pick<Services['content'], 'room'>
  readonly movedDevices: Pick<Services['movedDevices'], 'size'>
}

const EVENTS: Names<EventFigures> = {
  written: 'written_total',
  droppedForRoom: 'dropped_for_room_total',
  droppedForRate: 'dropped_for_rate_total',
  droppedByStore: 'dropped_by_store_total',
  waitingBytes: 'waiting_bytes',
}

export function eventFigures(writer: Pick<EventWriter, 'figures'>): Record<string, number> {
  return named(writer.figures(), EVENTS)
}

const TELEMETRY: Names<TelemetryFigures> = {
  writes: 'telemetry_writes_under_way',
  saves: 'telemetry_saves_under_way',
  waiting: 'telemetry_saves_waiting',
  late: 'telemetry_late_saves_total',
}

/** What the services hold that has a bound. */
export function serviceFigures(services: ServiceFigureParts): Record<string, number> {
  const { calls, content, provisioning, claims, notifications, audit, movedDevices, telemetryWrites } = services
  const sending = notifications.figures()
  return {
    calls_waiting: calls.figures().waiting,
    file_answer_bytes: content.room.bytes,
    ...attemptFigures('provisioning', provisioning.figures()),
    ...attemptFigures('claim', claims.figures()),
    notification_tenants_sending: sending.sending,
    notification_tenants_waiting: sending.waiting,
    audit_rows_total: audit.figures().rows,
    moved_devices: movedDevices.size,
    ...named(telemetryWrites.figures(), TELEMETRY),
  }
}

function attemptFigures(what: string, { underWay, waiting, wrong, refused }: AttemptFigures): Record<string, number> {
  return {
    [`${what}_attempts_under_way`]: underWay,
    [`${what}_attempts_waiting`]: waiting,
    [`${what}_wrong_attempts_total`]: wrong,
    [`${what}_refused_attempts_total`]: refused,
  }
}

/** What a queue holds and has done; of the totals over all queues, and of each by its name on the link. */
const QUEUE: Names<QueueFigures> = {
  received: 'received_messages_total',
  settled: 'settled_messages_total',
  failed: 'failed_tries_total',
  timedOut: 'timed_out_tries_total',
  retried: 'retried_messages_total',
  skipped: 'skipped_messages_total',
  buried: 'buried_messages_total',
  held: 'held_messages',
  inFlight: 'messages_in_flight',
  packs: 'packs_total',
  failingLanes: 'failing_originators',
}

function totalFigures(queues: OpenedQueues): Record<string, number> {
  const totals = queues.totals()
  return totals === undefined ? {} : named(totals, QUEUE)
}

function* queueSamples(queues: OpenedQueues): Generator<Sample> {
  for (const { queueName: queue, isRetiring: _isRetiring, ...figures } of queues.figures()) {
    for (const [figure, value] of Object.entries(named(figures, QUEUE))) yield { figure, labels: { queue }, value }
  }
}

function ruleEngineFigures(engine: RuleEngine): Record<string, number> {
  const { received, failed, timedOut, late } = engine.totals()
  const chains = engine.figures()
  const inFlight = chains.reduce((sum, chain) => sum + chain.inFlight, 0)
  return {
    chains: chains.length,
    messages_in_flight: inFlight,
    node_messages_total: received,
    node_failures_total: failed,
    node_timeouts_total: timedOut,
    node_late_outcomes_total: late,
  }
}

const ACTORS: Names<ActorFigures> = {
  actors: 'actors',
  received: 'received_messages_total',
  failed: 'failures_total',
  restarts: 'restarts_total',
  passivated: 'passivated_total',
  dropped: 'dropped_messages_total',
}

const JAVASCRIPT: Names<JavaScriptFigures> = {
  scripts: 'scripts',
  waiting: 'waiting_messages',
  running: 'running_tasks',
  threads: 'threads',
  breakersOpen: 'open_breakers',
  messages: 'messages_total',
  batches: 'batches_total',
  strikes: 'strikes_total',
  deaths: 'sandbox_deaths_total',
  errors: 'errors_total',
  timeouts: 'timeouts_total',
  blocked: 'blocked_messages_total',
  refused: 'refused_messages_total',
}

const DEVICES: Names<DeviceGatewayFigures> = {
  devices: 'present',
  cachedCredentials: 'cached_credentials',
  readFailures: 'read_failures_total',
  overRate: 'over_rate_total',
}

const OWNED: Names<DeviceOwnerFigures> = {
  devices: 'present',
  activityWaiting: 'waiting_activity_reports',
  eventsRefused: 'refused_events_total',
  stateFailures: 'state_failures_total',
}
