/** Calls to devices, and answers to those who called the rule engine. */
import type { CallOutcome, DeviceCall } from '../../device/calls/call.ts'

/** A call to a device that a message asks for. */
export type NodeDeviceCall = Omit<DeviceCall, 'node'>
export type NodeCallOutcome = CallOutcome

export interface NodeCalls {
  /**
   * On its way to the device when it returns. What becomes of it is answered, and told to the user who waits; `TIMEOUT` where nothing was heard in
   * time, or too many wait. The same id twice is one call.
   */
  toDevice(call: NodeDeviceCall): Promise<NodeCallOutcome>
  /** To a device that called the rule engine: the process and the session that its message names. */
  replyToDevice(serviceId: string, sessionId: string, body: string): void
  /** To a user who called the rule engine: the process and the request that the message names. */
  answer(serviceId: string, requestId: string, body: string): void
}
