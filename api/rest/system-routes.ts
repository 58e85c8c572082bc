/** Health, metrics, version; and the page for browsers. Source: `rest-api.md` 13.2 and requirements for operation. */
import type { Clock } from '../../model/clock.ts'
import { defineErrors } from '../../model/errors.ts'
import type { Metrics } from '../metrics.ts'
import type { StartPage } from '../page.ts'
import type { MetricsGuard } from './metrics-guard.ts'
import { EVERYBODY, jsonAnswer, type Answer, type RestRoute } from './route.ts'

/** One thing that must work for the process to be of use; rejects where it does not. */
export interface HealthCheck {
  readonly name: string
  check(): Promise<void>
  /** What an operator should know of it besides: shown to everybody who asks for health. */
  note?(): string | undefined
}

const HealthErrors = defineErrors('health', {
  TIMEOUT: { kind: 'retryable', status: 503, text: 'no answer within {limit} ms' },
})

/** Who asks for health waits a few seconds at most, and a part that hangs is not healthy. */
const CHECK_TIMEOUT_MS = 2000

export interface SystemRouteOptions {
  readonly version: string
  readonly clock: Clock
  readonly metrics: Metrics
  readonly metricsGuard: MetricsGuard
  readonly healthChecks: readonly HealthCheck[]
  /** Told why a check failed; the answer only says that it did. */
  readonly onUnhealthy: (name: string, error: unknown) => void
}

export function pageRoutes(page: StartPage): readonly RestRoute[] {
  return [{ method: 'GET', pattern: '/', authorities: 'public', handle: async () => page.answer() }]
}

export function systemRoutes(options: SystemRouteOptions): readonly RestRoute[] {
  const { version, metrics, metricsGuard } = options
  const health = () => healthAnswer(options)
  return [
    { method: 'GET', pattern: '/health', authorities: 'public', handle: health },
    { method: 'GET', pattern: '/actuator/health', authorities: 'public', handle: health },
    {
      method: 'GET',
      pattern: '/metrics',
      authorities: 'public',
      handle: async (call) => {
        const audience = await metricsGuard.audienceOf(call)
        return { status: 200, contentType: metrics.contentType, body: await metrics.render(audience) }
      },
    },
    {
      method: 'GET',
      pattern: '/api/system/info',
      authorities: EVERYBODY,
      handle: async () => jsonAnswer({ version, artifact: 'millrace', name: 'Millrace', type: 'CE' }),
    },
  ]
}

type ComponentHealth = { readonly status: 'UP' | 'DOWN' } | { readonly status: 'UP' | 'DOWN'; readonly details: string }

async function healthAnswer({ healthChecks, onUnhealthy, clock }: SystemRouteOptions): Promise<Answer> {
  const results = await Promise.all(
    healthChecks.map(async (part): Promise<readonly [string, ComponentHealth]> => {
      const note = part.note?.()
      const details = note === undefined ? {} : { details: note }
      try {
        await inTime(part.check(), clock)
        return [part.name, { status: 'UP', ...details }]
      } catch (error) {
        onUnhealthy(part.name, error)
        return [part.name, { status: 'DOWN', ...details }]
      }
    }),
  )
  const up = results.every(([, { status }]) => status === 'UP')
  const components = Object.fromEntries(results)
  return { ...jsonAnswer({ status: up ? 'UP' : 'DOWN', components }), status: up ? 200 : 503 }
}

function inTime(check: Promise<void>, clock: Clock): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = clock.after(CHECK_TIMEOUT_MS, () => reject(HealthErrors.TIMEOUT({ limit: CHECK_TIMEOUT_MS })))
    check.then(resolve, reject).finally(() => timer.cancel())
  })
}
