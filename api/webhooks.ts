/** What others send to the webhooks of integrations: 200 says that all of it is durable. */
import { isMillraceError } from '../model/errors.ts'
import type { Clock } from '../model/clock.ts'
import type { Log } from '../model/log.ts'
import { errorText } from '../model/errors.ts'
import type { HttpReply, HttpServer } from '../server/http-server.ts'
import type { Webhooks } from '../services/integrations/webhooks.ts'
import { sendError } from './errors.ts'

const PATH = '/api/v1/integrations/http/:key'
const SECRET = 'x-webhook-secret'
const BEARER = /^bearer +/i

export type WebhookTaker = Pick<Webhooks, 'take'>

export interface WebhookRouteParts {
  readonly server: HttpServer
  readonly webhooks: WebhookTaker
  /** Largest body. */
  readonly maxFrameBytes: number
  readonly clock: Clock
  readonly log: Log
}

/** Before the server listens. */
export function registerWebhooks({ server, webhooks, maxFrameBytes, clock, log }: WebhookRouteParts): void {
  const failed = (reply: HttpReply, error: unknown): void => {
    if (!isMillraceError(error)) log.error('a webhook failed', { error: errorText(error) })
    sendError(reply, error, clock.now())
  }
  server.route(
    'POST',
    PATH,
    (request, reply) => {
      const secret = request.header(SECRET) || request.header('authorization').replace(BEARER, '')
      const metadata = { contentType: request.header('content-type'), query: request.query }
      webhooks.take({ key: request.parameters[0] ?? '', secret, payload: request.body, metadata }).then(
        () => reply.send(200, undefined, ''),
        (error: unknown) => failed(reply, error),
      )
    },
    { maxBodyBytes: maxFrameBytes, headers: ['content-type', 'authorization', SECRET] },
  )
}
