/**
 * Which process holds a device's sessions, and which of them is the one: a newer session anywhere ends the oldest beyond the bound. What is
 * here is a lease: it ends when its process says so, dies, or is not heard for three lease intervals.
 */
import type { AnnouncedSession, DeviceLine } from '../announcement.ts'
import type { Lease, OwnedDevice } from './owned-device.ts'

export interface DirectoryListener {
  /** A session came, and is now the only one. */
  connected(device: OwnedDevice, at: number): void
  /** The last session went; `isLost`: with its process. */
  disconnected(device: OwnedDevice, at: number, isLost: boolean): void
}

export interface DirectorySettings {
  readonly maxSessionsPerDevice: number
  readonly leaseIntervalMs: number
}

/** Announcements that may be lost before a session counts as gone. */
const INTERVALS_PER_LEASE = 3
/** A session that is told within this time of its opening has just come. Longer than a transport takes to tell of it. */
const JUST_OPENED_MS = 1000

export class SessionDirectory {
  private readonly line: DeviceLine
  private readonly settings: DirectorySettings
  private readonly listener: DirectoryListener

  constructor(line: DeviceLine, settings: DirectorySettings, listener: DirectoryListener) {
    this.line = line
    this.settings = settings
    this.listener = listener
  }

  /**
   * All that `member` has of the device, at its time `at`. `inOrder`: sessions that have just come are newer than all that are here. Others,
   * whose first word was lost, and all where this process has just become the owner, go by their age: clocks may differ, ages do not.
   */
  announced(
    device: OwnedDevice,
    member: string,
    sessions: readonly AnnouncedSession[],
    { at, now, inOrder }: { readonly at: number; readonly now: number; readonly inOrder: boolean },
  ): void {
    const { leases } = device
    if (leases === undefined && device.ending === undefined && sessions.length === 0) return
    const until = now + INTERVALS_PER_LEASE * this.settings.leaseIntervalMs
    const only = leases?.[0]
    // Nearly every announcement: the one session goes on.
    if (leases?.length === 1 && sessions.length === 1 && only?.id === sessions[0]?.id && only?.member === member) {
      only.until = until
      return
    }
    const before = leases?.length ?? 0
    this.forgetEnded(device, member, sessions)
    for (const session of sessions) this.renewOrAdd(device, member, session, { at, now, until, inOrder })
    if ((device.leases?.length ?? 0) > 0) return
    device.leases = undefined
    if (before > 0) this.listener.disconnected(device, at, false)
  }

  /** Forgets what nobody renews; `isMember` says which processes live. */
  expire(device: OwnedDevice, at: number, now: number, isMember: (member: string) => boolean): void {
    const { leases } = device
    if (leases === undefined) return
    const left = leases.filter(({ until, member }) => until > now && isMember(member))
    if (left.length === leases.length) return
    device.ending = undefined
    device.leases = left.length === 0 ? undefined : left
    // A process that lives and is not heard may tell of the session again.
    if (left.length === 0) this.listener.disconnected(device, at, !leases.some(({ member }) => isMember(member)))
  }

  private forgetEnded(device: OwnedDevice, member: string, sessions: readonly AnnouncedSession[]): void {
    const { leases, ending } = device
    const isAnnounced = (id: number): boolean => sessions.some((session) => session.id === id)
    for (let index = (leases?.length ?? 0) - 1; index >= 0; index--) {
      const lease = leases?.[index]
      if (lease?.member === member && !isAnnounced(lease.id)) leases?.splice(index, 1)
    }
    for (const key of ending ?? []) {
      const [holder, id] = key.split(' ')
      if (holder === member && !isAnnounced(Number(id))) ending?.delete(key)
    }
    if (ending?.size === 0) device.ending = undefined
  }

  private renewOrAdd(
    device: OwnedDevice,
    member: string,
    session: AnnouncedSession,
    {
      at,
      now,
      until,
      inOrder,
    }: { readonly at: number; readonly now: number; readonly until: number; readonly inOrder: boolean },
  ): void {
    if (device.ending?.has(`${member} ${session.id}`) === true) {
      // The word was lost, or is on its way.
      this.line.endSession(member, device.deviceId, session.id, 'TAKEN_OVER')
      return
    }
    const leases = device.leases ?? []
    const known = leases.find((lease) => lease.member === member && lease.id === session.id)
    if (known !== undefined) {
      known.until = until
      return
    }
    const ageMs = Math.max(0, at - session.openedAt)
    const lease: Lease = { member, id: session.id, openedAt: now - ageMs, until }
    if (device.lostAt !== undefined && lease.openedAt < device.lostAt) {
      // Its process was cut off and lives: a node that comes anew says how it and its devices are.
      this.line.endSession(member, device.deviceId, session.id, 'FAILED')
      return
    }
    const isNewest = inOrder && ageMs < JUST_OPENED_MS
    const place = isNewest ? -1 : leases.findIndex(({ openedAt }) => openedAt > lease.openedAt)
    // A literal: what is pushed into an empty list makes room for sixteen more.
    const held = leases.length === 0 ? [lease] : leases
    device.leases = held
    if (held === leases && place < 0) leases.push(lease)
    else if (held === leases) leases.splice(place, 0, lease)
    while (held.length > this.settings.maxSessionsPerDevice) this.end(device, held)
    if (held.length === 1 && held[0] === lease) this.listener.connected(device, session.openedAt)
  }

  private end(device: OwnedDevice, leases: Lease[]): void {
    const oldest = leases.shift()
    if (oldest === undefined) return
    ;(device.ending ??= new Set()).add(`${oldest.member} ${oldest.id}`)
    this.line.endSession(oldest.member, device.deviceId, oldest.id, 'TAKEN_OVER')
  }
}
