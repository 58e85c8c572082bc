/** Publishes each message to a topic of Google Pub/Sub (`rule-nodes.md` 64). */
import { z } from 'zod'
import { defineNode, orZero, requireField } from '../define-node.ts'
import { pattern } from '../pattern.ts'
import { SECRET } from '../secrets.ts'
import { answered, bytesOf, callingNode, made } from './outcome.ts'

const NAME = 'gcp pubsub'

export const gcpPubSub = defineNode({
  type: 'org.thingsboard.rule.engine.gcp.pubsub.TbPubSubNode',
  name: NAME,
  category: 'EXTERNAL',
  relations: ['Success'],
  description:
    'Publishes the body to a topic of Pub/Sub, by its REST interface. A redelivered message is published again.',
  triedWith: 'a fake of its documented REST interface',
  differs: 'It speaks REST, not gRPC.',
  configuration: z.looseObject({
    projectId: orZero(z.string().max(255), '').meta({
      title: 'Project',
      description: 'Its id, as Google Cloud has it.',
    }),
    topicName: orZero(z.string().max(255), '').meta({ title: 'Topic', description: 'Its name within the project.' }),
    messageAttributes: orZero(z.record(z.string(), z.string()), {}).meta({
      title: 'Attributes',
      description: 'Names and values may hold ${metadata} and $[data].',
    }),
    serviceAccountKey: z
      .string()
      .nullish()
      .meta({
        ...SECRET,
        title: 'Key',
        description: 'Of a service account: the JSON file that Google Cloud makes, as a text.',
      }),
    serviceAccountKeyFileName: z
      .string()
      .nullish()
      .meta({ title: 'File name', description: 'Of the key; only shown.' }),
  }),
  defaults: {
    projectId: 'my-google-cloud-project-id',
    topicName: 'my-pubsub-topic-name',
    messageAttributes: {},
    serviceAccountKey: null,
    serviceAccountKeyFileName: null,
  },
  editor: { form: 'tbExternalNodePubSubConfig' },
  examples: [],
  uses: ['outbound'],
  effects: true,
  create: async ({ projectId, topicName, messageAttributes, serviceAccountKey }, { services: { outbound } }) => {
    requireField(projectId !== '', NAME, 'projectId', 'is empty')
    requireField(topicName !== '', NAME, 'topicName', 'is empty')
    const key = serviceAccountKey ?? ''
    requireField(key !== '', NAME, 'serviceAccountKey', 'is missing')
    const attributes = Object.entries(messageAttributes).map(
      ([name, value]) => [pattern(name), pattern(value)] as const,
    )
    const client = await made(outbound.open('pubsub', { projectId, topic: topicName, serviceAccountKey: key }))
    return callingNode(outbound, client, async (message) => {
      const filled = Object.fromEntries(attributes.map(([name, value]) => [name(message), value(message)]))
      const { messageId } = await client.call({ data: message.data, attributes: filled }, bytesOf(message.data))
      return answered(message, { messageId })
    })
  },
})
