/**
 * Worker pools of the process that answers: read, and changed while they run. Our own addition, for whoever operates the system;
 * in a cluster each process is asked by its own address and names itself as `member`.
 */
import { z } from 'zod'
import { WholeDouble, type JsonObject } from '../../model/json.ts'
import {
  POOL_SETTINGS,
  type Distribution,
  type PoolReport,
  type PoolSettings,
  type WorkReport,
  type WorkerAdmin,
} from '../../model/worker-pool.ts'
import type { Services } from '../../services/services.ts'
import { ParameterErrors } from '../errors.ts'
import type { RouteMaker } from './declared/declare.ts'
import { optionalCount } from './declared/query.ts'
import type { DeclaredRoute } from './declared/route.ts'
import { SYSTEM } from './route.ts'
import { MEMBER_POOL, POOLS } from './worker-shapes.ts'

export interface WorkerRouteOptions {
  readonly make: RouteMaker
  readonly workers: WorkerAdmin
  /** How this process is named in the answers. */
  readonly member: string
  readonly tenants: Services['tenants']
}

const MAX_ROWS = 1000

/** A whole number may be written as `3.0`; its range is the pool's business. */
const number = z.union([z.number(), z.instanceof(WholeDouble)], 'a number is expected').transform(Number)
const changeSchema = z.strictObject(Object.fromEntries(POOL_SETTINGS.map((setting) => [setting, number.optional()])), {
  error: (issue) => (issue.code === 'unrecognized_keys' ? unknownSettings(issue.keys) : 'an object is expected'),
})

function unknownSettings(keys: readonly string[] | undefined): string {
  return `unknown setting ${(keys ?? []).join(', ')}: there are ${POOL_SETTINGS.join(', ')}`
}

export function workerRoutes({ make, workers, member, tenants }: WorkerRouteOptions): readonly DeclaredRoute[] {
  const poolAnswer = async (pool: PoolReport): Promise<JsonObject> => ({
    member,
    ...poolJson(pool, await tenantNames([pool], tenants)),
  })
  const rows = optionalCount(0, MAX_ROWS)
  const one = { path: '/api/admin/workers/{poolName}', authorities: SYSTEM, targets: {}, answer: MEMBER_POOL } as const
  return [
    make.route({
      method: 'GET',
      path: '/api/admin/workers',
      about: 'The worker pools of the process that answers, with their busiest tenants and scripts.',
      authorities: SYSTEM,
      targets: {},
      query: { rows },
      body: undefined,
      answer: POOLS,
      handle: async ({ query }) => {
        const pools = workers.pools(query.rows)
        const names = await tenantNames(pools, tenants)
        return { member, pools: pools.map((pool) => poolJson(pool, names)) }
      },
    }),
    make.route({
      ...one,
      method: 'GET',
      about: 'One worker pool of the process that answers.',
      query: { rows },
      body: undefined,
      handle: async ({ path, query }) => poolAnswer(workers.pool(path.poolName, query.rows)),
    }),
    make.route({
      ...one,
      method: 'POST',
      about: 'Changes settings of a worker pool while it runs.',
      query: {},
      body: changeSchema,
      example: () => ({ threads: 2 }),
      handle: async ({ path, body }) => poolAnswer(await workers.resize(path.poolName, someOf(body))),
    }),
  ]
}

function someOf(change: Partial<PoolSettings>): Partial<PoolSettings> {
  if (Object.keys(change).length > 0) return change
  throw ParameterErrors.BODY_INVALID({ reason: `no setting is named: there are ${POOL_SETTINGS.join(', ')}` })
}

async function tenantNames(
  pools: readonly PoolReport[],
  tenants: Services['tenants'],
): Promise<ReadonlyMap<string, string>> {
  const ids = new Set<string>()
  for (const pool of pools)
    for (const { tenantId } of [...pool.busiestTenants, ...pool.busiestScripts]) ids.add(tenantId)
  const found = await Promise.all([...ids].map(async (id) => [id, (await tenants.find(id))?.title ?? ''] as const))
  return new Map(found)
}

function poolJson(pool: PoolReport, names: ReadonlyMap<string, string>): JsonObject {
  const { name, settings, threads, scripts, tenants, waiting, running, breakersOpen } = pool
  return {
    name,
    settings: { ...settings },
    threads,
    scripts,
    tenants,
    waiting,
    running,
    breakersOpen,
    work: workJson(pool.work),
    busiestTenants: pool.busiestTenants.map(({ work, ...tenant }) => ({
      ...tenant,
      tenantName: names.get(tenant.tenantId) ?? '',
      work: workJson(work),
    })),
    busiestScripts: pool.busiestScripts.map(({ work, breaker, ...script }) => ({
      ...script,
      tenantName: names.get(script.tenantId) ?? '',
      breaker: { ...breaker, retryInMs: Math.ceil(breaker.retryInMs) },
      work: workJson(work),
    })),
  }
}

function workJson(work: WorkReport): JsonObject {
  return {
    windowMs: Math.round(work.windowMs),
    messagesPerSecond: rounded(work.messagesPerSecond),
    utilisation: rounded(work.utilisation),
    queueWaitMs: distributionJson(work.queueWaitMs),
    runMs: distributionJson(work.runMs),
    batchMessages: distributionJson(work.batchMessages),
    totals: { ...work.totals },
  }
}

function distributionJson({ mean, p50, p99, most }: Distribution): JsonObject {
  return { mean: rounded(mean), p50: rounded(p50), p99: rounded(p99), most: rounded(most) }
}

function rounded(value: number): number {
  return Math.round(value * 1000) / 1000
}
