/** Integrations: what runs them is loaded when the first is there, since most platforms have none. */
import { errorText } from '../model/errors.ts'
import type { WebhookTaker } from '../api/webhooks.ts'
import { IntegrationErrors } from '../services/integrations/errors.ts'
import type { MetricsSource } from '../api/metrics.ts'
import type { IntegrationParts, RunningIntegrations } from './running-integrations.ts'

/** Resolves when those that this process owns were begun; what they are joined to may be away. */
export async function openIntegrations(
  parts: IntegrationParts,
): Promise<{ readonly webhooks: WebhookTaker; readonly metricsSources: readonly MetricsSource[] }> {
  const { feed, services, log, closing } = parts
  let opened: Promise<RunningIntegrations> | undefined
  let shares: RunningIntegrations['shares']
  let isClosed = false
  const open = (): Promise<RunningIntegrations> => {
    opened ??= import('./running-integrations.ts')
      .then(async ({ runIntegrations }) => {
        const running = await runIntegrations(parts)
        shares = running.shares
        return running
      })
      .catch((error: unknown) => {
        opened = undefined
        throw error
      })
    return opened
  }
  const begin = (): void => {
    if (isClosed || opened !== undefined) return
    open().catch((error: unknown) => log.error('integrations could not be begun', { error: errorText(error) }))
  }
  const beginIfAny = async (): Promise<void> => {
    if (!isClosed && (await services.integrations.enabled()).length > 0) begin()
  }
  const stops = [
    feed.listenToAll(['integration-changed'], begin),
    feed.onGap(() => {
      beginIfAny().catch((error: unknown) => log.error('integrations could not be read', { error: errorText(error) }))
    }),
  ]
  closing.add('the wait for integrations', () => {
    isClosed = true
    for (const stop of stops) stop()
    return Promise.resolve()
  })
  await feed.settled()
  if ((await services.integrations.enabled()).length > 0) await open()
  const webhooks: WebhookTaker = {
    take: async (request) => {
      // What runs them already closes by itself; nothing is opened that nobody would close.
      if (isClosed && opened === undefined) throw IntegrationErrors.CLOSED()
      return (await open()).webhooks.take(request)
    },
  }
  const figures = () => ({
    fetched_bytes: shares?.fetched.bytes ?? 0,
    fetches_waiting: shares?.fetched.waiters ?? 0,
  })
  return { webhooks, metricsSources: [{ name: 'integrations', figures }] }
}
