/** Calls to devices, and answers to those who called the rule engine. */
import type { DeviceCall } from '../../device/calls/call.ts'

/** A call to a device that a message asks for. */
export type NodeDeviceCall = DeviceCall

export interface NodeCalls {
  /** On its way to the device when it returns; who waits is told what becomes of it. The same id twice is one call. */
  toDevice(call: NodeDeviceCall): void
  /** To a device that called the rule engine: the process and the session that its message names. */
  replyToDevice(serviceId: string, sessionId: string, body: string): void
  /** To a user who called the rule engine: the process and the request that the message names. */
  answer(serviceId: string, requestId: string, body: string): void
}
