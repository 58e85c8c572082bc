/**
 * One client that is reached otherwise than when it was observed: it may know nothing of that any more. A client of DTLS that shakes hands anew
 * drops what its former connection was observed for, and a registration update says nothing of it, so it is asked for all of it again.
 */
import type { Clock } from '../../model/clock.ts'
import type { Peer } from '../coap-messages/message.ts'
import type { ClientObservations, DoubtfulObservation } from './observations.ts'
import type { RenewalTurns } from './renewal-turns.ts'

export interface RenewalOptions {
  readonly observations: ClientObservations
  readonly turns: RenewalTurns
  readonly clock: Clock
  /** Between two changes of a mere address that count. */
  readonly intervalMs: number
  readonly tenantId: string
  /** By which it registered. */
  readonly peer: Peer
  /** It is registered and listens. */
  readonly isReachable: () => boolean
  /** Asks for one again. False where the client does not answer. Does not reject. */
  readonly renew: (observation: DoubtfulObservation) => Promise<boolean>
}

export class Renewal {
  private readonly options: RenewalOptions
  private connection: string
  private renewedAt: number | undefined
  private state: 'idle' | 'running' | 'again' = 'idle'

  constructor(options: RenewalOptions) {
    this.options = options
    this.connection = connectionOf(options.peer)
  }

  /** It updated its registration, or sent values, and came by this. True where it is asked for all again. */
  heardBy(peer: Peer): boolean {
    const connection = connectionOf(peer)
    if (connection === this.connection || !this.isDue(peer)) return false
    this.connection = connection
    this.renewedAt = this.options.clock.monotonic()
    this.options.observations.doubt()
    if (this.state === 'running') this.state = 'again'
    return true
  }

  /** It listens: what is left is done now. */
  goOn(): void {
    const { observations, turns, tenantId } = this.options
    if (this.state !== 'idle' || observations.doubtful === undefined) return
    this.state = 'running'
    void turns
      .run(tenantId, () => this.renewAll())
      .then(() => {
        // It was asked where it is no more.
        const isAgain = this.state === 'again'
        this.state = 'idle'
        if (isAgain) this.goOn()
      })
  }

  /**
   * Networks give a client another address with each update, and most clients do not hear of that: they would be asked for all with each. Shaking
   * hands costs a client more than being asked.
   */
  private isDue({ handshake }: Peer): boolean {
    const { clock, intervalMs } = this.options
    return handshake !== undefined || this.renewedAt === undefined || clock.monotonic() >= this.renewedAt + intervalMs
  }

  private async renewAll(): Promise<void> {
    const { observations, isReachable, renew } = this.options
    for (;;) {
      const { doubtful } = observations
      // The rest is done when it is heard again: asking a silent one goes on for nothing.
      if (doubtful === undefined || !isReachable() || !(await renew(doubtful))) return
    }
  }
}

/** A client of DTLS keeps its connection while its address changes. */
function connectionOf({ key, handshake }: Peer): string {
  return handshake ?? key
}
