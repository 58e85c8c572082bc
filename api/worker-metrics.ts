/**
 * Worker pools for Prometheus: a label for the pool, and for the busiest tenants and scripts their ids. Only so many of them,
 * since each is a series of its own to whoever keeps them.
 */
import type { Distribution, PoolReport, WorkReport, WorkerAdmin } from '../model/worker-pool.ts'
import type { MetricsSource, Sample } from './metrics.ts'

const ROWS = 10

export function workerMetrics(workers: WorkerAdmin): MetricsSource {
  return {
    name: 'worker',
    figures: () => ({}),
    samples: () => workers.pools(ROWS).flatMap((pool) => [...poolSamples(pool), ...rowSamples(pool)]),
  }
}

function* poolSamples(pool: PoolReport): Generator<Sample> {
  const labels = { pool: pool.name }
  yield { figure: 'pool_threads', labels, value: pool.threads }
  yield { figure: 'pool_threads_limit', labels, value: pool.settings.threads }
  yield { figure: 'pool_scripts', labels, value: pool.scripts }
  yield { figure: 'pool_waiting_messages', labels, value: pool.waiting }
  yield { figure: 'pool_running_tasks', labels, value: pool.running }
  yield { figure: 'pool_open_breakers', labels, value: pool.breakersOpen }
  yield* workSamples('pool', labels, pool.work)
}

function* rowSamples(pool: PoolReport): Generator<Sample> {
  for (const { tenantId, work, waiting } of pool.busiestTenants) {
    const labels = { pool: pool.name, tenant: tenantId }
    yield { figure: 'tenant_waiting_messages', labels, value: waiting }
    yield* workSamples('tenant', labels, work)
  }
  for (const { tenantId, ruleChainId, ruleNodeId, breaker, work } of pool.busiestScripts) {
    const labels = { pool: pool.name, tenant: tenantId, rule_chain: ruleChainId, rule_node: ruleNodeId }
    yield { figure: 'script_breaker_open', labels, value: breaker.state === 'closed' ? 0 : 1 }
    yield* workSamples('script', labels, work)
  }
}

function* workSamples(of: string, labels: Sample['labels'], work: WorkReport): Generator<Sample> {
  yield { figure: `${of}_utilisation_ratio`, labels, value: work.utilisation }
  yield* distribution(`${of}_queue_wait_seconds`, labels, work.queueWaitMs, 1000)
  yield* distribution(`${of}_run_seconds`, labels, work.runMs, 1000)
  yield* distribution(`${of}_batch_messages`, labels, work.batchMessages, 1)
  const { totals } = work
  yield { figure: `${of}_messages_total`, labels, value: totals.messages }
  yield { figure: `${of}_batches_total`, labels, value: totals.batches }
  yield { figure: `${of}_errors_total`, labels, value: totals.errors }
  yield { figure: `${of}_timeouts_total`, labels, value: totals.timeouts }
  yield { figure: `${of}_memory_errors_total`, labels, value: totals.memoryErrors }
  yield { figure: `${of}_blocked_messages_total`, labels, value: totals.blocked }
  yield { figure: `${of}_refused_messages_total`, labels, value: totals.refused }
  yield { figure: `${of}_sandbox_deaths_total`, labels, value: totals.deaths }
}

/** Over the sliding window, as gauges: `stat` is mean, p50, p99 or most. */
function* distribution(
  figure: string,
  labels: Sample['labels'],
  values: Distribution,
  divisor: number,
): Generator<Sample> {
  for (const stat of ['mean', 'p50', 'p99', 'most'] as const)
    yield { figure, labels: { ...labels, stat }, value: values[stat] / divisor }
}
