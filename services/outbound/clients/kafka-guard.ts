/**
 * The client takes no look-up of ours for open connections, and brokers name further brokers. All its connections come from its pool by `get`: there the
 * broker's name becomes an address that was checked. Over TLS the name stays, which the certificate is for, and the socket asks the guard's look-up.
 */
import {
  NetworkError,
  type Broker,
  type CallbackWithPromise,
  type Connection,
  type ConnectionPool,
} from '@platformatic/kafka'
import { errorText, isMillraceError } from '../../../model/errors.ts'
import type { AddressGuard } from '../address-guard.ts'

/** `isNamed`: connections are sealed. */
export function guardConnections(pool: ConnectionPool, guard: AddressGuard, isNamed: boolean): void {
  const connect = pool.get.bind(pool)
  const get = (broker: Broker, answer: CallbackWithPromise<Connection>): void => {
    checked(broker, guard, isNamed).then(
      (reachable) => connect(reachable, answer),
      (error: unknown) => {
        const canRetry = isMillraceError(error) && error.kind === 'retryable'
        answer(new NetworkError(errorText(error), { canRetry, ...(error instanceof Error ? { cause: error } : {}) }))
      },
    )
  }
  Object.defineProperty(pool, 'get', { value: get })
}

async function checked(broker: Broker | undefined, guard: AddressGuard, isNamed: boolean): Promise<Broker> {
  if (broker === undefined) throw new Error('the cluster names no such broker')
  const [first] = await guard.addressesOf(broker.host)
  return isNamed || first === undefined ? broker : { ...broker, host: first.address }
}
