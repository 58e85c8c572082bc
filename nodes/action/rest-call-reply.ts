/** Answers a user who called the rule engine over REST (`rule-nodes.md` 6.5): with the body, to the request that the metadata names. */
import { z } from 'zod'
import { isUuid } from '../../model/entity-id.ts'
import { defineNode } from '../define-node.ts'
import { NodeErrors } from '../errors.ts'

const key = (title: string) =>
  z.string().nullish().meta({ title, description: 'Metadata key; empty for the one that the message comes with.' })

export const restCallReply = defineNode({
  type: 'org.thingsboard.rule.engine.rest.TbSendRestApiCallReplyNode',
  name: 'rest call reply',
  category: 'ACTION',
  relations: ['Success'],
  description: 'Sends the body to the user who called the rule engine over REST.',
  configuration: z.looseObject({
    serviceIdMetaDataAttribute: key('Service id'),
    requestIdMetaDataAttribute: key('Request id'),
  }),
  defaults: { serviceIdMetaDataAttribute: 'serviceId', requestIdMetaDataAttribute: 'requestUUID' },
  editor: { form: 'tbActionNodeSendRestApiCallReplyConfig', icon: 'call_merge' },
  examples: [],
  uses: ['calls'],
  effects: true,
  create: (configuration, { services }) => ({
    handle: ({ metadata, data }) => {
      const required = (name: string | null | undefined, absent: string): string => {
        const value = metadata[name === null || name === undefined || name === '' ? absent : name]
        if (value === undefined || value === '') throw NodeErrors.CALL_MALFORMED({ missing: absent })
        return value
      }
      const requestId = required(configuration.requestIdMetaDataAttribute, 'requestUUID')
      if (!isUuid(requestId)) throw NodeErrors.VALUE_INVALID({ key: 'requestUUID', expected: 'the id of a request' })
      const serviceId = required(configuration.serviceIdMetaDataAttribute, 'serviceId')
      if (data.trim() === '') throw NodeErrors.CALL_MALFORMED({ missing: 'body' })
      services.calls.answer(serviceId, requestId, data)
      return 'Success'
    },
  }),
})
