/** A webhook: others send to a path of this server whose key cannot be guessed (`api/webhooks.ts`). */
import { z } from 'zod'
import { defineIntegration } from '../define-integration.ts'

export const webhook = z.object({
  /** Shown in `X-Webhook-Secret`, or as `Authorization: Bearer`, by whoever may send; absent: the path is all. */
  secret: z.string().min(8).max(512).nullish(),
})

export const http = defineIntegration({
  type: 'HTTP',
  label: 'HTTP webhook',
  configuration: webhook,
  secrets: { secret: 'text' },
  placeOf: () => 'here',
  example: {},
})
