/**
 * Long work in pieces. Each piece is one commit with how far the job came, guarded by the job's version: a restart goes on behind the last
 * piece, several processes do each piece once, and a cancellation comes between two. A tenant has one job under way; others wait.
 */
import type { Clock } from '../../model/clock.ts'
import type { Page, PageQuery } from '../../model/entities.ts'
import type { EntityId } from '../../model/entity-id.ts'
import { errorText, isMillraceError } from '../../model/errors.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../model/json.ts'
import type { Principal } from '../../model/principal.ts'
import type { EntityStore } from '../../storage/entities/entity-store.ts'
import type { Condition } from '../../storage/entities/tables/row-store.ts'
import type { EntityRegistry } from '../entities/entity-registry.ts'
import { jobs, type Job, type JobStatus } from '../entities/job.ts'
import { retried } from '../entities/retried.ts'
import type { Report } from '../changes/outbox.ts'
import { Sweeps } from '../cleanup/sweeps.ts'
import { DUMMY_CONFIGURATION, dummyPlan } from './dummy.ts'
import { JobErrors } from './errors.ts'
import type { TaskOutcome, TaskPlan } from './task.ts'

export interface JobDraft {
  readonly type: Job['type']
  readonly key: string
  readonly entityId: EntityId
  readonly entityName: string | null
  readonly configuration: JsonObject
}

/** Empty lists leave it open. */
export interface JobFilter {
  readonly types: readonly Job['type'][]
  readonly statuses: readonly JobStatus[]
  /** Ids. */
  readonly entities: readonly string[]
  /** Unix ms, both belong to the range. */
  readonly startTime: number
  readonly endTime: number
}

export interface JobsParts {
  readonly declared: EntityRegistry
  readonly entities: EntityStore
  readonly clock: Clock
  readonly report: Report
}

const PLANS: Readonly<Record<Job['type'], (configuration: JsonObject) => TaskPlan>> = { DUMMY: dummyPlan }
/** Members that configurations have which leave them out. */
const LEFT_OUT: Readonly<Record<Job['type'], JsonObject>> = { DUMMY: DUMMY_CONFIGURATION }
const OPEN: readonly JobStatus[] = ['QUEUED', 'PENDING', 'RUNNING']
const TASKS_PER_PIECE = 100
/** Of a tenant: jobs that wait or run. */
const MAX_OPEN = 100
/** Failures that a job tells one by one; the count goes on. */
const MAX_RESULTS = 1_000
const LOOK_INTERVAL_MS = 10_000
const JOBS_PER_LOOK = 1_000

export class Jobs {
  private readonly parts: JobsParts
  private readonly looks: Sweeps
  private isClosed = false

  constructor(parts: JobsParts) {
    this.parts = parts
    this.looks = new Sweeps({
      ...{ clock: parts.clock, report: parts.report, intervalMs: LOOK_INTERVAL_MS, pauseMs: 0 },
      failure: 'Jobs do not go on; trying again',
      sweep: () => this.look(),
    })
  }

  page(tenantId: string, filter: JobFilter, query: PageQuery): Promise<Page<Job>> {
    const { types, statuses, entities, startTime, endTime } = filter
    const where: Condition[] = [
      { column: 'tenant_id', is: tenantId },
      { column: 'created_time', from: startTime, to: endTime },
    ]
    if (types.length > 0) where.push({ column: 'type', in: types })
    if (statuses.length > 0) where.push({ column: 'status', in: statuses })
    if (entities.length > 0) where.push({ column: 'entity_id', in: entities.flatMap(addresses) })
    return this.parts.declared.of(jobs).pageWhere({ where, search: ['key', 'entity_name'], query })
  }

  /** Throws `UNDER_WAY` where the tenant has one of that key that has not ended, `TOO_MANY`. */
  async submitByUser(principal: Principal, draft: JobDraft): Promise<Job> {
    const { declared, clock } = this.parts
    const service = declared.of(jobs)
    const open = await service.findWhere([
      { column: 'tenant_id', is: service.tenantOf(principal) },
      { column: 'status', in: OPEN },
    ])
    if (open.some(({ key }) => key === draft.key)) throw JobErrors.UNDER_WAY()
    if (open.length >= MAX_OPEN) throw JobErrors.TOO_MANY({ limit: MAX_OPEN })
    const { total } = PLANS[draft.type](draft.configuration)
    const own = { type: draft.type, tasksKey: draft.key, toReprocess: null }
    const configuration = { ...LEFT_OUT[draft.type], ...draft.configuration, ...own }
    const result = emptyResult(draft.type, total, clock.now())
    const job = await service.saveByUser(principal, { ...draft, configuration, status: 'QUEUED', result })
    this.looks.soon()
    return job
  }

  /** Throws `ENDED`. */
  cancelByUser(principal: Principal, jobId: string): Promise<Job> {
    return this.change(principal, jobId, (job) => {
      if (!OPEN.includes(job.status)) throw JobErrors.ENDED()
      const result = resultOf(job)
      const left = result.totalCount - result.successfulCount - result.failedCount
      const now = this.parts.clock.now()
      return {
        status: 'CANCELLED',
        result: { ...result, discardedCount: left, cancellationTs: now, finishTs: now },
      }
    })
  }

  /** Does the failed tasks once more. Throws `NOT_ENDED`, `NOTHING_FAILED`, `GENERAL_ERROR`. */
  async reprocessByUser(principal: Principal, jobId: string): Promise<Job> {
    const job = await this.change(principal, jobId, (before) => {
      if (OPEN.includes(before.status)) throw JobErrors.NOT_ENDED()
      const result = resultOf(before)
      if (result.generalError !== null) throw JobErrors.GENERAL_ERROR({ reason: result.generalError })
      if (result.failedCount === 0) throw JobErrors.NOTHING_FAILED()
      const configuration = { ...before.configuration, toReprocess: result.results }
      const again = emptyResult(before.type, result.results.length, this.parts.clock.now())
      return { status: 'QUEUED', configuration, result: again, done: 0 }
    })
    this.looks.soon()
    return job
  }

