/** How brokers of Kafka are reached, whoever asks: their addresses guarded, their logins bounded, and the reason of a failure. */
import type { LookupFunction } from 'node:net'
import type { KafkaTarget } from '../../../engine/rulechain/capabilities/outbound.ts'
import type { AddressGuard } from '../address-guard.ts'
import { tlsOptions } from './http.ts'
import { boundedScram } from './kafka-guard.ts'

export type KafkaPlace = Pick<KafkaTarget, 'brokers' | 'clientId' | 'tls' | 'certificates' | 'sasl'>

const RETRY_DELAY_MS = 250

/** For any client of the library; its connections are to be guarded too (`guardConnections`). */
export function kafkaOptions({ brokers, clientId, sasl, ...place }: KafkaPlace, { lookup }: AddressGuard) {
  return {
    ...{ clientId, bootstrapBrokers: [...brokers], retryDelay: RETRY_DELAY_MS },
    ...tlsOf(place, lookup),
    ...(sasl === undefined
      ? {}
      : { sasl: { ...sasl, ...(sasl.mechanism === 'PLAIN' ? {} : { authenticate: boundedScram }) } }),
  }
}

/** The client gathers the errors of all tries and brokers under a text that says nothing of them, and puts why a broker was not reached under another. */
export function kafkaReason(error: unknown): unknown {
  const inner: unknown =
    error instanceof AggregateError ? error.errors[0] : error instanceof Error ? error.cause : undefined
  return inner instanceof Error ? kafkaReason(inner) : error
}

/** Over TLS a broker is called by its name, which its certificate holds, and found by the guard's look-up. */
function tlsOf({ tls, certificates }: Pick<KafkaTarget, 'tls' | 'certificates'>, lookup: LookupFunction): object {
  return tls ? { tls: { ...tlsOptions(certificates), lookup }, tlsServerName: true } : {}
}
