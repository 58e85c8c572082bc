/** Stores a message's points; goes on when they are committed (`rule-nodes.md` 57, `rule-engine.md` 10.5). */
import { z } from 'zod'
import type { ConversionOptions } from '../../model/entry-json.ts'
import type { EntityId } from '../../model/entity-id.ts'
import type { Message } from '../../model/message.ts'
import type { DataPoint, Entry } from '../../model/value.ts'
import type { SaveDone, TelemetrySave } from '../../engine/rulechain/capabilities/telemetry.ts'
import type { BatchResult, NodeContext } from '../../engine/rulechain/node.ts'
import { causeOf, type CalculationCause } from '../../engine/rulechain/capabilities/calculated.ts'
import type { NodeIdentity } from '../../engine/rulechain/capabilities.ts'
import { defineNode, orZero } from '../define-node.ts'
import { NodeErrors } from '../errors.ts'
import { processingSettings, saveStrategy, someSettings } from './save-strategy.ts'
import type { Decision } from './save-strategy.ts'
import { checkEntries, pointsAt, pointsOf } from './telemetry-body.ts'

const ACTIONS = ['timeseries', 'latest', 'webSockets', 'calculatedFields'] as const
type Action = (typeof ACTIONS)[number]

const configurationSchema = z.looseObject({
  defaultTTL: orZero(z.number().min(0), 0).meta({
    title: 'Default TTL',
    description:
      "Seconds the points are kept; 0: as long as the tenant's profile says. A message's metadata key TTL overrides it.",
  }),
  useServerTs: orZero(z.boolean(), false).meta({
    title: 'Use server time',
    description: 'Points without a time get that of processing, not of the message.',
  }),
  processingSettings: processingSettings(ACTIONS),
})

type Configuration = z.output<typeof configurationSchema>

export const saveTimeSeries = defineNode({
  type: 'org.thingsboard.rule.engine.telemetry.TbMsgTimeseriesNode',
  name: 'save time series',
  category: 'ACTION',
  relations: ['Success'],
  takes: ['POST_TELEMETRY_REQUEST'],
  description:
    'Stores the points of a Post telemetry message and hands them to calculated fields; Success follows the commit.',
  configurationVersion: 1,
  constraints: z.looseObject({ processingSettings: someSettings }),
  editor: { form: 'tbActionNodeTimeseriesConfig', icon: 'file_upload' },
  configuration: configurationSchema,
  defaults: { defaultTTL: 0, useServerTs: false, processingSettings: { type: 'ON_EVERY_MESSAGE' } },
  examples: [
    {
      title: 'points are stored',
      configuration: { processingSettings: { type: 'ON_EVERY_MESSAGE' } },
      given: { type: 'POST_TELEMETRY_REQUEST', data: '{"temperature":22.5}' },
      expect: { relations: ['Success'], data: '{"temperature":22.5}' },
    },
    {
      title: 'other message types fail',
      configuration: { processingSettings: { type: 'ON_EVERY_MESSAGE' } },
      given: { type: 'ATTRIBUTES_UPDATED', data: '{"temperature":22.5}' },
      expect: { relations: ['Failure'] },
    },
  ],
  upgrade: ({ skipLatestPersistence, ...configuration }) => ({
    ...configuration,
    processingSettings:
      skipLatestPersistence === true || skipLatestPersistence === 'true'
        ? {
            type: 'ADVANCED',
            timeseries: { type: 'ON_EVERY_MESSAGE' },
            latest: { type: 'SKIP' },
            webSockets: { type: 'ON_EVERY_MESSAGE' },
            calculatedFields: { type: 'ON_EVERY_MESSAGE' },
          }
        : { type: 'ON_EVERY_MESSAGE' },
  }),
  uses: ['telemetry'],
  effects: true,
  create: (configuration, context) => {
    const strategy = saveStrategy<Action>(configuration.processingSettings, ACTIONS)
    const options: ConversionOptions = { castStrings: context.settings.castStrings, nulls: 'refuse' }
    return {
      isGathered: true,
      handleBatch: (messages, result) =>
        saveBatch(messages, result, context, (message, place) => {
          checkType(message)
          const ts = configuration.useServerTs ? context.clock.now() : message.metadataTs()
          const decision = strategy(ts, message)
          return isNothing(decision)
            ? undefined
            : new MessageSave(message, place, ts, decision, configuration, context, options)
        }),
    }
  },
})

