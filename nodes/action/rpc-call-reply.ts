/** Answers a device that called the rule engine (`rule-nodes.md` 52): with the body, to the session that the metadata names. */
import { z } from 'zod'
import { isUuid } from '../../model/entity-id.ts'
import { defineNode } from '../define-node.ts'
import { NodeErrors } from '../errors.ts'

const key = (title: string) =>
  z.string().nullish().meta({ title, description: 'Metadata key; empty for the one that the message comes with.' })

export const rpcCallReply = defineNode({
  type: 'org.thingsboard.rule.engine.rpc.TbSendRPCReplyNode',
  name: 'rpc call reply',
  category: 'ACTION',
  relations: ['Success'],
  description: 'Sends the body to the device that called the rule engine.',
  configuration: z.looseObject({
    serviceIdMetaDataAttribute: key('Service id'),
    sessionIdMetaDataAttribute: key('Session id'),
    requestIdMetaDataAttribute: key('Request id'),
  }),
  defaults: {
    serviceIdMetaDataAttribute: 'serviceId',
    sessionIdMetaDataAttribute: 'sessionId',
    requestIdMetaDataAttribute: 'requestId',
  },
  editor: { form: 'tbActionNodeRpcReplyConfig', icon: 'call_merge' },
  examples: [],
  uses: ['calls'],
  effects: true,
  create: (configuration, { services }) => ({
    handle: ({ originator, metadata, data }) => {
      if (originator.entityType !== 'DEVICE')
        throw NodeErrors.UNSUPPORTED_ORIGINATOR({ type: originator.entityType, expected: 'DEVICE' })
      const required = (name: string | null | undefined, absent: string): string => {
        const value = metadata[name === null || name === undefined || name === '' ? absent : name]
        if (value === undefined || value === '') throw NodeErrors.CALL_MALFORMED({ missing: absent })
        return value
      }
      const serviceId = required(configuration.serviceIdMetaDataAttribute, 'serviceId')
      const sessionId = required(configuration.sessionIdMetaDataAttribute, 'sessionId')
      if (!isUuid(sessionId)) throw NodeErrors.VALUE_INVALID({ key: 'sessionId', expected: 'the id of a session' })
      const requestId = required(configuration.requestIdMetaDataAttribute, 'requestId')
      if (!isRequestId(requestId))
        throw NodeErrors.VALUE_INVALID({ key: 'requestId', expected: 'a whole number of 32 bits' })
      if (data.trim() === '') throw NodeErrors.CALL_MALFORMED({ missing: 'body' })
      services.calls.replyToDevice(serviceId, sessionId, data)
      return 'Success'
    },
  }),
})

/** Devices count their requests so. */
function isRequestId(text: string): boolean {
  return /^[+-]?\d+$/.test(text) && Number(text) === (Number(text) | 0)
}
