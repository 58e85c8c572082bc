/** Deletes attributes of the originator (`rule-nodes.md` 56). */
import { z } from 'zod'
import { stringifyJson } from '../../model/json.ts'
import { ATTRIBUTE_SCOPES } from '../../model/value.ts'
import { causeOf } from '../../engine/rulechain/capabilities/calculated.ts'
import { defineNode, orZero } from '../define-node.ts'
import { patterns } from '../pattern.ts'
import { scopeOf } from './attribute-scope.ts'

export const deleteAttributes = defineNode({
  type: 'org.thingsboard.rule.engine.telemetry.TbMsgDeleteAttributesNode',
  name: 'delete attributes',
  category: 'ACTION',
  relations: ['Success'],
  description: 'Deletes the named attributes of the originator; Success also where there are none such.',
  configuration: z.looseObject({
    scope: z.enum(ATTRIBUTE_SCOPES).meta({
      title: 'Scope',
      description: "A message's metadata key scope overrides it.",
    }),
    keys: orZero(z.array(z.string()), []).meta({
      title: 'Keys',
      description: 'May hold ${metadata} and $[data].',
    }),
    sendAttributesDeletedNotification: orZero(z.boolean(), false).meta({
      title: 'Send "Attributes Deleted"',
      description: 'Put such a message at the start of the chain.',
    }),
    notifyDevice: orZero(z.boolean(), false).meta({
      title: 'Notify the device',
      description: 'Of shared attributes; the metadata key notifyDevice, where it is true, does so too.',
    }),
  }),
  defaults: { scope: 'SERVER_SCOPE', keys: [], sendAttributesDeletedNotification: false, notifyDevice: false },
  examples: [
    {
      title: 'no key is left',
      configuration: { scope: 'SERVER_SCOPE', keys: [' '] },
      given: { data: '{}' },
      expect: { relations: ['Success'], data: '{}' },
    },
    {
      title: 'a scope that does not exist',
      configuration: { scope: 'SERVER_SCOPE', keys: ['a'] },
      given: { data: '{}', metadata: { scope: 'NO_SCOPE' } },
      expect: { relations: ['Failure'] },
    },
  ],
  uses: ['attributes'],
  effects: true,
  create: (configuration, context) => {
    const { ruleNodeId, clock, services } = context
    const keysOf = patterns(configuration.keys)
    const { notifyDevice, sendAttributesDeletedNotification } = configuration
    return {
      handle: async (message) => {
        const keys = [...new Set(keysOf(message))].filter((key) => key.trim() !== '')
        if (keys.length === 0) return 'Success'
        const scope = scopeOf(message, configuration.scope)
        await services.attributes.delete({
          ...{ entity: message.originator, scope, keys },
          notifyDevice: scope === 'SHARED_SCOPE' && (notifyDevice || message.metadata['notifyDevice'] === 'true'),
          calculated: causeOf(message, ruleNodeId),
        })
        if (sendAttributesDeletedNotification) {
          const data = stringifyJson({ attributes: keys })
          const metadata = { ruleNodeId, scope }
          await context.enqueue(message.with({ type: 'ATTRIBUTES_DELETED', ts: clock.now(), metadata, data }))
        }
        return 'Success'
      },
    }
  },
})
