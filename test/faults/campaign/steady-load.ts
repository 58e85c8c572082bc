/**
 * A steady load over faults: every device sends numbered values at a moderate pace, by the transport it is at; where that dies,
 * falls silent or refuses the connection, it goes on at the next one.
 */
import type { SeededRandom } from '../../support/seeded-random.ts'
import { sendOverHttp } from './http-device.ts'
import type { Journal } from './journal.ts'
import { sendOverMqtt } from './mqtt-device.ts'

/** Where devices connect; the addresses stay the same over restarts. */
export interface TransportAddress {
  readonly url: string
  readonly mqttPort: number
}

/** Until a device takes a silent connection for dead, ms. */
export const PATIENCE_MS = 4_000
/** Between two sends of a device, ms. */
export const PACE_MS = 100
/** Before a device that was refused or has no connection tries again, ms. */
export const PAUSE_MS = 250

export interface Sending {
  readonly journal: Journal
  /** The transport the device is at; `move` goes to the next one. */
  readonly transport: () => TransportAddress
  readonly move: () => void
  readonly random: SeededRandom
  readonly stop: AbortSignal
}

export interface SteadyLoad {
  readonly journals: readonly Journal[]
  /** Sends nothing more; resolves when every value has its outcome. */
  end(): Promise<void>
}

export function startSteadyLoad(
  journals: readonly Journal[],
  transports: readonly TransportAddress[],
  random: SeededRandom,
): SteadyLoad {
  const stop = new AbortController()
  const senders = journals.map((journal, index) => {
    let at = index % transports.length
    const sending: Sending = {
      journal,
      transport: () => {
        const address = transports[at]
        if (address === undefined) throw new Error('a load without transports')
        return address
      },
      move: () => {
        at = (at + 1) % transports.length
        journal.nextSession()
      },
      random,
      stop: stop.signal,
    }
    return journal.device.protocol === 'HTTP' ? sendOverHttp(sending) : sendOverMqtt(sending)
  })
  return {
    journals,
    end: async () => {
      stop.abort()
      await Promise.all(senders)
    },
  }
}
