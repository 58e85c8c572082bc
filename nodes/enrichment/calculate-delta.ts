/** Adds by how much a value changed since the message before it (`rule-nodes.md` 13). */
import { z } from 'zod'
import type { EntityId } from '../../model/entity-id.ts'
import { LongDecimal, WholeDouble, isJsonObject, type JsonValue } from '../../model/json.ts'
import type { DataPoint } from '../../model/value.ts'
import { mergedMembers } from '../../model/members.ts'
import { withBody } from '../body.ts'
import { halfUp } from '../half-up.ts'
import { defineNode, orZero } from '../define-node.ts'
import { NodeErrors } from '../errors.ts'
import { numberOfText } from '../../model/number-text.ts'

const STATE = z.object({ value: z.number(), ts: z.number() })
type Reading = z.output<typeof STATE>

const key = z.string().refine((text) => text.trim() !== '', 'is blank')

export const calculateDelta = defineNode({
  type: 'org.thingsboard.rule.engine.metadata.CalculateDeltaNode',
  name: 'calculate delta',
  category: 'ENRICHMENT',
  relations: ['Success', 'Other'],
  description:
    'Adds the difference of a value to the one before, and the time between them. The one before is remembered through restarts, or read from the series.',
  configurationVersion: 1,
  configuration: z.looseObject({
    inputValueKey: key.meta({ title: 'Input key', description: 'In the body.' }),
    outputValueKey: key.meta({ title: 'Output key', description: 'Of the difference, in the body.' }),
    useCache: orZero(z.boolean(), false).meta({
      title: 'Remember',
      description: 'Otherwise the value before is the latest that is stored.',
    }),
    addPeriodBetweenMsgs: orZero(z.boolean(), false).meta({
      title: 'Add the period',
      description: 'Between messages.',
    }),
    periodValueKey: z.string().nullish().meta({ title: 'Period key', description: 'In the body, ms.' }),
    round: z
      .int()
      .min(0)
      .max(100)
      .nullish()
      .meta({ title: 'Digits', description: 'Behind the point; all where absent.' }),
    tellFailureIfDeltaIsNegative: orZero(z.boolean(), false).meta({
      title: 'Negative fails',
      description: 'It is remembered even so.',
    }),
    excludeZeroDeltas: orZero(z.boolean(), false).meta({
      title: 'Leave zero out',
      description: 'Where nothing changed the message stays as it is.',
    }),
  }),
  unknownKeys: 'accepted',
  defaults: {
    ...{ inputValueKey: 'pulseCounter', outputValueKey: 'delta', useCache: true, addPeriodBetweenMsgs: false },
    ...{ periodValueKey: 'periodInMs', round: null, tellFailureIfDeltaIsNegative: true, excludeZeroDeltas: false },
  },
  editor: { form: 'tbEnrichmentNodeCalculateDeltaConfig' },
  examples: [
    {
      title: 'the first message',
      configuration: { inputValueKey: 'pulse', outputValueKey: 'delta', useCache: true },
      given: { data: '{"pulse":10}' },
      expect: { relations: ['Success'], data: '{"pulse":10,"delta":0}' },
    },
    {
      title: 'a message without the value',
      configuration: { inputValueKey: 'pulse', outputValueKey: 'delta', useCache: true },
      given: { data: '{"other":10}' },
      expect: { relations: ['Other'], data: '{"other":10}' },
    },
  ],
  upgrade: (configuration, fromVersion) =>
    fromVersion === 0 ? { excludeZeroDeltas: false, ...configuration } : configuration,
  uses: ['state', 'history'],
  create: (configuration, { services: { state, history }, ruleNodeName }) => {
    const { inputValueKey, outputValueKey, useCache, addPeriodBetweenMsgs, periodValueKey, round } = configuration
    if (addPeriodBetweenMsgs && (periodValueKey ?? '').trim() === '') {
      throw NodeErrors.CONFIGURATION_INVALID({ node: ruleNodeName, field: 'periodValueKey', reason: 'is blank' })
    }
    const lastBefore = async (entity: EntityId, ts: number): Promise<DataPoint | undefined> => {
      const query = { keys: [inputValueKey], startTs: 0, endTs: ts, limit: 1, order: 'DESC', agg: 'NONE' } as const
      return (await history.series(entity, query)).get(inputValueKey)?.[0]
    }
    return state.keyed<Reading, Reading | null>({
      per: 'originator',
      parse: (stored) => STATE.parse(stored),
      read(message, remembered) {
        if (useCache && remembered !== undefined) return undefined
        if (message.type !== 'POST_TELEMETRY_REQUEST') return undefined
        const { originator } = message
        return history.latest(originator, [inputValueKey]).then(async ([point]) => {
          const ts = message.metadataTs()
          if (!useCache || point === undefined || point.ts < ts) return readingOf(point)
          // The message comes again, and what is stored may be its own value or a later one: the state, which remembers the value before it, was not.
          return readingOf(await lastBefore(originator, ts))
        })
      },
      handle(turn, message, stored) {
        if (message.type !== 'POST_TELEMETRY_REQUEST') return 'Other'
        const body = message.json()
        if (!isJsonObject(body) || !Object.hasOwn(body, inputValueKey)) return 'Other'
        const reading = { value: numberOf(body[inputValueKey]), ts: message.metadataTs() }
        const before = (useCache ? turn.state : undefined) ?? stored ?? undefined
        if (useCache) turn.set(reading)
        const delta = before === undefined ? 0 : reading.value - before.value
        if (configuration.tellFailureIfDeltaIsNegative && delta < 0) return NodeErrors.DELTA_NEGATIVE()
        if (configuration.excludeZeroDeltas && delta === 0) return 'Success'
        const added: (readonly [string, JsonValue])[] = [
          [outputValueKey, round === null || round === undefined ? delta : halfUp(delta, round)],
        ]
        if (addPeriodBetweenMsgs) added.push([periodValueKey ?? '', before === undefined ? 0 : reading.ts - before.ts])
        return { message: withBody(message, mergedMembers(body, added)), relations: ['Success'] }
      },
    })
  },
})

function readingOf(point: DataPoint | undefined): Reading | null {
  if (point === undefined) return null
  const { key: name, ts, value } = point
  const number = point.type === 'BOOLEAN' || point.type === 'JSON' ? Number.NaN : numberIn(point.value)
  if (Number.isNaN(number)) throw NodeErrors.SERIES_NO_NUMBER({ key: name, value: String(value) })
  return { value: number, ts }
}

function numberOf(value: JsonValue | undefined): number {
  if (value === true) return 1
  if (value instanceof WholeDouble || value instanceof LongDecimal) return value.value
  const isNumber = typeof value === 'number' || typeof value === 'bigint' || typeof value === 'string'
  const number = isNumber ? numberIn(value) : 0
  return Number.isFinite(number) ? number : 0
}

function numberIn(value: number | bigint | string): number {
  return typeof value === 'string' ? numberOfText(value) : Number(value)
}
