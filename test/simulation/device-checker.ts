/**
 * What must hold of devices in every history, whatever fails:
 *
 * - a session is taken over only by one that came later; in the end a device has one
 * - nobody is told inactive who posted, however it moves, with time for the owner to have read it
 * - what is stored of a device's liveness and told of it changes together: the next owner does not tell it again
 * - untimed uploads have stamps that rise in log order; a frame that is read again gives the same ones
 * - no acknowledged point is overwritten; what is latest is never older than what was acknowledged before it was sent
 */
import assert from 'node:assert/strict'
import type { Message } from '../../model/message.ts'

/** With what an owner that stands still, is cut off or changes may be behind. */
export const DEAFNESS_MS = 7000
/** What the clocks of two processes differ at most. */
const CLOCKS_DIFFER_MS = 1000
/** What a crash loses of when a device was heard: it is written down so often. */
const REPORT_MS = 1000
/** Sessions that come within this time may be told in either order. */
const SAME_TIME_MS = 1500
const HEARS_AGAIN_MS = 500

export interface Upload {
  readonly device: string
  readonly number: number
  readonly sentAt: number
  readonly elements: number
  acknowledgedAt: number
}

export interface HeldSession {
  readonly device: string
  readonly process: string
  readonly openedAt: number
  readonly isAlive: () => boolean
  end: string
}

/** A process as the checker needs it: since when it takes itself for the owner of a device, Infinity where it does not. */
export interface EngineView {
  readonly id: string
  ownsSince(device: string): number
}

interface Saved {
  readonly active: boolean
  readonly by: string
  readonly at: number
}

interface Told {
  readonly type: string
  readonly at: number
}

interface Stamped {
  readonly upload: Upload
  readonly sequence: number
  readonly ts: number
}

interface Point {
  readonly upload: Upload
  readonly sequence: number
  readonly ts: number
}

export interface LifecycleEvent {
  readonly device: string
  readonly type: string
  readonly at: number
}

export class DeviceChecker {
  readonly events: LifecycleEvent[] = []
  readonly sessions: HeldSession[] = []
  redelivered = 0
  takenOver = 0
  private wentOnAt = -Infinity
  private stoodStillMs = 0
  private readonly timeoutMs: number
  private readonly now: () => number
  private readonly uploads = new Map<number, Upload>()
  private readonly byDevice = new Map<string, Upload[]>()
  private readonly saved = new Map<string, Saved>()
  private readonly told = new Map<string, Told>()
  private readonly stamped = new Map<string, Stamped>()
  private readonly points = new Map<string, Point>()
  private readonly latest = new Map<string, Point>()

  constructor(timeoutMs: number, now: () => number) {
    this.timeoutMs = timeoutMs
    this.now = now
  }

  get acknowledged(): number {
    return [...this.uploads.values()].filter(({ acknowledgedAt }) => acknowledgedAt > 0).length
  }

  get sent(): number {
    return this.uploads.size
  }

  /** An owner hears now what was said while it stood still, and takes the ages in it for those of now. */
  wentOn(stoodStillMs: number): void {
    this.wentOnAt = this.now()
    this.stoodStillMs = stoodStillMs
  }

  opened(session: HeldSession): void {
    this.sessions.push(session)
  }

  ended(session: HeldSession, reason: string): void {
    assert.equal(session.end, '', `a session of ${session.device} ends once`)
    session.end = reason
    if (reason !== 'TAKEN_OVER') return
    this.takenOver++
    const slackMs = this.now() - this.wentOnAt < HEARS_AGAIN_MS ? this.stoodStillMs : 0
    const isNewer = (other: HeldSession): boolean =>
      other !== session && other.device === session.device && other.openedAt > session.openedAt - SAME_TIME_MS - slackMs
    assert.ok(this.sessions.some(isNewer), `a session of ${session.device} was taken over by none that is newer`)
  }

  liveSessions(device: string): readonly HeldSession[] {
    return this.sessions.filter((session) => session.device === device && session.end === '' && session.isAlive())
  }

  posted(upload: Upload): void {
    this.uploads.set(upload.number, upload)
    const uploads = this.byDevice.get(upload.device)
    if (uploads === undefined) this.byDevice.set(upload.device, [upload])
    else uploads.push(upload)
  }

  stored(upload: Upload): void {
    assert.equal(upload.acknowledgedAt, 0, `upload ${upload.number} has one receipt`)
    upload.acknowledgedAt = this.now()
  }

  activeSaved(device: string, active: boolean, by: string): void {
    this.saved.set(device, { active, by, at: this.now() })
  }

