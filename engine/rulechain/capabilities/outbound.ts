/** Calls to services outside. One policy bounds and guards them all (`docs/internals/outbound.md`). */
import type { NodeMailMessage } from './mail.ts'

/** A service that a node calls. Its library is loaded and its connection made at the first call, or by `ready`. */
export interface OutboundClient<Call, Answer> {
  /** Rejects where there is no connection, for who wants to know it at the start. */
  ready(): Promise<void>
  /** `bytes` is what the call holds in memory. Rejects with the service's reason, or with the policy's. No secret is in the text. */
  call(call: Call, bytes: number): Promise<Answer>
  close(): Promise<void>
}

export interface OutboundLimits {
  /** Calls of the node at a time; 0 or absent for the policy's own. The others wait. */
  readonly parallel?: number
  /** Longest call in ms; 0 or absent for the policy's own, which no other exceeds. */
  readonly timeoutMs?: number
  /** False where nothing waits for the calls: they may take up to ten minutes, as `timeoutMs` says. */
  readonly isAwaited?: boolean
}

export interface NodeOutbound {
  /** The message settles when the node has it, and its outcome is a message of its own. */
  readonly forceAck: boolean
  /** The name of this process. */
  readonly serviceId: string
  open<Kind extends OutboundKind>(
    kind: Kind,
    settings: OutboundKinds[Kind]['settings'],
    limits?: OutboundLimits,
  ): OutboundClient<OutboundKinds[Kind]['call'], OutboundKinds[Kind]['answer']>
}

export interface OutboundKinds {
  readonly http: { readonly settings: HttpTarget; readonly call: HttpCall; readonly answer: HttpAnswer }
  readonly mqtt: { readonly settings: MqttTarget; readonly call: MqttPublication; readonly answer: void }
  readonly sqs: { readonly settings: AwsAccount; readonly call: SqsMessage; readonly answer: SqsReceipt }
  readonly sns: { readonly settings: AwsAccount; readonly call: SnsMessage; readonly answer: AwsReceipt }
  readonly lambda: { readonly settings: AwsAccount; readonly call: LambdaCall; readonly answer: LambdaAnswer }
  readonly kafka: { readonly settings: KafkaTarget; readonly call: KafkaRecord; readonly answer: KafkaReceipt }
  readonly rabbitmq: { readonly settings: RabbitTarget; readonly call: RabbitMessage; readonly answer: void }
  readonly twilio: { readonly settings: TwilioAccount; readonly call: TextMessage; readonly answer: void }
  readonly smpp: { readonly settings: ShortMessageCentre; readonly call: TextMessage; readonly answer: void }
  readonly pubsub: { readonly settings: PubSubTarget; readonly call: PubSubMessage; readonly answer: PubSubReceipt }
  readonly smtp: { readonly settings: SmtpTarget; readonly call: NodeMailMessage; readonly answer: void }
}

export type OutboundKind = keyof OutboundKinds

/** PEM texts. */
export interface OutboundCertificates {
  readonly ca?: string
  readonly certificate?: string
  readonly privateKey?: string
  /** Of the private key. */
  readonly password?: string
}

export interface HttpTarget {
  readonly certificates?: OutboundCertificates
  /** Most bytes of an answer's body. */
  readonly maxAnswerBytes: number
  /** What the calls carry in their headers: in no error's text. */
  readonly secret?: string
  readonly proxy?: HttpProxy
}

/** Makes a connection to a target (CONNECT). */
export interface HttpProxy {
  readonly host: string
  readonly port: number
  readonly user?: string
  readonly password?: string
}

