/** How a TCP port is listened at, and where frames begin and end in what comes. */
import { z } from 'zod'
import { listenMembers } from './listen-configuration.ts'

const LONGEST_DELIMITER = 16
const LONGEST_ANSWER = 256
const seconds = (most: number, standard: number) => z.int().min(1).max(most).default(standard)

const delimited = z
  .object({
    type: z.literal('DELIMITER'),
    /** Text; absent where `hex` says it. */
    delimiter: z.string().min(1).max(LONGEST_DELIMITER).nullish(),
    /** Bytes as hexadecimal digits. */
    hex: z
      .string()
      .regex(/^([0-9a-fA-F]{2}){1,16}$/, 'up to 16 bytes in hexadecimal digits are expected')
      .nullish(),
  })
  .refine(
    ({ delimiter, hex }) => ((delimiter ?? null) === null) !== ((hex ?? null) === null),
    'either delimiter or hex',
  )

export const tcpFraming = z.discriminatedUnion('type', [
  /** Each line, without its end. */
  z.object({ type: z.literal('LINE') }),
  delimited,
  /** Before each frame stands how many bytes it has, itself not counted. */
  z.object({
    type: z.literal('LENGTH'),
    bytes: z.union([z.literal(2), z.literal(4)]).default(4),
    byteOrder: z.enum(['BIG', 'LITTLE']).default('BIG'),
  }),
])

export const tcpConfiguration = z.object({
  ...listenMembers,
  /** Senders speak TLS; the certificate is the operator's. */
  tls: z.boolean().default(false),
  framing: tcpFraming.default({ type: 'LINE' }),
  /** Written back for each frame when it is stored; absent: nothing is written. */
  answer: z.string().min(1).max(LONGEST_ANSWER).nullish(),
  /** Written in its place for a frame that can never be stored. */
  failureAnswer: z.string().min(1).max(LONGEST_ANSWER).default('ERROR\n'),
  /** A connection over which nothing came for so long is ended. */
  idleSeconds: seconds(86_400, 300),
  /** So long may a frame take from its first byte to its last. */
  frameSeconds: seconds(3600, 30),
})

export type TcpFramingConfiguration = z.output<typeof tcpFraming>
export type TcpConfiguration = z.output<typeof tcpConfiguration>