  emitted(engine: EngineView, device: string, type: string): void {
    const at = this.now()
    this.events.push({ device, type, at })
    if (type !== 'ACTIVITY_EVENT' && type !== 'INACTIVITY_EVENT') return
    const what = `${type} of ${device} by ${engine.id}`
    const active = type === 'ACTIVITY_EVENT'
    const saved = this.saved.get(device)
    const key = `${engine.id} ${device}`
    const told = this.told.get(key)
    this.told.set(key, { type, at })
    const since = engine.ownsSince(device)
    const isTold = told?.type === type
    if (saved === undefined) assert.ok(active, `${what}, which was never active`)
    else if (saved.active === active) {
      const mustKnow = saved.by === engine.id ? isTold : saved.at < since && (told === undefined || told.at < since)
      assert.ok(!mustKnow, `${what}, which ${saved.by} had saved at ${saved.at}; owner since ${since}, now ${at}`)
    } else {
      const isAlone = saved.by === engine.id || saved.at < since
      assert.ok(!(isTold && isAlone && since < told.at), `${what}: twice by one owner`)
    }
    if (!active) this.checkSilence(device, what)
  }

  /** A message as it reaches the rule chain of any owner. */
  delivered(message: Message): void {
    const upload = this.uploadOf(message)
    const ts = Number(message.metadata['ts'])
    assert.ok(Number.isSafeInteger(ts), `upload ${upload.number} has a stamp: ${message.metadata['ts']}`)
    const before = this.stamped.get(message.id)
    if (before === undefined) {
      this.stamped.set(message.id, { upload, sequence: message.sequence, ts })
      return
    }
    this.redelivered++
    assert.equal(ts, before.ts, `upload ${upload.number} is stamped the same when it is read again`)
    assert.equal(message.sequence, before.sequence, `upload ${upload.number} has one sequence`)
  }

  /** As time-series stores do: one point a time, and the latest by time, then by sequence. */
  committed(message: Message): void {
    const upload = this.uploadOf(message)
    const ts = Number(message.metadata['ts'])
    const point: Point = { upload, sequence: message.sequence, ts }
    for (const name of Object.keys(JSON.parse(message.data) as object)) {
      const place = `${upload.device} ${name} ${ts}`
      const there = this.points.get(place)
      assert.ok(
        there === undefined || there.upload === upload,
        `upload ${upload.number} overwrites upload ${there?.upload.number ?? 0} at ${ts}`,
      )
      this.points.set(place, point)
    }
    const before = this.latest.get(upload.device)
    if (before !== undefined && (before.ts - ts || before.sequence - message.sequence) > 0) return
    this.latest.set(upload.device, point)
    if (before === undefined) return
    const wentBack = upload.acknowledgedAt > 0 && upload.acknowledgedAt < before.upload.sentAt
    assert.ok(!wentBack, `latest went back from upload ${before.upload.number} to ${upload.number}`)
  }

  /** Events of a device from then on. */
  eventsSince(device: string, since: number): readonly string[] {
    return this.events.filter((event) => event.device === device && event.at >= since).map(({ type }) => type)
  }

  /** At the end, with everything settled. */
  finish(): void {
    const stored = new Map<Upload, number>()
    for (const { upload } of this.points.values()) stored.set(upload, (stored.get(upload) ?? 0) + 1)
    for (const upload of this.uploads.values()) {
      if (upload.acknowledgedAt > 0)
        assert.equal(stored.get(upload) ?? 0, upload.elements, `points of upload ${upload.number}, acknowledged`)
    }
    for (const [device, { upload }] of this.latest) {
      const newer = this.byDevice.get(device)?.find((other) => isBehind(upload, other))
      assert.equal(newer, undefined, `latest of ${device} is upload ${upload.number}, not ${newer?.number ?? 0}`)
    }
    this.checkStamps()
  }

  private checkStamps(): void {
    const last = new Map<string, Stamped>()
    for (const stamped of [...this.stamped.values()].sort((one, other) => one.sequence - other.sequence)) {
      const { device, number } = stamped.upload
      const before = last.get(device)
      last.set(device, stamped)
      if (before === undefined) continue
      const rises = before.upload === stamped.upload ? stamped.ts >= before.ts : stamped.ts > before.ts
      assert.ok(rises, `upload ${number} has ${stamped.ts}, upload ${before.upload.number} before it ${before.ts}`)
    }
  }

  private checkSilence(device: string, what: string): void {
    const from = this.now() - this.timeoutMs + CLOCKS_DIFFER_MS + REPORT_MS
    const to = this.now() - DEAFNESS_MS
    const heard = this.byDevice
      .get(device)
      ?.findLast(({ sentAt, acknowledgedAt }) => sentAt > from && acknowledgedAt > 0 && acknowledgedAt <= to)
    assert.equal(heard, undefined, `${what} at ${this.now()}, which posted at ${heard?.sentAt ?? 0}`)
  }

  private uploadOf(message: Message): Upload {
    const [number] = Object.values(JSON.parse(message.data) as Record<string, number>)
    const upload = this.uploads.get(number ?? 0)
    assert.ok(upload !== undefined, `${message.data} was posted`)
    return upload
  }
}

/** `other` was acknowledged, and sent only after `upload` was. */
function isBehind(upload: Upload, other: Upload): boolean {
  return other.acknowledgedAt > 0 && upload.acknowledgedAt > 0 && other.sentAt > upload.acknowledgedAt
}