export interface HttpCall {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

export interface HttpAnswer {
  readonly status: number
  /** As the server words it. */
  readonly reason: string
  /** Names as they came. */
  readonly headers: readonly (readonly [name: string, values: readonly string[]])[]
  readonly body: string
}

export interface MqttTarget {
  readonly host: string
  readonly port: number
  readonly version: 3 | 4 | 5
  readonly clientId: string
  readonly cleanSession: boolean
  readonly connectTimeoutMs: number
  readonly tls: boolean
  readonly username?: string
  /** Asked anew for each connection, since a token ends. */
  readonly password?: (now: number) => string
  /** What the password is made of: in no error's text. */
  readonly secret?: string
  readonly certificates?: OutboundCertificates
}

export interface MqttPublication {
  readonly topic: string
  readonly payload: string
  readonly retain: boolean
}

export interface KafkaTarget {
  readonly brokers: readonly { readonly host: string; readonly port: number }[]
  readonly clientId: string
  /** Sealed connections; the broker's name is checked against its certificate. */
  readonly tls: boolean
  readonly certificates?: OutboundCertificates
  readonly sasl?: { readonly mechanism: KafkaMechanism; readonly username: string; readonly password: string }
  readonly compression: KafkaCompression
  /** Who must have a record: nobody, the leader, or all replicas that are in step. */
  readonly acks: 0 | 1 | -1
  readonly retries: number
}

export const KAFKA_MECHANISMS = ['PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512'] as const
export type KafkaMechanism = (typeof KAFKA_MECHANISMS)[number]
export const KAFKA_COMPRESSIONS = ['none', 'gzip', 'snappy', 'lz4', 'zstd'] as const
export type KafkaCompression = (typeof KAFKA_COMPRESSIONS)[number]

export interface KafkaRecord {
  readonly topic: string
  readonly key?: string
  readonly value: string
  readonly headers: ReadonlyMap<Buffer, Buffer>
}

/** Without `acks` a broker says nothing: there is neither partition nor offset. */
export interface KafkaReceipt {
  readonly topic: string
  readonly partition?: number
  readonly offset?: string
}

export interface RabbitTarget {
  readonly host: string
  readonly port: number
  readonly virtualHost: string
  readonly username: string
  readonly password: string
  readonly connectTimeoutMs: number
  /** Shown by the broker beside the connection. */
  readonly clientProperties: Readonly<Record<string, string>>
}

export interface RabbitMessage {
  readonly exchange: string
  readonly routingKey: string
  readonly body: string
  readonly contentType?: string
  readonly priority?: number
  /** 2: the broker keeps the message on its disk. */
  readonly deliveryMode?: 1 | 2
}

export interface SmtpTarget {
  readonly host: string
  readonly port: number
  /** Sealed from the first byte; `startTls` seals what began open. */
  readonly secure: boolean
  readonly startTls: boolean
  readonly username?: string
  readonly password?: string
  readonly proxy?: HttpProxy
}

export interface AwsAccount {
  readonly region: string
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly connectTimeoutMs?: number
  /** In the place of Amazon's. */
  readonly endpoint?: string
}

export interface SqsMessage {
  readonly queueUrl: string
  readonly body: string
  readonly delaySeconds: number
  readonly attributes: Readonly<Record<string, string>>
  /** Both of a FIFO queue. */
  readonly deduplicationId?: string
  readonly groupId?: string
}

export type AwsReceipt = Readonly<Record<'messageId' | 'requestId', string | undefined>>
export type SqsReceipt = AwsReceipt &
  Readonly<Partial<Record<'messageBodyMd5' | 'messageAttributesMd5' | 'sequenceNumber', string | undefined>>>

/** To those who listen to a topic, or as a text message to one phone. */
export type SnsMessage = { readonly message: string } & (
  { readonly topicArn: string } | { readonly phoneNumber: string }
)

export interface PubSubTarget {
  readonly projectId: string
  readonly topic: string
  /** The JSON text of a service account's key. */
  readonly serviceAccountKey: string
  /** In the place of Google's. */
  readonly endpoint?: string
}

export interface PubSubMessage {
  readonly data: string
  readonly attributes: Readonly<Record<string, string>>
}

export interface PubSubReceipt {
  readonly messageId: string
}

export interface TwilioAccount {
  readonly accountSid: string
  readonly accountToken: string
  /** A number in the international form, or the id of a phone number or messaging service. */
  readonly numberFrom: string
  /** In the place of Twilio's. */
  readonly endpoint?: string
}

export const SMPP_BINDS = ['TX', 'RX', 'TRX'] as const
/** What is one octet in the protocol, as numbers; no text is longer than its field there. */
export interface ShortMessageCentre {
  readonly host: string
  readonly port: number
  readonly protocolVersion: '3.3' | '3.4'
  readonly systemId: string
  readonly password: string
  readonly systemType: string
  readonly bindType: (typeof SMPP_BINDS)[number]
  readonly serviceType: string
  /** Empty: the centre's own. */
  readonly sourceAddress: string
  readonly sourceTon: number
  readonly sourceNpi: number
  readonly destinationTon: number
  readonly destinationNpi: number
  readonly addressRange: string
  /** 0: the default alphabet, and UCS-2 where a text has other characters; 1: ASCII; 3: Latin 1; 8: UCS-2. */
  readonly codingScheme: 0 | 1 | 3 | 8
}

export interface TextMessage {
  /** In the international form. */
  readonly numberTo: string
  readonly text: string
}

export interface LambdaCall {
  readonly functionName: string
  readonly qualifier: string
  readonly payload: string
}

export interface LambdaAnswer {
  readonly requestId: string | undefined
  readonly payload: string
  /** What went wrong inside the function. */
  readonly functionError: string | undefined
}
