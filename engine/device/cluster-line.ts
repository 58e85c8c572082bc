/**
 * The way between transports and owners over the cluster's bus. What goes to the process itself is a call. A word that the bus does not take is
 * lost, and told again by the next announcement; one that cannot be read is reported and left out.
 */
import { z } from 'zod'
import type { ClusterBus } from '../cluster/bus.ts'
import type { AnnouncedDevice, AnnouncementListener, DeviceLine, SessionEndListener } from './announcement.ts'
import type { SessionEnd } from './gateway.ts'

/** Some 60 KB a message: under what NATS takes in one. */
const DEVICES_PER_MESSAGE = 500

const time = z.int().nonnegative()
const deviceSchema = z.tuple([z.string(), time, z.array(z.tuple([z.int(), time])).optional()])
const messageSchema = z.union([
  z.object({ from: z.string(), at: time, devices: z.array(deviceSchema) }),
  z.object({
    end: z.string(),
    session: z.int(),
    reason: z.enum(['DEVICE_DELETED', 'CREDENTIALS_CHANGED', 'TAKEN_OVER', 'IDLE', 'SHUTDOWN', 'FAILED']),
  }),
])
type LineMessage = z.infer<typeof messageSchema>

export interface ClusterLineOptions {
  readonly bus: ClusterBus
  /** Prefix of all subjects. */
  readonly cluster: string
  readonly self: string
}

export interface ClosableDeviceLine extends DeviceLine {
  readonly figures: { readonly sent: number; readonly lost: number }
  close(): void
}

/** Listens from now on. */
export function clusterDeviceLine(options: ClusterLineOptions): ClosableDeviceLine {
  return new ClusterDeviceLine(options)
}

class ClusterDeviceLine implements ClosableDeviceLine {
  readonly self: string
  readonly figures = { sent: 0, lost: 0 }
  private readonly options: ClusterLineOptions
  private readonly unsubscribe: () => void
  private owner: AnnouncementListener | undefined
  private gateway: SessionEndListener | undefined

  constructor(options: ClusterLineOptions) {
    this.options = options
    this.self = options.self
    this.unsubscribe = options.bus.subscribe(this.subjectOf(this.self), (body) => this.hear(body))
  }

  announce(to: string, at: number, devices: readonly AnnouncedDevice[]): void {
    if (to === this.self) return this.owner?.announced(this.self, at, devices)
    for (let start = 0; start < devices.length; start += DEVICES_PER_MESSAGE) {
      const part = devices.slice(start, start + DEVICES_PER_MESSAGE).map(toWire)
      this.say(to, { from: this.self, at, devices: part })
    }
  }

  endSession(member: string, deviceId: string, sessionId: number, reason: SessionEnd): void {
    if (member === this.self) return this.gateway?.sessionEnded(deviceId, sessionId, reason)
    this.say(member, { end: deviceId, session: sessionId, reason })
  }

  onAnnouncement(listener: AnnouncementListener): void {
    this.owner = listener
  }

  onSessionEnd(listener: SessionEndListener): void {
    this.gateway = listener
  }

  close(): void {
    this.unsubscribe()
  }

  private subjectOf(member: string): string {
    return `${this.options.cluster}.devices.${member}`
  }

  private say(to: string, message: LineMessage): void {
    if (this.options.bus.publish(this.subjectOf(to), JSON.stringify(message))) this.figures.sent++
    else this.figures.lost++
  }

  /** Throws what cannot be read to the bus, which reports it. */
  private hear(body: string): void {
    const message = messageSchema.parse(JSON.parse(body))
    if ('end' in message) return this.gateway?.sessionEnded(message.end, message.session, message.reason)
    this.owner?.announced(message.from, message.at, message.devices.map(fromWire))
  }
}

type WireDevice = z.infer<typeof deviceSchema>

function toWire({ deviceId, heardAt, sessions }: AnnouncedDevice): WireDevice {
  return sessions.length === 0
    ? [deviceId, heardAt]
    : [deviceId, heardAt, sessions.map(({ id, openedAt }): [number, number] => [id, openedAt])]
}

function fromWire([deviceId, heardAt, sessions = []]: WireDevice): AnnouncedDevice {
  return { deviceId, heardAt, sessions: sessions.map(([id, openedAt]) => ({ id, openedAt })) }
}
