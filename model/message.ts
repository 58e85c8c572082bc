/**
 * The rule-engine message: immutable, shared between branches; its data is parsed at most once. A node that changes it
 * makes a copy of the part it changes (`with`). Source: `rule-engine.md` section 1.
 */
import type { EntityId } from './entity-id.ts'
import type { Entry } from './value.ts'
import { parseJson, type JsonValue } from './json.ts'

export type Metadata = Readonly<Record<string, string>>
export type DataType = 'JSON' | 'TEXT' | 'BINARY'

const BACKFILL_KEY = 'backfill'
/** Of a message that a late one causes: it is late too. */
export const BACKFILL_METADATA: Metadata = { [BACKFILL_KEY]: 'true' }
const BACKFILL_LANE = '/backfill'

/** The originator whose messages have this {@link Message.orderKey}. */
export function originatorOfOrderKey(key: string): string {
  return key.endsWith(BACKFILL_LANE) ? key.slice(0, -BACKFILL_LANE.length) : key
}

export interface NodeAddress {
  readonly ruleChainId: string
  readonly ruleNodeId: string
}

/** Where a message that a node put into a queue goes on, and what lies behind it: for its delivery the way did not begin anew. */
export interface Resumption extends NodeAddress {
  /** Behind the node, as if it had emitted this; absent: at the node. */
  readonly relation?: string | undefined
  /** Node executions so far: the bound on them holds over all queues. */
  readonly executions: number
  /** The queue in which it began; absent is `Main`. Messages that it causes go there. */
  readonly firstQueueName?: string | undefined
  /** The "rule chain" nodes that it entered through, innermost first. */
  readonly callers: readonly NodeAddress[]
}

export interface MessageFields {
  /** UUID text. Stable through retries and replays: an effect outside carries it as its idempotency key. */
  readonly id: string
  /** Creation time, Unix ms. */
  readonly ts: number
  readonly type: string
  readonly tenantId: string
  readonly originator: EntityId
  readonly customerId?: string | undefined
  readonly metadata: Metadata
  readonly dataType?: DataType
  /** The raw text. */
  readonly data: string
  /** Delivery address: no chain means the root chain (or the device profile's), no node the chain's first node. */
  readonly ruleChainId?: string | undefined
  readonly ruleNodeId?: string | undefined
  /** The queue that processes it; absent means `Main`. */
  readonly queueName?: string | undefined
  /** Goes before the delivery address, which stays what it was. */
  readonly resumption?: Resumption | undefined
  /** Calculated fields that it came from, and what came of them: none is calculated of it again. */
  readonly calculatedFieldIds?: readonly string[] | undefined
}

/** What is already known of the data, so that nobody parses it again. */
export interface ParsedData {
  readonly json?: JsonValue
  readonly entries?: readonly Entry[]
}

export class Message {
  readonly id: string
  readonly ts: number
  readonly type: string
  readonly tenantId: string
  readonly originator: EntityId
  readonly customerId: string | undefined
  readonly metadata: Metadata
  readonly dataType: DataType
  readonly data: string
  readonly ruleChainId: string | undefined
  readonly ruleNodeId: string | undefined
  readonly queueName: string | undefined
  readonly resumption: Resumption | undefined
  readonly calculatedFieldIds: readonly string[] | undefined
  /**
   * Position in the link's log: set once by the link, 0 before; breaks ties of equal times. Of two messages of one originator the
   * one with the higher position was published later, in whichever queues they are.
   */
  sequence = 0
  private isRedirected = false
  private parsed: JsonValue | undefined
  private knownEntries: readonly Entry[] | undefined

  constructor(fields: MessageFields, known?: ParsedData) {
    this.id = fields.id
    this.ts = fields.ts
    this.type = fields.type
    this.tenantId = fields.tenantId
    this.originator = fields.originator
    this.customerId = fields.customerId
    this.metadata = fields.metadata
    this.dataType = fields.dataType ?? 'JSON'
    this.data = fields.data
    this.ruleChainId = fields.ruleChainId
    this.ruleNodeId = fields.ruleNodeId
    this.queueName = fields.queueName
    this.resumption = fields.resumption
    this.calculatedFieldIds = fields.calculatedFieldIds
    this.parsed = known?.json
    this.knownEntries = known?.entries
  }

