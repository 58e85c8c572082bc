import { queueStats } from '../../../services/entities/queue-stats.ts'
import type { MakeThings } from './make-things.ts'

export const makeQueueStats: MakeThings = async ({ services, entities, tenantId }) => {
  const service = services.declared.of(queueStats)
  const made = service.fresh(tenantId, { queueName: 'secret statistics', serviceId: 'secret host' })
  await entities.write([service.insert(made)])
  return { queueStatsId: made.id }
}
