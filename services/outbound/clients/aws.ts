/** Amazon's services over their own clients, each loaded with the first node that calls it. */
import { Agent as HttpAgent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import { z } from 'zod'
import type { AwsAccount } from '../../../engine/rulechain/capabilities/outbound.ts'
import { OutboundErrors } from '../errors.ts'
import { boundAnswers } from './bound-answers.ts'
import type { ClientParts, OpenClient } from '../raw-client.ts'

/** Stands in a host name. */
const REGION = /^[a-z]{2}(-[a-z]+)+-\d{1,2}$/
const CONNECTION_TIMEOUT_MS = 10_000
/** Whoever answers in the place of Amazon may say more. */
const RECEIPT_BYTES = 256 * 1024
/** Of a function that is waited for: 6 MB, with what goes around them. */
const PAYLOAD_BYTES = 7 * 2 ** 20

/** Else the client writes a line to the console for each message to a queue that is not at its region's own host. */
const SILENT = { trace: ignore, debug: ignore, info: ignore, warn: ignore, error: ignore }

export const openSqs: OpenClient<'sqs'> = async (account, parts) => {
  const { SQSClient, SendMessageCommand } = await import('@aws-sdk/client-sqs')
  const client = new SQSClient(optionsOf(account, parts))
  const expectAnswer = boundAnswers(client.config, Math.min(RECEIPT_BYTES, parts.answerLimit))
  return {
    call: async ({ queueUrl, body, delaySeconds, attributes, deduplicationId, groupId }, abortSignal, takeAnswer) => {
      checkHost(queueUrl, parts)
      const values: Record<string, { DataType: string; StringValue: string }> = {}
      for (const [name, StringValue] of Object.entries(attributes)) values[name] = { DataType: 'String', StringValue }
      const command = new SendMessageCommand({
        QueueUrl: queueUrl,
        MessageBody: body,
        ...(Object.keys(values).length === 0 ? {} : { MessageAttributes: values }),
        ...(groupId === undefined
          ? { DelaySeconds: delaySeconds }
          : { MessageGroupId: groupId, MessageDeduplicationId: deduplicationId }),
      })
      expectAnswer(abortSignal, takeAnswer)
      const { $metadata, MessageId, MD5OfMessageBody, MD5OfMessageAttributes, SequenceNumber } = await read(
        client.send(command, { abortSignal }),
      )
      return {
        messageId: MessageId,
        requestId: $metadata.requestId,
        messageBodyMd5: MD5OfMessageBody,
        messageAttributesMd5: MD5OfMessageAttributes,
        sequenceNumber: SequenceNumber,
      }
    },
    close: async () => client.destroy(),
  }
}

export const openSns: OpenClient<'sns'> = async (account, parts) => {
  const { SNSClient, PublishCommand } = await import('@aws-sdk/client-sns')
  const client = new SNSClient(optionsOf(account, parts))
  const expectAnswer = boundAnswers(client.config, Math.min(RECEIPT_BYTES, parts.answerLimit))
  return {
    call: async ({ message, ...to }, abortSignal, takeAnswer) => {
      expectAnswer(abortSignal, takeAnswer)
      const target = 'topicArn' in to ? { TopicArn: to.topicArn } : { PhoneNumber: to.phoneNumber }
      const command = new PublishCommand({ ...target, Message: message })
      const { $metadata, MessageId } = await read(client.send(command, { abortSignal }))
      // Whatever it was, it was no receipt: the client reads any page as an empty one.
      if (MessageId === undefined) throw unread($metadata.httpStatusCode)
      return { messageId: MessageId, requestId: $metadata.requestId }
    },
    close: async () => client.destroy(),
  }
}

export const openLambda: OpenClient<'lambda'> = async (account, parts) => {
  const { LambdaClient, InvokeCommand } = await import('@aws-sdk/client-lambda')
  const client = new LambdaClient(optionsOf(account, parts))
  const expectAnswer = boundAnswers(client.config, Math.min(PAYLOAD_BYTES, parts.answerLimit))
  return {
    call: async ({ functionName, qualifier, payload }, abortSignal, takeAnswer) => {
      expectAnswer(abortSignal, takeAnswer)
      const command = new InvokeCommand({ FunctionName: functionName, Qualifier: qualifier, Payload: payload })
      const { $metadata, Payload, FunctionError } = await read(client.send(command, { abortSignal }))
      const answer = Payload === undefined ? '' : Buffer.from(Payload).toString('utf8')
      return { requestId: $metadata.requestId, payload: answer, functionError: FunctionError }
    },
    close: async () => client.destroy(),
  }
}

function optionsOf(
  { region, accessKeyId, secretAccessKey, endpoint, connectTimeoutMs }: AwsAccount,
  parts: ClientParts,
) {
  if (!REGION.test(region)) throw OutboundErrors.ADDRESS_INVALID({ address: region, reason: 'no region of AWS' })
  if (endpoint !== undefined) checkHost(endpoint, parts)
  const pool = { keepAlive: true, lookup: parts.guard.lookup }
  return {
    region,
    // Always given: the operator's own, from the environment, are nothing for tenants.
    credentials: { accessKeyId, secretAccessKey },
    logger: SILENT,
    // The message's queue tries again.
    maxAttempts: 1,
    ...(endpoint === undefined ? {} : { endpoint }),
    requestHandler: {
      httpAgent: new HttpAgent(pool),
      httpsAgent: new HttpsAgent(pool),
      connectionTimeout: connectTimeoutMs ?? CONNECTION_TIMEOUT_MS,
    },
  }
}

/** What stands before the service answers in its place, such as a gateway: the client's words of that name neither it nor its status. */
async function read<Answer>(sending: Promise<Answer>): Promise<Answer> {
  try {
    return await sending
  } catch (error) {
    const refused = refusal.safeParse(error)
    const { name, message = '', $metadata, code } = refused.data ?? {}
    const isUnread = name === 'Unknown' || message.includes('Deserialization error:')
    // A code is that of a connection that broke within the answer, or of ours.
    if (isUnread && code === undefined && $metadata !== undefined) throw unread($metadata.httpStatusCode, error)
    throw error
  }
}

const refusal = z.object({
  name: z.string(),
  message: z.string(),
  code: z.unknown().optional(),
  $metadata: z.object({ httpStatusCode: z.number() }),
})

function unread(status: number | undefined, cause?: unknown): Error {
  return OutboundErrors.CALL_FAILED({ reason: `AWS answered ${status ?? 0}, and in no words of its own` }, cause)
}

function ignore(): void {
  // What goes wrong is the call's error.
}

function checkHost(address: string, { guard }: ClientParts): void {
  const url = URL.parse(address)
  if (url === null) throw OutboundErrors.ADDRESS_INVALID({ address, reason: 'no URL' })
  guard.checkLiteral(url.hostname)
}