/** One callback and one promise a batch: the store commits what came together as a group. */
function saveBatch(
  messages: readonly Message[],
  result: BatchResult,
  context: NodeContext<'telemetry'>,
  requestOf: (message: Message, place: number) => TelemetrySave | undefined,
): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  let open = messages.length
  const done: SaveDone = (error, place) => {
    if (error === undefined) result.emit(place, 'Success')
    else result.fail(place, error)
    if (--open === 0) resolve()
  }
  messages.forEach((message, place) => {
    try {
      const request = requestOf(message, place)
      if (request === undefined) done(undefined, place)
      else context.services.telemetry.save(request, done)
    } catch (error) {
      done(error instanceof Error ? error : new Error(String(error)), place)
    }
  })
  return promise
}

function checkType(message: Message): void {
  if (message.type !== 'POST_TELEMETRY_REQUEST') throw NodeErrors.UNSUPPORTED_TYPE({ type: message.type })
}

function isNothing(decision: Decision<Action>): boolean {
  return !decision.timeseries && !decision.latest && !decision.webSockets && !decision.calculatedFields
}

/**
 * One per message, alive until its commit: so it holds little, reads the rest off the message, and makes points of known entries only when
 * somebody asks for them.
 */
class MessageSave implements TelemetrySave {
  readonly place: number
  readonly ts: number
  readonly ttlSeconds: number
  private readonly message: Message
  private readonly decision: Decision<Action>
  private readonly node: NodeIdentity
  private made: readonly DataPoint[] | undefined

  constructor(
    message: Message,
    place: number,
    ts: number,
    decision: Decision<Action>,
    { defaultTTL }: Configuration,
    node: NodeIdentity,
    options: ConversionOptions,
  ) {
    this.message = message
    this.place = place
    this.ts = ts
    this.decision = decision
    this.node = node
    const known = message.entries()
    if (known === undefined) this.made = pointsOf(message, ts, options)
    else checkEntries(known, message)
    this.ttlSeconds = ttlOf(message, defaultTTL)
  }

  get points(): readonly DataPoint[] {
    return (this.made ??= pointsAt(this.message.entries() ?? [], this.ts))
  }

  get entries(): readonly Entry[] | undefined {
    return this.message.entries()
  }

  get tenantId(): string {
    return this.message.tenantId
  }

  get isTtlOfProfile(): boolean {
    return true
  }

  get entity(): EntityId {
    return this.message.originator
  }

  get isOwn(): boolean {
    return this.message.hasOwnOriginator
  }

  get sequence(): number {
    return this.message.sequence
  }

  get history(): boolean {
    return this.decision.timeseries
  }

  get latest(): boolean {
    return this.decision.latest
  }

  get notify(): boolean {
    return this.decision.webSockets
  }

  get calculated(): CalculationCause | undefined {
    return this.decision.calculatedFields ? causeOf(this.message, this.node.ruleNodeId) : undefined
  }
}

function ttlOf(message: Message, defaultTtl: number): number {
  const text = message.metadata['TTL']
  if (text === undefined || text === '') return defaultTtl
  const seconds = /^\+?\d+$/.test(text) ? Number(text) : Number.NaN
  if (!Number.isSafeInteger(seconds)) {
    throw NodeErrors.METADATA_INVALID({ key: 'TTL', value: text, expected: 'a number of seconds' })
  }
  return seconds
}
