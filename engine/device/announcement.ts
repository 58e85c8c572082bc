/**
 * What transports tell the owner of a device, and what it tells them. Both are lost where the way between two processes is cut:
 * an announcement is repeated every lease interval, and a word to end a session at each announcement that still has it.
 */
import type { SessionEnd } from './gateway.ts'

export interface AnnouncedSession {
  /** Unique in its process. */
  readonly id: number
  /** Unix ms by the clock of its process. */
  readonly openedAt: number
}

/** All that one process knows of one device: what was announced before and is not here has ended. */
export interface AnnouncedDevice {
  readonly deviceId: string
  /** Unix ms when the device was heard last; 0 where it never was. */
  readonly heardAt: number
  /** The long-lived ones. */
  readonly sessions: readonly AnnouncedSession[]
}

export interface AnnouncementListener {
  /** `member` announces; `at` is its Unix ms. */
  announced(member: string, at: number, devices: readonly AnnouncedDevice[]): void
}

export interface SessionEndListener {
  sessionEnded(deviceId: string, sessionId: number, reason: SessionEnd): void
}

/** The way between transports and owners. Nothing here waits, throws or promises to arrive. */
export interface DeviceLine {
  /** The process itself. */
  readonly self: string
  announce(to: string, at: number, devices: readonly AnnouncedDevice[]): void
  endSession(member: string, deviceId: string, sessionId: number, reason: SessionEnd): void
  /** One listener each: the owner and the gateway of this process. */
  onAnnouncement(listener: AnnouncementListener): void
  onSessionEnd(listener: SessionEndListener): void
}

/** Where one process is transport and owner: a call, nothing on a wire. */
export function localDeviceLine(self: string): DeviceLine {
  let owner: AnnouncementListener | undefined
  let gateway: SessionEndListener | undefined
  return {
    self,
    announce: (_to, at, devices) => owner?.announced(self, at, devices),
    endSession: (_member, deviceId, sessionId, reason) => gateway?.sessionEnded(deviceId, sessionId, reason),
    onAnnouncement: (listener) => void (owner = listener),
    onSessionEnd: (listener) => void (gateway = listener),
  }
}
