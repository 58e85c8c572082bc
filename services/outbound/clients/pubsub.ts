/**
 * Google Pub/Sub over its REST interface. Google's own client speaks gRPC and takes 65 MB; to publish is one request, whose
 * form is documented (https://cloud.google.com/pubsub/docs/reference/rest/v1/projects.topics/publish).
 */
import { z } from 'zod'
import type { HttpAnswer } from '../../../engine/rulechain/capabilities/outbound.ts'
import { OutboundErrors } from '../errors.ts'
import type { OpenClient } from '../raw-client.ts'
import { googleTokens } from './google-token.ts'
import { openHttp } from './http.ts'

const ENDPOINT = 'https://pubsub.googleapis.com'
const MAX_ANSWER_BYTES = 64 * 1024

const published = z.object({ messageIds: z.tuple([z.string()]) })
const refused = z.object({ error: z.object({ message: z.string(), status: z.string().optional() }) })

export const openPubSub: OpenClient<'pubsub'> = async ({ projectId, topic, serviceAccountKey, endpoint }, parts) => {
  const token = googleTokens(serviceAccountKey, `${ENDPOINT}/`, parts.clock)
  const http = await openHttp({ maxAnswerBytes: MAX_ANSWER_BYTES }, parts)
  const path = `/v1/projects/${encodeURIComponent(projectId)}/topics/${encodeURIComponent(topic)}:publish`
  return {
    call: async ({ data, attributes }, signal, takeAnswer) => {
      const headers = { Authorization: `Bearer ${token()}`, 'Content-Type': 'application/json' }
      const body = JSON.stringify({ messages: [{ data: Buffer.from(data).toString('base64'), attributes }] })
      const url = `${endpoint ?? ENDPOINT}${path}`
      return messageIdOf(await http.call({ method: 'POST', url, headers, body }, signal, takeAnswer))
    },
    close: () => http.close(),
  }
}

function messageIdOf({ status, body }: HttpAnswer): { readonly messageId: string } {
  let said: unknown
  try {
    said = JSON.parse(body)
  } catch {
    // What stands between here and Google may answer a page.
    said = undefined
  }
  const answer = published.safeParse(said)
  if (status === 200 && answer.success) return { messageId: answer.data.messageIds[0] }
  const reason = refused.safeParse(said)
  throw OutboundErrors.CALL_FAILED({
    reason: `Pub/Sub answered ${status}${reason.success ? `: ${reason.data.error.message}` : ''}`,
  })
}
