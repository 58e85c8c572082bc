/** Adds fields of the originator, as text (`rule-nodes.md` 19). */
import { z } from 'zod'
import type { EntityId } from '../../model/entity-id.ts'
import { isJsonObject } from '../../model/json.ts'
import type { JsonObject } from '../../model/json.ts'
import type { NodeCapabilities } from '../../engine/rulechain/capabilities.ts'
import { whenThere, type Soon } from '../../engine/rulechain/capabilities/soon.ts'
import { defineNode, orZero } from '../define-node.ts'
import { NodeErrors } from '../errors.ts'
import { pattern } from '../pattern.ts'
import { fieldText } from './entity-fields.ts'
import { checkTarget, fetchTo, withFetched } from './fetched.ts'
import { dataMapping, requireMapping } from './mapped-data.ts'

const DEFAULTS = {
  fetchTo: 'METADATA',
  dataMapping: { name: 'originatorName', type: 'originatorType' },
  ignoreNullStrings: false,
}

const READABLE = ['TENANT', 'CUSTOMER', 'USER', 'ASSET', 'DEVICE', 'ALARM', 'RULE_CHAIN', 'ENTITY_VIEW', 'EDGE']

export const originatorFields = defineNode({
  type: 'org.thingsboard.rule.engine.metadata.TbGetOriginatorFieldsNode',
  name: 'originator fields',
  category: 'ENRICHMENT',
  relations: ['Success'],
  description: 'Adds fields of the originator as text, such as name, label or additionalInfo.description.',
  configurationVersion: 1,
  configuration: z.looseObject({
    fetchTo,
    dataMapping,
    ignoreNullStrings: orZero(z.boolean(), false).meta({
      title: 'Ignore empty ones',
      description: 'Leave out what is null or empty; otherwise null is the text null.',
    }),
  }),
  defaults: DEFAULTS,
  examples: [
    {
      title: 'the name of the tenant',
      configuration: { ...DEFAULTS, dataMapping: { name: 'tenant', nothing: 'x' } },
      given: { data: '{"a":1}', originatorType: 'TENANT' },
      expect: { relations: ['Failure'] },
    },
  ],
  upgrade,
  uses: ['alarms', 'entities'],
  create: (configuration, { services }) => {
    requireMapping(configuration.dataMapping, 'originator fields')
    const fields = Object.entries(configuration.dataMapping).map(([path, to]) => ({ path, to: pattern(to) }))
    return {
      handle: (message) => {
        const { originator } = message
        checkTarget(message, configuration.fetchTo)
        return whenThere(jsonOf(originator, services), (entity) => {
          if (entity === undefined) throw NodeErrors.ENTITY_GONE({ type: originator.entityType, id: originator.id })
          const fetched = fields.flatMap(({ path, to }) => {
            const text = fieldText(entity, path, configuration.ignoreNullStrings)
            return text === undefined ? [] : [[to(message), text] as const]
          })
          return { message: withFetched(message, configuration.fetchTo, fetched), relations: ['Success'] }
        })
      },
    }
  },
})

function jsonOf(
  originator: EntityId,
  { alarms, entities }: Pick<NodeCapabilities, 'alarms' | 'entities'>,
): Soon<JsonObject | undefined> {
  const { entityType, id } = originator
  if (!READABLE.includes(entityType)) {
    throw NodeErrors.UNSUPPORTED_ORIGINATOR({ type: entityType, expected: READABLE.join(', ') })
  }
  if (entityType === 'ALARM') return alarms.find(id).then((alarm) => alarm?.json)
  return whenThere(entities.find(originator), (entity) => entity?.json)
}

/** Version 0: `fieldsMapping`, always to the metadata. Throws where it is missing. */
function upgrade(configuration: JsonObject, fromVersion: number): JsonObject {
  if (fromVersion > 0) return configuration
  const { fieldsMapping, ...rest } = configuration
  if (!isJsonObject(fieldsMapping)) throw NodeErrors.UPGRADE_IMPOSSIBLE({ member: 'fieldsMapping' })
  return { ignoreNullStrings: false, ...rest, dataMapping: fieldsMapping, fetchTo: 'METADATA' }
}
