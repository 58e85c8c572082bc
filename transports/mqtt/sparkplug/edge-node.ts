/** The edge node of a connection, as the connection and the handlers of its packets see it. */
import type { CallRequest, PublishReceipt, SessionEnd, SharedAttributesUpdate } from '../../../engine/device/gateway.ts'

export interface EdgeNode {
  /** A publish. Throws `invalid`: nothing of it was taken. */
  received(topicName: string, body: Buffer, receipt: PublishReceipt): void
  /** The QoS that is granted; undefined where it is no filter of Sparkplug. Commands come with it, whatever else was subscribed to. */
  subscribe(filter: string, requestedQos: number): 0 | 1 | undefined
  nodeAttributesChanged(update: SharedAttributesUpdate): void
  nodeCalled(request: CallRequest): void
  /** The platform ended its session. */
  ended(reason: SessionEnd): void
  /** The connection ends. Before the sessions of its devices and its own. */
  close(): void
}
