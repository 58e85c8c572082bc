/** Queues of the rule engine: the system's, which every tenant may use, and those that tenants made for themselves. */
import type { Selectable } from 'kysely'
import type { Page, PageQuery, ProcessingStrategy, Queue, SubmitStrategy } from '../../model/entities.ts'
import { NULL_UUID } from '../../model/entity-id.ts'
import { linkQueueName } from '../../model/queue-name.ts'
import type { JsonObject } from '../../model/json.ts'
import { booleanColumn, jsonColumn, jsonObjectOf, jsonOf } from './columns.ts'
import { statementOf, type EntityDatabase, type Statement } from './database.ts'
import { EntityStoreErrors } from './errors.ts'
import { readPage, type PageShape } from './paging.ts'
import type { QueueTable } from './schema.ts'

const PAGE: PageShape = {
  idColumn: 'queue.id',
  sort: {
    createdTime: 'queue.created_time',
    name: 'queue.name',
    topic: 'queue.topic',
    partitions: 'queue.partitions',
  },
  search: ['queue.name'],
}

export class QueueRepository {
  private readonly database: EntityDatabase

  constructor(database: EntityDatabase) {
    this.database = database
  }

  async findAnywhere(id: string): Promise<Queue | undefined> {
    const row = await this.database.builder.selectFrom('queue').selectAll().where('id', '=', id).executeTakeFirst()
    return row && queueOf(row)
  }

  /** One that the tenant may use: its own, else the system's. */
  async findByName(tenantId: string, name: string): Promise<Queue | undefined> {
    const rows = await this.database.builder
      .selectFrom('queue')
      .selectAll()
      .where('tenant_id', 'in', [tenantId, NULL_UUID])
      .where('name', '=', name)
      .execute()
    const row = rows.find(({ tenant_id }) => tenant_id === tenantId) ?? rows[0]
    return row && queueOf(row)
  }

  /** Whose queues have this name or this topic, over all tenants. */
  async owners(property: 'name' | 'topic', value: string): Promise<readonly string[]> {
    const rows = await this.database.builder
      .selectFrom('queue')
      .select('tenant_id')
      .where(property, '=', value)
      .execute()
    return rows.map((row) => row.tenant_id)
  }

  async all(): Promise<readonly Queue[]> {
    const rows = await this.database.builder.selectFrom('queue').selectAll().orderBy('id').execute()
    return rows.map(queueOf)
  }

  async count(tenantId: string): Promise<number> {
    const row = await this.database.builder
      .selectFrom('queue')
      .select(({ fn }) => fn.countAll<number>().as('queues'))
      .where('tenant_id', '=', tenantId)
      .executeTakeFirst()
    return Number(row?.queues ?? 0)
  }

  /** Those the tenant may use: its own and the system's. */
  page(tenantId: string, query: PageQuery): Promise<Page<Queue>> {
    const filtered = this.database.builder
      .selectFrom('queue')
      .selectAll()
      .where('tenant_id', 'in', tenantId === NULL_UUID ? [NULL_UUID] : [tenantId, NULL_UUID])
    return readPage(this.database, filtered, PAGE, query, queueOf)
  }

  insert(queue: Queue): readonly Statement[] {
    return [statementOf(this.database.builder.insertInto('queue').values(rowOf(queue)), uniqueOf(queue))]
  }

  /** Leaves alone one of that name or topic that is there already: safe when two start at once. */
  insertIfAbsent(queue: Queue): readonly Statement[] {
    const query = this.database.builder
      .insertInto('queue')
      .values(rowOf(queue))
      .onConflict((conflict) => conflict.doNothing())
    return [statementOf(query)]
  }

  /** Replaces the version before this one. Throws `VERSION_CONFLICT` where another change came between. */
  update(queue: Queue): readonly Statement[] {
    const query = this.database.builder
      .updateTable('queue')
      .set(rowOf(queue))
      .where('id', '=', queue.id)
      .where('version', '=', queue.version - 1)
    return [statementOf(query, { ...uniqueOf(queue), expect: { changes: 1, otherwise: changedBetween } })]
  }

  /** Throws `VERSION_CONFLICT` where it is not this version any more. */
  delete(queue: Queue): readonly Statement[] {
    const query = this.database.builder
      .deleteFrom('queue')
      .where('id', '=', queue.id)
      .where('version', '=', queue.version)
    return [statementOf(query, { expect: { changes: 1, otherwise: changedBetween } })]
  }
}

/** What the link calls the queue of that name that the tenant's messages go to; `ownQueueId` is null where it is the system's. */
export function queueNameOf(tenantId: string, name: string, ownQueueId: string | null): string {
  return linkQueueName({ tenantId: ownQueueId === null ? NULL_UUID : tenantId, name })
}

function uniqueOf({ name, topic }: Queue) {
  return {
    constraints: {
      'queue.tenant_id, queue.name': () => EntityStoreErrors.QUEUE_TAKEN({ property: 'name', value: name }),
      'queue.tenant_id, queue.topic': () => EntityStoreErrors.QUEUE_TAKEN({ property: 'topic', value: topic }),
    },
  }
}

function changedBetween(): Error {
  return EntityStoreErrors.VERSION_CONFLICT({ entity: 'Queue' })
}

function rowOf(queue: Queue): QueueTable {
  return {
    id: queue.id,
    created_time: queue.createdTime,
    version: queue.version,
    tenant_id: queue.tenantId,
    name: queue.name,
    topic: queue.topic,
    poll_interval: queue.pollInterval,
    partitions: queue.partitions,
    consumer_per_partition: booleanColumn(queue.consumerPerPartition),
    pack_processing_timeout: queue.packProcessingTimeout,
    submit_strategy: jsonColumn({ ...queue.submitStrategy }),
    processing_strategy: jsonColumn({ ...queue.processingStrategy }),
    additional_info: jsonColumn(queue.additionalInfo),
  }
}

function queueOf(row: Selectable<QueueTable>): Queue {
  return {
    id: row.id,
    createdTime: row.created_time,
    version: row.version,
    tenantId: row.tenant_id,
    name: row.name,
    topic: row.topic,
    pollInterval: row.poll_interval,
    partitions: row.partitions,
    consumerPerPartition: row.consumer_per_partition === 1,
    packProcessingTimeout: row.pack_processing_timeout,
    submitStrategy: submitStrategyOf(jsonObjectOf(row.submit_strategy)),
    processingStrategy: processingStrategyOf(jsonObjectOf(row.processing_strategy)),
    additionalInfo: jsonOf(row.additional_info),
  }
}

function submitStrategyOf(stored: JsonObject): SubmitStrategy {
  return { type: stored['type'] as SubmitStrategy['type'], batchSize: Number(stored['batchSize']) }
}

function processingStrategyOf(stored: JsonObject): ProcessingStrategy {
  const number = (name: keyof ProcessingStrategy): number => Number(stored[name])
  return {
    type: stored['type'] as ProcessingStrategy['type'],
    retries: number('retries'),
    failurePercentage: number('failurePercentage'),
    pauseBetweenRetries: number('pauseBetweenRetries'),
    maxPauseBetweenRetries: number('maxPauseBetweenRetries'),
  }
}
