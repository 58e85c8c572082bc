/** Publishes each message to a topic of Amazon SNS (`rule-nodes.md` 62). */
import { z } from 'zod'
import { defineNode } from '../define-node.ts'
import { pattern } from '../pattern.ts'
import { accountOf } from './aws.ts'
import { answered, bytesOf, callingNode } from './outcome.ts'
import { SECRET } from '../secrets.ts'

const NAME = 'aws sns'

export const awsSns = defineNode({
  type: 'org.thingsboard.rule.engine.aws.sns.TbSnsNode',
  name: NAME,
  category: 'EXTERNAL',
  relations: ['Success'],
  description: 'Publishes the body to an SNS topic.',
  triedWith: 'moto',
  configuration: z.looseObject({
    topicArnPattern: z.string().min(1).meta({ title: 'Topic ARN', description: 'May hold ${metadata} and $[data].' }),
    accessKeyId: z.string().nullish(),
    secretAccessKey: z.string().nullish().meta(SECRET),
    region: z.string().meta({ title: 'Region', description: 'Such as us-east-1.' }),
  }),
  defaults: {
    topicArnPattern: 'arn:aws:sns:us-east-1:123456789012:MyNewTopic',
    accessKeyId: null,
    secretAccessKey: null,
    region: 'us-east-1',
  },
  examples: [],
  uses: ['outbound'],
  effects: true,
  create: ({ topicArnPattern, accessKeyId, secretAccessKey, region }, { services: { outbound } }) => {
    const client = outbound.open('sns', accountOf(NAME, { accessKeyId, secretAccessKey }, region))
    const topicOf = pattern(topicArnPattern)
    return callingNode(outbound, client, async (message) => {
      const call = { topicArn: topicOf(message), message: message.data }
      return answered(message, await client.call(call, bytesOf(message.data)))
    })
  },
})
