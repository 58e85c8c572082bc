/**
 * Puts the message into a queue and goes on from there, behind this node, under that queue's strategies: what fails later is tried
 * again from here, not from the start (`rule-nodes.md` 75).
 */
import { z } from 'zod'
import { defineNode } from '../define-node.ts'
import { NodeErrors } from '../errors.ts'

export const checkpoint = defineNode({
  type: 'org.thingsboard.rule.engine.flow.TbCheckpointNode',
  name: 'checkpoint',
  category: 'FLOW',
  relations: ['Success'],
  description:
    "Moves the message to the node's queue, else puts it into its own again: what fails behind this node is retried from here, by that queue's strategy.",
  configurationVersion: 1,
  configuration: z.looseObject({}),
  defaults: {},
  editor: { hasQueueName: true, form: 'tbNodeEmptyConfig' },
  examples: [],
  // The queue was a part of the configuration; the node has a field of its own for it since.
  upgrade: ({ queueName: _moved, ...configuration }) => configuration,
  uses: ['queues'],
  create: async (_configuration, { tenantId, queueName, services }) => {
    if (queueName === null) {
      const step = { flow: 'enqueue', relation: 'Success' } as const
      return { handle: () => step }
    }
    const linkName = await services.queues.linkName(tenantId, queueName)
    if (linkName === undefined) throw NodeErrors.QUEUE_UNKNOWN({ queueName })
    const step = { flow: 'enqueue', relation: 'Success', queueName: linkName } as const
    return { handle: () => step }
  },
})
