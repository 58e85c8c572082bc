/** Stores a message's points; goes on when they are committed (`rule-nodes.md` 57, `rule-engine.md` 10.5). */
import { z } from 'zod'
import type { ConversionOptions } from '../../model/entry-json.ts'
import type { Message } from '../../model/message.ts'
import type { SaveDone, TelemetrySave } from '../../engine/rulechain/capabilities/telemetry.ts'
import type { BatchResult, NodeContext } from '../../engine/rulechain/node.ts'
import { causeOf } from '../../engine/rulechain/capabilities/calculated.ts'
import { defineNode, orZero } from '../define-node.ts'
import { NodeErrors } from '../errors.ts'
import { processingSettings, saveStrategy, someSettings } from './save-strategy.ts'
import type { Decision } from './save-strategy.ts'
import { pointsOf } from './telemetry-body.ts'

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
            : saveOf(message, place, ts, decision, configuration, options, context.ruleNodeId)
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

function saveOf(
  message: Message,
  place: number,
  ts: number,
  decision: Decision<Action>,
  configuration: Configuration,
  options: ConversionOptions,
  ruleNodeId: string,
): TelemetrySave {
  return {
    tenantId: message.tenantId,
    entity: message.originator,
    isOwn: message.hasOwnOriginator,
    points: pointsOf(message, ts, options),
    ttlSeconds: ttlOf(message, configuration.defaultTTL),
    isTtlOfProfile: true,
    sequence: message.sequence,
    history: decision.timeseries,
    latest: decision.latest,
    notify: decision.webSockets,
    calculated: decision.calculatedFields ? causeOf(message, ruleNodeId) : undefined,
    place,
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
