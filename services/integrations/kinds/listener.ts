/** Listens at a port as long as the integration runs: tried again while another has it, such as the owner before. */
import type { TimerHandle } from '../../../model/clock.ts'
import { errorText } from '../../../model/errors.ts'
import type { Source, SourceParts } from '../define-integration.ts'
import { IntegrationErrors } from '../errors.ts'
import { listenText } from './listen-configuration.ts'

const RETRY_MS = 1000
/** A port moves with its owner: the one before may take some seconds to hear of it, and senders are without one meanwhile. */
const LONGEST_RETRY_MS = 5_000

interface Place {
  readonly address: string
  readonly port: number
}

/** What listens: `failed` is told once, when it does not or no longer. */
export interface Listening {
  /** Resolves when the port is free again. */
  close(): Promise<void>
}

export type Listen = (listens: () => void, failed: (reason: Error) => void) => Listening

/** Throws `TOO_MANY_PORTS`. */
export function listenAlways(parts: SourceParts<Place>, listen: Listen): Source {
  const { shares, tenantId } = parts
  if (!shares.enterPort(tenantId)) throw IntegrationErrors.TOO_MANY_PORTS({ limit: shares.tenantPorts })
  const listener = new Listener(parts, listen)
  listener.begin()
  return listener
}

class Listener implements Source {
  private readonly parts: SourceParts<Place>
  private readonly listen: Listen
  private listening: Listening | undefined
  private retry: TimerHandle | undefined
  private retryMs = RETRY_MS
  private isClosed = false

  constructor(parts: SourceParts<Place>, listen: Listen) {
    this.parts = parts
    this.listen = listen
  }

  begin(): void {
    const { clock, configuration, connected } = this.parts
    let hasFailed = false
    this.listening = this.listen(
      () => {
        this.retryMs = RETRY_MS
        connected(true)
      },
      (reason) => {
        if (this.isClosed || hasFailed) return
        hasFailed = true
        const source = listenText(configuration)
        connected(false, IntegrationErrors.SOURCE({ source, reason: errorText(reason) }))
        void this.listening?.close()
        this.listening = undefined
        this.retry = clock.after(this.retryMs, () => this.begin())
        this.retryMs = Math.min(this.retryMs * 2, LONGEST_RETRY_MS)
      },
    )
  }

  async close(): Promise<void> {
    if (this.isClosed) return
    this.isClosed = true
    this.retry?.cancel()
    await this.listening?.close()
    this.parts.shares.leavePort(this.parts.tenantId)
  }
}
