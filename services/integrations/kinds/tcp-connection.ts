/** One connection to a TCP port: reads while there is room, and answers each frame in the order in which they came. */
import type { Socket } from 'node:net'
import type { MillraceError } from '../../../model/errors.ts'
import { unmapped } from '../../outbound/address-guard.ts'
import type { Frame, SourceParts } from '../define-integration.ts'
import type { TcpConfiguration } from './tcp-configuration.ts'
import { TcpFraming, type TcpFrame } from './tcp-framing.ts'

type Parts = SourceParts<TcpConfiguration>

/** Frames that are not answered yet. */
const MAX_OPEN = 1000

/** The frame is a copy of what was held. */
function refusedBytes(frame: TcpFrame | undefined): number {
  return frame !== undefined && 'payload' in frame ? frame.payload.length : 0
}

interface Open {
  /** Undefined until it is known. */
  answer: string | undefined
}

export class TcpConnection {
  private readonly parts: Parts
  private readonly socket: Socket
  private readonly ended: () => void
  private readonly framing: TcpFraming
  private readonly metadata: Frame['metadata']
  /** As they came. */
  private open: Open[] = []
  /** The next frame, for which there was no room. */
  private refused: TcpFrame | undefined
  private held = 0
  private isOver = false
  private isDraining = false
  private isEnding = false
  /** The sender sends no more. */
  private isHalf = false
  private waitsForRoom = false
  private waitsForPeer = false
  private answers = ''
  private willAnswer = false
  private lastByte: number
  private frameBegan: number | undefined

  constructor(parts: Parts, socket: Socket, ended: () => void) {
    const { configuration, inlet, clock } = parts
    this.parts = parts
    this.socket = socket
    this.ended = ended
    this.framing = new TcpFraming(configuration.framing, inlet.maxFrameBytes)
    this.lastByte = clock.monotonic()
    const { remoteAddress = '', remotePort = 0 } = socket
    this.metadata = { remoteAddress: unmapped(remoteAddress), remotePort: String(remotePort) }
    socket
      .on('data', (chunk) => this.read(chunk))
      .on('end', () => {
        this.isHalf = true
        this.takeSome()
      })
      .on('drain', () => {
        this.waitsForPeer = false
        this.takeSome()
      })
      .on('error', () => this.end())
      .on('close', () => this.end())
  }

  /** Ends it where it was silent, or in the middle of a frame, for too long. */
  check(now: number): void {
    const { idleSeconds, frameSeconds } = this.parts.configuration
    // Who is not read cannot be heard, unless he does not read either.
    if (this.waitsForRoom) return
    const { lastByte, frameBegan = now } = this
    if (now - lastByte > idleSeconds * 1000 || now - frameBegan > frameSeconds * 1000) this.end()
  }

  /** Takes no more, and ends when what was taken is answered. */
  drain(): void {
    this.isDraining = true
    this.refused = undefined
    this.restOrRead()
    this.endIfDone()
  }

  end(): void {
    if (this.isOver) return
    this.isOver = true
    this.open = []
    this.refused = undefined
    this.hold(0)
    this.socket.destroy()
    this.ended()
  }

  private read(chunk: Buffer): void {
    if (this.isOver || this.isDraining) return
    this.lastByte = this.parts.clock.monotonic()
    this.framing.push(chunk)
    this.takeSome()
  }

  /** Hands on what came, as far as there is room. */
  private takeSome(): void {
    while (!this.rests) {
      const frame = this.refused ?? this.framing.next()
      this.refused = undefined
      if (frame === undefined) break
      this.frameBegan = undefined
      if (this.isTaken(frame)) continue
      this.refused = frame
      this.waitsForRoom = true
      this.parts.inlet.onRoom(() => {
        this.waitsForRoom = false
        this.lastByte = this.parts.clock.monotonic()
        this.takeSome()
      })
    }
    if (this.isOver) return
    if (this.framing.isBetween || this.rests) this.frameBegan = undefined
    else this.frameBegan ??= this.parts.clock.monotonic()
    this.hold(this.framing.heldBytes + refusedBytes(this.refused))
    this.restOrRead()
    this.endIfDone()
  }

  private isTaken(frame: TcpFrame): boolean {
    const { inlet, configuration } = this.parts
    const each: Open = { answer: undefined }
    this.open.push(each)
    if ('skipped' in frame) {
      inlet.skipped(frame.skipped)
      this.done(each, configuration.failureAnswer)
      return true
    }
    const isTaken = inlet.take(
      { payload: frame.payload, metadata: this.metadata },
      {
        done: (failure: MillraceError | undefined) =>
          this.done(each, failure === undefined ? (configuration.answer ?? '') : configuration.failureAnswer),
        // The sender sees that nothing is certain of what was not answered.
        again: () => this.end(),
      },
    )
    if (!isTaken) this.open.pop()
    return isTaken
  }

  private done(each: Open, answer: string): void {
    if (this.isOver) return
    each.answer = (this.parts.configuration.answer ?? null) === null ? '' : answer
    let count = 0
    for (const { answer: known } of this.open) {
      if (known === undefined) break
      this.answers += known
      count++
    }
    this.open.splice(0, count)
    if (count === 0 || this.willAnswer) return
    // One write for those that were stored together.
    this.willAnswer = true
    this.parts.clock.soon(() => this.writeAnswers())
  }

  private writeAnswers(): void {
    this.willAnswer = false
    if (this.isOver) return
    const { answers } = this
    this.answers = ''
    // Who does not read what he is told is not read either.
    if (answers !== '' && !this.socket.write(answers)) this.waitsForPeer = true
    this.takeSome()
  }

  private get rests(): boolean {
    return this.isOver || this.isDraining || this.waitsForRoom || this.waitsForPeer || this.open.length >= MAX_OPEN
  }

  private restOrRead(): void {
    if (this.isOver || this.isHalf || this.rests === this.socket.isPaused()) return
    if (this.rests) this.socket.pause()
    else this.socket.resume()
  }

  private endIfDone(): void {
    if (this.isOver || this.open.length > 0 || this.willAnswer || this.refused !== undefined) return
    if (this.isEnding || !(this.isDraining || (this.isHalf && !this.rests))) return
    this.isEnding = true
    this.socket.end(() => this.end())
  }

  private hold(bytes: number): void {
    if (bytes === this.held) return
    const { tenantId, shares } = this.parts
    const full = shares.unfinished.exchange(tenantId, this.held, bytes)
    this.held = full === undefined ? bytes : 0
    if (full !== undefined) this.end()
  }
}
