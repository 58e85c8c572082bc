/**
 * Sends a call to the originating device (`rule-nodes.md` 53). Calls to devices are not built yet: the node checks its
 * configuration and the message, and takes `Failure` with the reason, so that chains with it import and say what is missing.
 */
import { z } from 'zod'
import { defineNode } from '../define-node.ts'
import { NodeErrors } from '../errors.ts'

export const rpcCallRequest = defineNode({
  type: 'org.thingsboard.rule.engine.rpc.TbSendRPCRequestNode',
  name: 'rpc call request',
  category: 'ACTION',
  relations: ['Success'],
  description: 'Calls the originating device. Not built yet: every message takes Failure.',
  configuration: z.looseObject({
    timeoutInSeconds: z.int().min(0).meta({ title: 'Timeout', description: 'Seconds to wait.' }),
  }),
  defaults: { timeoutInSeconds: 60 },
  examples: [],
  create: () => ({
    handle: (message) => {
      const { entityType } = message.originator
      if (entityType !== 'DEVICE') throw NodeErrors.UNSUPPORTED_ORIGINATOR({ type: entityType, expected: 'DEVICE' })
      throw NodeErrors.NOT_SUPPORTED_YET({ what: 'a call to a device (RPC)' })
    },
  }),
})
