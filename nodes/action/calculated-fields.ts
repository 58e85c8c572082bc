/** Hands a message's values to calculated fields and alarm rules, without storing them (`rule-nodes.md` 54). */
import { z } from 'zod'
import { entriesOf, type ConversionOptions } from '../../model/entry-json.ts'
import type { Message } from '../../model/message.ts'
import { ATTRIBUTE_SCOPES, type AttributeScope } from '../../model/value.ts'
import type { CalculatedValues } from '../../engine/rulechain/capabilities/calculated.ts'
import { causeOf } from '../../engine/rulechain/capabilities/calculated.ts'
import { defineNode } from '../define-node.ts'
import { NodeErrors } from '../errors.ts'
import { isObject, pointsIn } from './telemetry-body.ts'

export const calculatedFields = defineNode({
  type: 'org.thingsboard.rule.engine.telemetry.TbCalculatedFieldsNode',
  name: 'calculated fields and alarm rules',
  category: 'ACTION',
  relations: ['Success'],
  takes: ['POST_TELEMETRY_REQUEST', 'POST_ATTRIBUTES_REQUEST'],
  description: 'Hands the values of a message to calculated fields; Success follows when the log has them.',
  configuration: z.looseObject({}),
  editor: { form: '', icon: 'published_with_changes' },
  defaults: {},
  examples: [
    {
      title: 'points go on as they are',
      configuration: {},
      given: { type: 'POST_TELEMETRY_REQUEST', data: '{"temperature":22.5}' },
      expect: { relations: ['Success'], data: '{"temperature":22.5}' },
    },
    {
      title: 'no points are no mistake',
      configuration: {},
      given: { type: 'POST_TELEMETRY_REQUEST', data: '[]' },
      expect: { relations: ['Success'] },
    },
    {
      title: 'nor are no attributes',
      configuration: {},
      given: { type: 'POST_ATTRIBUTES_REQUEST', data: '{}' },
      expect: { relations: ['Success'] },
    },
    {
      title: 'attributes need a scope',
      configuration: {},
      given: { type: 'POST_ATTRIBUTES_REQUEST', data: '{"firmware":"1.2"}' },
      expect: { relations: ['Failure'] },
    },
    {
      title: 'other message types fail',
      configuration: {},
      given: { type: 'ALARM', data: '{}' },
      expect: { relations: ['Failure'] },
    },
  ],
  uses: ['calculated'],
  effects: true,
  create: (_configuration, { ruleNodeId, services, settings, clock }) => {
    const options: ConversionOptions = { castStrings: settings.castStrings, nulls: 'refuse' }
    return {
      handle: (message) => {
        const { tenantId, originator: entity } = message
        const values = valuesOf(message, clock.now(), options)
        if (values === undefined) return 'Success'
        const change = { tenantId, entity, values, cause: causeOf(message, ruleNodeId) }
        // Mostly nobody needs them: then there is no promise.
        const { promise, resolve, reject } = Promise.withResolvers<string>()
        const isNeeded = services.calculated.handOver(change, (error) => {
          if (error === undefined) resolve('Success')
          else reject(error)
        })
        return isNeeded ? promise : 'Success'
      },
    }
  },
})

/** Undefined where there is nothing to calculate with, which is no mistake whatever the scope. */
function valuesOf(message: Message, now: number, options: ConversionOptions): CalculatedValues | undefined {
  if (message.type === 'POST_TELEMETRY_REQUEST') {
    const points = pointsIn(message, now, options)
    return points.length === 0 ? undefined : { kind: 'series', points }
  }
  if (message.type !== 'POST_ATTRIBUTES_REQUEST') throw NodeErrors.UNSUPPORTED_TYPE({ type: message.type })
  const body = message.json()
  if (!isObject(body)) throw NodeErrors.BODY_SHAPE({ reason: 'expected an object' })
  const entries = message.entries() ?? entriesOf(body, options)
  return entries.length === 0 ? undefined : { kind: 'attributes', scope: scopeIn(message), entries }
}

/** Throws `SCOPE_MISSING`, `SCOPE_UNKNOWN`. */
function scopeIn({ metadata }: Message): AttributeScope {
  const text = metadata['scope'] ?? ''
  if (text === '') throw NodeErrors.SCOPE_MISSING()
  const scope = ATTRIBUTE_SCOPES.find((each) => each === text)
  if (scope === undefined) throw NodeErrors.SCOPE_UNKNOWN({ scope: text })
  return scope
}
