/**
 * The client takes no look-up of ours for open connections, and brokers name further brokers. All its connections come from its pool by `get`: there the
 * broker's name becomes an address that was checked. Over TLS the name stays, which the certificate is for, and the socket asks the guard's look-up.
 * What a broker answers is the tenant's to make up: it is bounded, and what the client throws about it ends the connection.
 */
import type { Socket } from 'node:net'
import {
  NetworkError,
  saslScramSha,
  type Broker,
  type CallbackWithPromise,
  type ClusterMetadata,
  type Connection,
  type ConnectionPool,
  type Consumer,
  type MetadataOptions,
  type SASLCustomAuthenticator,
} from '@platformatic/kafka'
import { errorText, isMillraceError } from '../../../model/errors.ts'
import type { AddressGuard } from '../address-guard.ts'
import { OutboundErrors } from '../errors.ts'

/** What brokers tell a producer: who leads a topic, and where a record stands. */
export const LONGEST_ANSWER = 2 ** 20
/** Of one node at a time: each topic may have another leader. */
const MAX_CONNECTIONS = 64
/** Brokers ask for 4,096 to 16,384. */
const MAX_ITERATIONS = 100_000
const LARGEST_PORT = 65_535
const LENGTH_BYTES = 4
/** Of the number that says whose answer it is. */
const SHORTEST_ANSWER = 4

/** Where answers are taken to; while it is over its bound the brokers are not heard. */
export interface AnswerRoom {
  readonly isOver: boolean
  /** Calls back once there is room for so many bytes. */
  onRoom(bytes: number, listener: () => void): void
}

/** `isNamed`: connections are sealed. `longestAnswer`: in bytes. */
export function guardConnections(
  pool: ConnectionPool,
  guard: AddressGuard,
  isNamed: boolean,
  longestAnswer = LONGEST_ANSWER,
  room?: AnswerRoom,
): void {
  const get = pool.get.bind(pool)
  const guarded = new WeakSet<Socket>()
  const connect = (broker: Broker, answer: CallbackWithPromise<Connection>): void => {
    if (!pool.has(broker) && [...pool].length >= MAX_CONNECTIONS) {
      answer(new NetworkError(`the cluster names more than ${MAX_CONNECTIONS} brokers`, { canRetry: false }))
      return
    }
    get(broker, answer)
    // The socket is made at once, and not yet connected.
    const socket = pool.getEstablishedConnection(broker)?.socket
    if (socket === undefined || guarded.has(socket)) return
    guarded.add(socket)
    guardAnswers(socket, longestAnswer, room)
  }
  const getChecked = (broker: Broker, answer: CallbackWithPromise<Connection>): void => {
    checked(broker, guard, isNamed).then(
      (reachable) => connect(reachable, answer),
      (error: unknown) => {
        const canRetry = isMillraceError(error) && error.kind === 'retryable'
        answer(new NetworkError(errorText(error), { canRetry, ...(error instanceof Error ? { cause: error } : {}) }))
      },
    )
  }
  Object.defineProperty(pool, 'get', { value: getChecked })
}

async function checked(broker: Broker | undefined, guard: AddressGuard, isNamed: boolean): Promise<Broker> {
  if (broker === undefined) throw new Error('the cluster names no such broker')
  // A socket throws at once, where nobody would catch it.
  if (broker.port < 1 || broker.port > LARGEST_PORT)
    throw new Error(`the cluster says that a broker is at port ${broker.port}`)
  const [first] = await guard.addressesOf(broker.host)
  return isNamed || first === undefined ? broker : { ...broker, host: first.address }
}

/**
 * A group may share out partitions that are newer than what this member knows of the cluster: the client throws then, on a turn of its own. `failed`
 * is told in place of the process.
 */
export function guardMetadata(
  consumer: Pick<Consumer<Buffer, Buffer, Buffer, Buffer>, 'metadata'>,
  failed: (reason: unknown) => void,
): void {
  const ask = consumer.metadata.bind(consumer)
  const guarded = (options: MetadataOptions, answer: CallbackWithPromise<ClusterMetadata>): void => {
    ask(options, (error, metadata) => {
      try {
        answer(error, metadata)
      } catch (thrown) {
        failed(
          OutboundErrors.CALL_FAILED({ reason: `what is known of the cluster makes no sense: ${errorText(thrown)}` }),
        )
      }
    })
  }
  Object.defineProperty(consumer, 'metadata', { value: guarded })
}

/** The client gathers an answer of any length, and throws out of the socket's event, which would end the process. */
function guardAnswers(socket: Socket, longestAnswer: number, room: AnswerRoom | undefined): void {
  const check = answerCheck(longestAnswer)
  const emit: (event: string | symbol, ...values: readonly unknown[]) => boolean = socket.emit.bind(socket)
  const guardedEmit = (event: string | symbol, ...values: readonly unknown[]): boolean => {
    if (event !== 'data') return emit(event, ...values)
    const [chunk] = values
    if (room?.isOver === true) {
      socket.pause()
      room.onRoom(0, () => {
        if (socket.destroyed) return
        // Before the chunk, which may have to wait once more: then it is paused anew.
        socket.resume()
        guardedEmit('data', chunk)
      })
      return true
    }
    const reason = chunk instanceof Uint8Array ? check(chunk) : undefined
    try {
      if (reason === undefined) return emit(event, ...values)
      socket.destroy(OutboundErrors.CALL_FAILED({ reason }))
    } catch (error) {
      const thrown = errorText(error)
      socket.destroy(OutboundErrors.CALL_FAILED({ reason: `the broker's answer makes no sense: ${thrown}` }, error))
    }
    return true
  }
  Object.defineProperty(socket, 'emit', { value: guardedEmit })
}

/** Follows the answers through the chunks they come in; says what is wrong with one. */
export function answerCheck(limit: number): (chunk: Uint8Array) => string | undefined {
  let [length, place, left] = [0, 0, 0]
  return (chunk) => {
    for (let at = 0; at < chunk.length;) {
      if (left > 0) {
        const skipped = Math.min(left, chunk.length - at)
        left -= skipped
        at += skipped
        continue
      }
      length = length * 256 + (chunk[at++] ?? 0)
      if (++place < LENGTH_BYTES) continue
      if (length > limit) return `the broker's answer has more than ${limit} bytes`
      if (length < SHORTEST_ANSWER) return `the broker sends ${length} bytes, which are no answer`
      ;[left, length, place] = [length, 0, 0]
    }
    return undefined
  }
}

/** As the client does it, with a bound for the work that a broker may ask for: it keeps one of the process's few threads. */
export const boundedScram: SASLCustomAuthenticator = (
  mechanism,
  connection,
  api,
  username,
  password,
  _token,
  answer,
) => {
  const algorithm = mechanism === 'SCRAM-SHA-512' ? 'SHA-512' : 'SHA-256'
  const hi: typeof saslScramSha.hi = async (definition, text, salt, iterations) => {
    if (iterations > MAX_ITERATIONS)
      throw new RangeError(`the broker asks for ${iterations} iterations, at most ${MAX_ITERATIONS} are done`)
    return saslScramSha.hi(definition, text, salt, iterations)
  }
  const crypto = { ...saslScramSha.defaultCrypto, hi }
  saslScramSha.authenticate(api, connection, algorithm, username ?? '', password ?? '', crypto, answer)
}
