/** Sends each message to a queue of Amazon SQS (`rule-nodes.md` 63). */
import { z } from 'zod'
import { defineNode, orZero } from '../define-node.ts'
import { pattern } from '../pattern.ts'
import { accountOf } from './aws.ts'
import { answered, bytesOf, callingNode } from './outcome.ts'
import { SECRET } from '../secrets.ts'

const NAME = 'aws sqs'

export const awsSqs = defineNode({
  type: 'org.thingsboard.rule.engine.aws.sqs.TbSqsNode',
  name: NAME,
  category: 'EXTERNAL',
  relations: ['Success'],
  description:
    'Sends the body to an SQS queue; to a FIFO queue under the message’s id and in the order of its originator.',
  triedWith: 'moto',
  configuration: z.looseObject({
    queueType: orZero(z.enum(['STANDARD', 'FIFO']), 'STANDARD').meta({ title: 'Queue type', description: 'Of SQS.' }),
    queueUrlPattern: z.string().min(1).meta({ title: 'Queue URL', description: 'May hold ${metadata} and $[data].' }),
    delaySeconds: orZero(z.int().min(0).max(900), 0).meta({ title: 'Delay', description: 'Of a standard queue.' }),
    messageAttributes: orZero(z.record(z.string(), z.string()), {}).meta({
      title: 'Attributes',
      description: 'Names and values may hold ${metadata} and $[data].',
    }),
    accessKeyId: z.string().nullish(),
    secretAccessKey: z.string().nullish().meta(SECRET),
    region: z.string().meta({ title: 'Region', description: 'Such as us-east-1.' }),
  }),
  defaults: {
    queueType: 'STANDARD',
    queueUrlPattern: 'https://sqs.us-east-1.amazonaws.com/123456789012/my-queue-name',
    delaySeconds: 0,
    messageAttributes: {},
    accessKeyId: null,
    secretAccessKey: null,
    region: 'us-east-1',
  },
  examples: [],
  uses: ['outbound'],
  effects: true,
  create: (config, { services: { outbound } }) => {
    const { queueType, delaySeconds, accessKeyId, secretAccessKey, region } = config
    const client = outbound.open('sqs', accountOf(NAME, { accessKeyId, secretAccessKey }, region))
    const queueUrlOf = pattern(config.queueUrlPattern)
    const attributes = Object.entries(config.messageAttributes).map(
      ([name, value]) => [pattern(name), pattern(value)] as const,
    )
    return callingNode(outbound, client, async (message) => {
      const said = await client.call(
        {
          queueUrl: queueUrlOf(message),
          body: message.data,
          delaySeconds,
          attributes: Object.fromEntries(attributes.map(([name, value]) => [name(message), value(message)])),
          ...(queueType === 'FIFO' ? { deduplicationId: message.id, groupId: message.originator.id } : {}),
        },
        bytesOf(message.data),
      )
      return answered(message, said)
    })
  },
})
