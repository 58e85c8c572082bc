import { entityId } from '../../../model/entity-id.ts'
import type { MakeThings } from './make-things.ts'

export const makeJobs: MakeThings = async ({ services, tenant, tenantId }) => {
  const job = await services.jobs.submitByUser(tenant, {
    type: 'DUMMY',
    key: 'secret job',
    entityId: entityId('TENANT', tenantId),
    entityName: 'secret tenant',
    configuration: { successfulTasksCount: 1 },
  })
  return { jobId: job.id }
}