  /** Throws `NOT_ENDED`. */
  async deleteByUser(principal: Principal, jobId: string): Promise<void> {
    const service = this.parts.declared.of(jobs)
    const job = await service.findAnywhere(jobId)
    if (job !== undefined && OPEN.includes(job.status)) throw JobErrors.NOT_ENDED()
    await service.deleteByUser(principal, jobId)
  }

  /** Goes on with what was under way when the last process ended. */
  start(): void {
    this.looks.soon()
  }

  async close(): Promise<void> {
    this.isClosed = true
    await this.looks.close()
  }

  private change(principal: Principal, jobId: string, members: (job: Job) => Partial<Job>): Promise<Job> {
    const service = this.parts.declared.of(jobs)
    return retried('Job', async () => {
      const before = await service.findAnywhere(jobId)
      if (before === undefined) throw JobErrors.ENDED()
      return service.changeByUser(principal, before, members(before), { type: 'ENTITY_UPDATED' })
    })
  }

  /** One piece of the oldest job of each tenant; whether there is more to do. */
  async look(): Promise<boolean> {
    const service = this.parts.declared.of(jobs)
    const open = await service.findWhere([{ column: 'status', in: OPEN }], JOBS_PER_LOOK)
    const next = new Map<string, Job>()
    for (const job of open) {
      const first = next.get(job.tenantId)
      if (first === undefined || isBefore(job, first)) next.set(job.tenantId, job)
    }
    let isMore = false
    for (const job of next.values()) {
      if (this.isClosed) return false
      try {
        await this.piece(job)
        isMore = true
      } catch (error) {
        // Those of other tenants go on; this one is tried again with the next look.
        this.parts.report('A job does not go on; trying again', { jobId: job.id, error: errorText(error) })
      }
    }
    return isMore
  }

  private async piece(job: Job): Promise<void> {
    const { declared, entities, clock } = this.parts
    const service = declared.of(jobs)
    const result = resultOf(job)
    const outcomes = outcomesOf(job, TASKS_PER_PIECE)
    const done = job.done + outcomes.length
    const failures = outcomes.filter(({ error }) => error !== undefined)
    const failedCount = result.failedCount + failures.length
    const isOver = done >= result.totalCount
    const now = clock.now()
    const told = failures.map(({ key, error = '' }): JsonObject => ({
      ...{ key, success: false, discarded: false, finishTs: now, error, jobType: job.type },
    }))
    const next: Job = {
      ...job,
      version: job.version + 1,
      done,
      status: isOver ? (failedCount === 0 ? 'COMPLETED' : 'FAILED') : 'RUNNING',
      result: {
        ...result,
        successfulCount: result.successfulCount + outcomes.length - failures.length,
        failedCount,
        results: [...result.results, ...told].slice(0, MAX_RESULTS),
        finishTs: isOver ? now : 0,
      },
    }
    try {
      await entities.write([service.update(next)])
    } catch (error) {
      // It was cancelled meanwhile, or another process did the piece.
      if (!isMillraceError(error) || error.code !== 'entities.VERSION_CONFLICT') throw error
    }
  }
}

interface Result extends JsonObject {
  readonly successfulCount: number
  readonly failedCount: number
  readonly discardedCount: number
  readonly totalCount: number
  readonly results: JsonValue[]
  readonly generalError: string | null
}

function emptyResult(jobType: Job['type'], totalCount: number, startTs: number): Result {
  return {
    jobType,
    ...{ successfulCount: 0, failedCount: 0, discardedCount: 0, totalCount, results: [], generalError: null },
    ...{ startTs, finishTs: 0, cancellationTs: 0 },
  }
}

function resultOf({ type, result }: Job): Result {
  const members = result ?? {}
  const count = (name: string): number => Number(members[name] ?? 0)
  const { generalError, results } = members
  return {
    ...emptyResult(type, count('totalCount'), count('startTs')),
    ...members,
    successfulCount: count('successfulCount'),
    failedCount: count('failedCount'),
    discardedCount: count('discardedCount'),
    totalCount: count('totalCount'),
    results: Array.isArray(results) ? results : [],
    generalError: typeof generalError === 'string' ? generalError : null,
  }
}

/** Of the next tasks, as many as fit into a piece: what the whole job is long costs nothing here. */
function outcomesOf({ type, configuration, done }: Job, limit: number): readonly TaskOutcome[] {
  const plan = PLANS[type](configuration ?? {})
  const again = configuration?.['toReprocess']
  if (Array.isArray(again)) return again.slice(done, done + limit).map((task) => plan.outcome(placeOf(task), true))
  const length = Math.max(0, Math.min(limit, plan.total - done))
  return Array.from({ length }, (_none, index) => plan.outcome(done + index, false))
}

/** `Task 5` is at place 4. */
function placeOf(result: JsonValue): number {
  const key = isJsonObject(result) ? result['key'] : undefined
  return typeof key === 'string' ? Number(key.split(' ').at(-1)) - 1 : NaN
}

function isBefore(one: Job, other: Job): boolean {
  return one.createdTime < other.createdTime || (one.createdTime === other.createdTime && one.id < other.id)
}

/** Jobs are of devices, assets, their profiles, and the tenant. */
function addresses(id: string): readonly string[] {
  return ['DEVICE', 'ASSET', 'DEVICE_PROFILE', 'ASSET_PROFILE', 'TENANT'].map((type) => `${type}/${id}`)
}
