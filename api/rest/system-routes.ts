/** Health, metrics, version; and the page for browsers. Source: `rest-api.md` 13.2 and requirements for operation. */
import type { Clock } from '../../model/clock.ts'
import { defineErrors } from '../../model/errors.ts'
import type { JsonObject } from '../../model/json.ts'
import type { Metrics } from '../metrics.ts'
import type { StartPage } from '../page.ts'
import type { MetricsGuard } from './metrics-guard.ts'
import { rawAnswer, type RouteMaker } from './declared/declare.ts'
import { openRoute } from './declared/open-route.ts'
import type { DeclaredOpenRoute, DeclaredRoute } from './declared/route.ts'
import { EVERYBODY, jsonAnswer, type Answer } from './route.ts'
import type { UndeclaredRoute } from './rows.ts'

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

export interface HealthOptions {
  readonly clock: Clock
  readonly healthChecks: readonly HealthCheck[]
  /** Told why a check failed; the answer only says that it did. */
  readonly onUnhealthy: (name: string, error: unknown) => void
}

export function pageRoutes(page: StartPage): readonly UndeclaredRoute[] {
  return [{ method: 'GET', pattern: '/', authorities: 'public', undeclared: 'page', handle: async () => page.answer() }]
}

export function healthRoutes(options: HealthOptions): readonly DeclaredOpenRoute[] {
  return (['/health', '/actuator/health'] as const).map((path) =>
    openRoute({
      method: 'GET',
      path,
      about: 'Whether all that this process needs works, part by part.',
      query: {},
      body: undefined,
      answer: HEALTH,
      alsoAnswers: { 503: 'A part does not work.' },
      handle: () => healthAnswer(options),
    }),
  )
}

export function metricsRoute(metrics: Metrics, guard: MetricsGuard): UndeclaredRoute {
  return {
    ...{ method: 'GET', pattern: '/metrics', authorities: 'public', undeclared: 'metrics' },
    handle: async (call) => {
      const audience = await guard.audienceOf(call)
      return { status: 200, contentType: metrics.contentType, body: await metrics.render(audience) }
    },
  }
}

export function infoRoute(make: RouteMaker, version: string): DeclaredRoute {
  const info = { version, artifact: 'millrace', name: 'Millrace', type: 'CE' }
  const properties = Object.fromEntries(Object.keys(info).map((name) => [name, { type: 'string' }]))
  return make.route({
    method: 'GET',
    path: '/api/system/info',
    about: 'Which program answers, in which version.',
    authorities: EVERYBODY,
    targets: {},
    query: {},
    body: undefined,
    answer: { type: 'object', properties, required: Object.keys(info) },
    isAboutTheCaller: true,
    handle: async () => info,
  })
}

const STATUS = { enum: ['UP', 'DOWN'] }
const HEALTH: JsonObject = {
  type: 'object',
  properties: {
    status: STATUS,
    components: {
      type: 'object',
      additionalProperties: {
        type: 'object',
        properties: { status: STATUS, details: { type: 'string' } },
        required: ['status'],
      },
    },
  },
  required: ['status', 'components'],
}

type ComponentHealth = { readonly status: 'UP' | 'DOWN' } | { readonly status: 'UP' | 'DOWN'; readonly details: string }

async function healthAnswer({ healthChecks, onUnhealthy, clock }: HealthOptions): Promise<Answer> {
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
  return rawAnswer({ ...jsonAnswer({ status: up ? 'UP' : 'DOWN', components }), status: up ? 200 : 503 })
}

function inTime(check: Promise<void>, clock: Clock): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = clock.after(CHECK_TIMEOUT_MS, () => reject(HealthErrors.TIMEOUT({ limit: CHECK_TIMEOUT_MS })))
    check.then(resolve, reject).finally(() => timer.cancel())
  })
}
