/** Jobs: how far long work of the tenant came; it may be cancelled, and what failed of it done again. */
import type { EntityRegistry } from '../../services/entities/entity-registry.ts'
import { jobs, JOB_STATUSES, JOB_TYPES } from '../../services/entities/job.ts'
import type { Jobs } from '../../services/jobs/jobs.ts'
import type { RouteMaker } from './declared/declare.ts'
import { choiceList, optionalTime, optionalUuidList, paging } from './declared/query.ts'
import type { DeclaredRoute } from './declared/route.ts'
import { pageShape, recordShape } from './declared/shapes.ts'
import { found } from './authorize.ts'
import { EMPTY_ANSWER, TENANT } from './route.ts'

export interface JobRoutesParts {
  readonly make: RouteMaker
  readonly declared: EntityRegistry
  readonly jobs: Jobs
}

const PATH = '/api/job/{jobId}'

export function jobRoutes({ make, declared, jobs: service }: JobRoutesParts): readonly DeclaredRoute[] {
  const common = { authorities: TENANT, query: {}, body: undefined } as const
  const toWrite = { ...common, targets: { jobId: { entity: jobs, operation: 'WRITE' } }, answer: undefined } as const
  return [
    make.route({
      ...common,
      method: 'GET',
      path: PATH,
      about: 'One job.',
      targets: { jobId: { entity: jobs, operation: 'READ' } },
      answer: recordShape(jobs),
      handle: async ({ path }) =>
        jobs.jsonOf(found(await declared.of(jobs).findAnywhere(path.jobId), 'Job', path.jobId)),
    }),
    make.route({
      ...common,
      method: 'GET',
      path: '/api/jobs',
      about: 'The jobs of the tenant.',
      targets: {},
      query: {
        page: paging,
        types: choiceList(JOB_TYPES),
        statuses: choiceList(JOB_STATUSES),
        entities: optionalUuidList,
        startTime: optionalTime,
        endTime: optionalTime,
      },
      answer: pageShape(recordShape(jobs)),
      handle: async ({ principal, query }) => {
        const { page, types, statuses, entities, startTime = 0, endTime = Number.MAX_SAFE_INTEGER } = query
        const filter = { types, statuses, entities, startTime, endTime }
        const rows = await service.page(declared.of(jobs).tenantOf(principal), filter, page)
        return { ...rows, data: rows.data.map((job) => jobs.jsonOf(job)) }
      },
    }),
    make.route({
      ...toWrite,
      method: 'POST',
      path: `${PATH}/cancel`,
      about: 'Ends a job before its next piece.',
      handle: async ({ principal, path }) => {
        await service.cancelByUser(principal, path.jobId)
        return EMPTY_ANSWER
      },
    }),
    make.route({
      ...toWrite,
      method: 'POST',
      path: `${PATH}/reprocess`,
      about: 'Does what failed of an ended job once more.',
      handle: async ({ principal, path }) => {
        await service.reprocessByUser(principal, path.jobId)
        return EMPTY_ANSWER
      },
    }),
    make.route({
      ...toWrite,
      method: 'DELETE',
      path: PATH,
      about: 'Deletes an ended job.',
      targets: { jobId: { entity: jobs, operation: 'DELETE' } },
      handle: async ({ principal, path }) => {
        await service.deleteByUser(principal, path.jobId)
        return EMPTY_ANSWER
      },
    }),
  ]
}
