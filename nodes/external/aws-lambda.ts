/** Invokes a function of AWS Lambda with each message and goes on with what it answers (`rule-nodes.md` 61). */
import { z } from 'zod'
import { withMetadata } from '../body.ts'
import { defineNode, orZero } from '../define-node.ts'
import { NodeErrors } from '../errors.ts'
import { pattern } from '../pattern.ts'
import { accountOf } from './aws.ts'
import { bytesOf, callingNode, success } from './outcome.ts'
import { SECRET } from '../secrets.ts'

const NAME = 'aws lambda'

export const awsLambda = defineNode({
  type: 'org.thingsboard.rule.engine.aws.lambda.TbAwsLambdaNode',
  name: NAME,
  category: 'EXTERNAL',
  relations: ['Success'],
  description: 'Invokes a function with the body; its answer is the body that goes on. Never acknowledged beforehand.',
  triedWith: 'moto, and a fake of the protocol for what moto does not do',
  configuration: z.looseObject({
    accessKey: z.string().nullish(),
    secretKey: z.string().nullish().meta(SECRET),
    region: z.string().meta({ title: 'Region', description: 'Such as us-east-1.' }),
    functionName: z.string().nullish().meta({ title: 'Function', description: 'May hold ${metadata} and $[data].' }),
    qualifier: z
      .string()
      .nullish()
      .meta({ title: 'Qualifier', description: 'May hold ${metadata} and $[data]; null for $LATEST.' }),
    connectionTimeout: orZero(z.int().min(0), 0).meta({ title: 'Connection timeout', description: 'In seconds.' }),
    requestTimeout: orZero(z.int().min(0), 0).meta({ title: 'Timeout', description: 'In seconds.' }),
    tellFailureIfFuncThrowsExc: orZero(z.boolean(), false).meta({
      title: 'Function errors fail',
      description: 'Otherwise they are answers.',
    }),
  }),
  defaults: {
    accessKey: null,
    secretKey: null,
    region: 'us-east-1',
    functionName: null,
    qualifier: '$LATEST',
    connectionTimeout: 10,
    requestTimeout: 5,
    tellFailureIfFuncThrowsExc: false,
  },
  examples: [],
  uses: ['outbound'],
  effects: true,
  create: (config, { services: { outbound } }) => {
    const { accessKey, secretKey, functionName, qualifier, tellFailureIfFuncThrowsExc } = config
    if (!functionName)
      throw NodeErrors.CONFIGURATION_INVALID({ node: NAME, field: 'functionName', reason: 'is missing' })
    const account = accountOf(NAME, { accessKey, secretKey }, config.region, config.connectionTimeout * 1000)
    const client = outbound.open('lambda', account, { timeoutMs: config.requestTimeout * 1000 })
    const [functionOf, qualifierOf] = [pattern(functionName), pattern(qualifier ?? '$LATEST')]
    return callingNode({ forceAck: false }, client, async (message) => {
      const call = { functionName: functionOf(message), qualifier: qualifierOf(message), payload: message.data }
      const { requestId = '', payload, functionError } = await client.call(call, bytesOf(message.data))
      if (functionError !== undefined && tellFailureIfFuncThrowsExc) throw new Error(payload)
      return success(withMetadata(message, [['requestId', requestId]]).with({ data: payload }))
    })
  },
})
