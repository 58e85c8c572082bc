/** One call of a node with its state: what it asks for is kept here until it is known whether it counts. */
import type { EntityId } from '../../model/entity-id.ts'
import type { Message } from '../../model/message.ts'
import type { StateTurn } from '../rulechain/capabilities/state.ts'

export interface SentMessage {
  readonly message: Message
  readonly relation: string | undefined
  /** Unix ms. */
  readonly at: number
}

export class Turn<State> implements StateTurn<State> {
  readonly entity: EntityId | undefined
  readonly partition: number
  readonly now: number
  state: State | undefined
  isSet = false
  /** Its state may not be what it was, whether or not the turn counts. */
  isChangedInPlace = false
  wakesAt: number | undefined
  isWakeSet = false
  private sending: SentMessage[] | undefined

  constructor(
    entity: EntityId | undefined,
    now: number,
    state: State | undefined,
    wakesAt: number | null,
    partition: number,
  ) {
    this.entity = entity
    this.partition = partition
    this.now = now
    this.state = state
    this.wakesAt = wakesAt ?? undefined
  }

  get sent(): readonly SentMessage[] {
    return this.sending ?? NOTHING_SENT
  }

  get isTouched(): boolean {
    return this.isSet || this.isWakeSet || this.sending !== undefined
  }

  set(state: State | undefined): void {
    this.state = state
    this.isSet = true
  }

  changeInPlace(): void {
    this.isChangedInPlace = true
    this.isSet = true
  }

  wakeAt(time: number | undefined): void {
    if (time !== undefined && !Number.isSafeInteger(time)) throw new RangeError(`${time} is no time to wake at`)
    this.wakesAt = time
    this.isWakeSet = true
  }

  send(message: Message, relation: string | undefined, at = this.now): void {
    const sent = { message, relation, at }
    if (this.sending === undefined) this.sending = [sent]
    else this.sending.push(sent)
  }
}

/** Most turns send nothing. */
const NOTHING_SENT: readonly SentMessage[] = []
