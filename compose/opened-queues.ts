/** The engine's queues, which begin with the first records they are given: until then the link keeps every queue's messages. */
import {
  createQueues,
  type NamedQueueFigures,
  type QueueTenantCounts,
  type Queues,
  type QueuesOptions,
} from '../engine/queue/queues.ts'
import type { QueueFigures } from '../engine/queue/queue.ts'
import type { QueueRuntime } from './queue-deployment.ts'

export interface OpenedQueues extends QueueRuntime {
  /** Over all queues; undefined before the first records. */
  totals(): QueueFigures | undefined
  figures(): readonly NamedQueueFigures[]
  takeTenantCounts(): readonly QueueTenantCounts[]
  close(): Promise<void>
}

export function openQueues(options: QueuesOptions): OpenedQueues {
  let queues: Queues | undefined
  return {
    apply: (records) => {
      if (queues === undefined) queues = createQueues(options, records)
      else queues.apply(records)
    },
    totals: () => queues?.totals(),
    figures: () => queues?.figures() ?? [],
    takeTenantCounts: () => queues?.takeTenantCounts() ?? [],
    close: async () => queues?.close(),
  }
}
