/** The link as the queues of this process know it: the owner of devices sees what they take, before they do. */
import type { Delivery, Link } from '../engine/link/link.ts'

export function notedLink(link: Link, delivered: (batch: readonly Delivery[]) => void): Link {
  return {
    publish: (message, receipt) => link.publish(message, receipt),
    get writable() {
      return link.writable
    },
    hasRoomFor: (tenantId) => link.hasRoomFor(tenantId),
    onWritable: (listener) => link.onWritable(listener),
    consume: (consumer, queueName) =>
      link.consume(
        {
          deliver: (batch) => {
            delivered(batch)
            consumer.deliver(batch)
          },
          room: () => consumer.room(),
        },
        queueName,
      ),
    wake: () => link.wake(),
    settle: (deliveries) => link.settle(deliveries),
    failed: (delivery, attempt) => link.failed(delivery, attempt),
    bury: (delivery, attempt, reason) => link.bury(delivery, attempt, reason),
    close: () => link.close(),
  }
}
