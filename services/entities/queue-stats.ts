/** What the series of a queue's statistics hang on: one for each tenant, queue and process. Made by the engine, no user saves one. Source: `rest-api.md` 13.3. */
import { EntityStoreErrors } from '../../storage/entities/errors.ts'
import { LOOK } from '../access/permissions.ts'
import { madeName } from './column.ts'
import { defineEntity, type RecordOf } from './define.ts'

export const queueStats = defineEntity({
  type: 'QUEUE_STATS',
  label: 'Queue stats',
  name: 'queueName',
  table: { name: 'queue_stats', version: 1 },
  columns: { queueName: madeName(), serviceId: madeName() },
  unique: [
    {
      members: ['queueName', 'serviceId'],
      otherwise: () => EntityStoreErrors.NAME_TAKEN({ entity: 'Queue stats', property: 'queueName' }),
    },
  ],
  lacks: ['externalId', 'version'],
  example: () => ({ queueName: 'Main', serviceId: 'host-1' }),
  permissions: { SYS_ADMIN: LOOK, TENANT_ADMIN: LOOK },
  mayBeSystems: true,
})

export type QueueStats = RecordOf<typeof queueStats.columns>
