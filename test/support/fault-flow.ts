/** One direction of one connection of the fault proxy: bytes in order, late, slowly, in pieces, or not at all. */
import { once } from 'node:events'
import type { Duplex } from 'node:stream'

export interface Weather {
  /** Each piece arrives this late; the rate is not touched by it. */
  readonly delayMs: number
  /** Up to this much later, by chance. */
  readonly jitterMs: number
  readonly bytesPerSecond: number
  /** Nothing moves and nothing is lost: it arrives once this ends, as after a network partition. */
  readonly stalled: boolean
  /** Read and thrown away, as by a peer that is gone without a word (half-open). */
  readonly swallowing: boolean
  /** Bytes of the largest piece written at once: pieces of a random size up to it. */
  readonly largestPiece: number
}

/** Good weather: everything passes at once. */
export const CLEAR: Weather = {
  delayMs: 0,
  jitterMs: 0,
  bytesPerSecond: Infinity,
  stalled: false,
  swallowing: false,
  largestPiece: Infinity,
}

export interface FlowOptions {
  readonly weather: () => Weather
  readonly random: () => number
  /** How many of these bytes may pass; fewer than asked means that the connection is to be cut behind them. */
  readonly allowed: (bytes: number) => number
  readonly cut: () => void
}

/** Beyond it the sender's socket is not read, so that it feels the weather itself. */
const HELD_BYTES = 256 * 1024
/** A narrow line passes this many pieces a second. */
const PIECES_PER_SECOND = 50

interface Piece {
  readonly bytes: Buffer
  readonly arrived: number
}

export class FaultyFlow {
  readonly #from: Duplex
  readonly #to: Duplex
  readonly #options: FlowOptions
  readonly #held: Piece[] = []
  #heldBytes = 0
  #ended = false
  #hasHole = false
  #pumping = false
  #wake: (() => void) | undefined

  constructor(from: Duplex, to: Duplex, options: FlowOptions) {
    this.#from = from
    this.#to = to
    this.#options = options
    from.on('data', (bytes: Buffer) => this.#take(bytes))
    from.on('end', () => this.finish())
    to.on('close', () => this.weatherChanged())
  }

  /** True once bytes were thrown away: what would follow is not the sender's stream any more. */
  get hasHole(): boolean {
    return this.#hasHole
  }

  /** Something of the sender's was thrown away. */
  lost(): void {
    this.#hasHole = true
  }

  /** FIN behind what is held. */
  finish(): void {
    this.#ended = true
    this.#startPump()
  }

  weatherChanged(): void {
    this.#wake?.()
  }

  #take(bytes: Buffer): void {
    if (this.#ended) return
    this.#held.push({ bytes, arrived: performance.now() })
    this.#heldBytes += bytes.length
    if (this.#heldBytes > HELD_BYTES) this.#from.pause()
    this.#startPump()
  }

  #startPump(): void {
    if (this.#pumping) return
    this.#pumping = true
    void this.#pump().finally(() => {
      this.#pumping = false
    })
  }

  async #pump(): Promise<void> {
    for (;;) {
      const piece = this.#held.shift()
      if (piece === undefined) break
      await this.#deliver(piece)
      this.#heldBytes -= piece.bytes.length
      if (this.#heldBytes <= HELD_BYTES) this.#from.resume()
      if (this.#to.destroyed) return
    }
    if (!this.#ended) return
    while (this.#options.weather().stalled && !this.#to.destroyed) await this.#wait(Infinity)
    if (this.#options.weather().swallowing) this.lost()
    else if (!this.#to.destroyed) this.#to.end()
  }

  async #deliver({ bytes, arrived }: Piece): Promise<void> {
    const chance = this.#options.random()
    while (!this.#to.destroyed) {
      const { delayMs, jitterMs } = this.#options.weather()
      const left = arrived + delayMs + jitterMs * chance - performance.now()
      if (left <= 0) break
      await this.#wait(left)
    }
    for (let position = 0; position < bytes.length && !this.#to.destroyed;) {
      const weather = this.#options.weather()
      if (weather.stalled) {
        await this.#wait(Infinity)
        continue
      }
      if (weather.swallowing) {
        return this.lost()
      }
      const wanted = this.#pieceSize(bytes.length - position, weather)
      const size = this.#options.allowed(wanted)
      if (size > 0 && !this.#to.write(bytes.subarray(position, position + size))) await this.#drained()
      position += size
      if (size < wanted) return this.#options.cut()
      if (Number.isFinite(weather.bytesPerSecond)) await this.#pause((size / weather.bytesPerSecond) * 1_000)
    }
  }

  #pieceSize(left: number, { bytesPerSecond, largestPiece }: Weather): number {
    const narrow = Math.max(1, Math.floor(bytesPerSecond / PIECES_PER_SECOND))
    const chopped = Number.isFinite(largestPiece) ? 1 + Math.floor(this.#options.random() * largestPiece) : Infinity
    return Math.min(left, narrow, chopped)
  }

  /** Until the time is over, the weather changes, or the receiver is gone. */
  async #wait(milliseconds: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined
    await new Promise<void>((resolve) => {
      this.#wake = resolve
      if (Number.isFinite(milliseconds)) timer = setTimeout(resolve, milliseconds)
    })
    clearTimeout(timer)
    this.#wake = undefined
  }

  async #pause(milliseconds: number): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, milliseconds))
  }

  async #drained(): Promise<void> {
    if (this.#to.destroyed) return
    await Promise.race([once(this.#to, 'drain'), once(this.#to, 'close')]).catch(() => undefined)
  }
}