  /** The parsed data, shared: never change it. Throws `JSON_INVALID` where the data is no JSON. */
  json(): JsonValue {
    return (this.parsed ??= parseJson(this.data))
  }

  /** The telemetry or attribute entries of the data where the decoder already knew them. */
  entries(): readonly Entry[] | undefined {
    return this.knownEntries
  }

  /**
   * The originator is the one that the message came with from a transport or a service, which saw that it is the tenant's. False where a node may
   * have put another one: it must be asked whose that is.
   */
  get hasOwnOriginator(): boolean {
    return !this.isRedirected && this.resumption === undefined
  }

  /** A copy with some parts changed; id and sequence stay (`rule-engine.md` 1.2, "transform"). */
  with(change: Partial<MessageFields>, known?: ParsedData): Message {
    const copy = new Message(
      {
        id: change.id ?? this.id,
        ts: change.ts ?? this.ts,
        type: change.type ?? this.type,
        tenantId: change.tenantId ?? this.tenantId,
        originator: change.originator ?? this.originator,
        customerId: 'customerId' in change ? change.customerId : this.customerId,
        metadata: change.metadata ?? this.metadata,
        dataType: change.dataType ?? this.dataType,
        data: change.data ?? this.data,
        ruleChainId: 'ruleChainId' in change ? change.ruleChainId : this.ruleChainId,
        ruleNodeId: 'ruleNodeId' in change ? change.ruleNodeId : this.ruleNodeId,
        queueName: 'queueName' in change ? change.queueName : this.queueName,
        resumption: 'resumption' in change ? change.resumption : this.resumption,
        calculatedFieldIds: change.calculatedFieldIds ?? this.calculatedFieldIds,
      },
      known,
    )
    copy.sequence = this.sequence
    copy.isRedirected = this.isRedirected || copy.originator.id !== this.originator.id
    if (known === undefined && (change.data === undefined || change.data === this.data)) {
      copy.parsed = this.parsed
      copy.knownEntries = this.knownEntries
    }
    return copy
  }

  /**
   * Gives its points a time where they carried none: once, by the link's owner, before anybody else has the message. The message has it too: results
   * of calculated fields stand at a message's time, and must neither be older than its points nor overwrite each other.
   */
  stampPoints(ts: number): void {
    Object.assign(this, { ts, metadata: { ...this.metadata, ts: String(ts) } })
  }

  /** It is of a time that has passed: the owner of the link's stream says so, before anybody else has the message. */
  markBackfill(): void {
    Object.assign(this, { metadata: { ...this.metadata, ...BACKFILL_METADATA } })
  }

  /** What was stored elsewhere and sent later: it is kept and counted, and says nothing of the present. */
  get isBackfill(): boolean {
    return this.metadata[BACKFILL_KEY] === 'true'
  }

  /** Messages with the same one keep their order: those of an originator, with what it sent later apart from what it sends now. */
  get orderKey(): string {
    return this.isBackfill ? `${this.originator.id}${BACKFILL_LANE}` : this.originator.id
  }

  /** The time the data speaks of: metadata `ts` where it is a number, else the message's own (`rule-engine.md` 1.1). */
  metadataTs(): number {
    const text = this.metadata['ts']
    return text === undefined ? this.ts : (plainTime(text) ?? signedTime(text) ?? this.ts)
  }
}

/** The usual time, digits alone, read in half the time of {@link signedTime}: every stored message asks for it. */
function plainTime(text: string): number | undefined {
  const { length } = text
  // 15 digits are exact, and more than any time has.
  if (length === 0 || length > 15) return undefined
  let time = 0
  for (let index = 0; index < length; index++) {
    const digit = text.charCodeAt(index) - 0x30
    if (digit < 0 || digit > 9) return undefined
    time = time * 10 + digit
  }
  return time
}

function signedTime(text: string): number | undefined {
  if (!/^[+-]?\d+$/.test(text)) return undefined
  const time = Number(text)
  return Number.isSafeInteger(time) ? time : undefined
}
