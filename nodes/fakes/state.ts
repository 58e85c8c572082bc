/** States in memory, for tests of nodes: what a node sends and when it wants to be woken is looked at, and its time is made to come. */
import type { KeyedNode, NodeState, StateTurn } from '../../engine/rulechain/capabilities/state.ts'
import type { BatchResult, NodeInstance, NodeOutput } from '../../engine/rulechain/node.ts'
import type { EntityId } from '../../model/entity-id.ts'
import { parseJson, stringifyJson, type JsonValue } from '../../model/json.ts'
import type { Message } from '../../model/message.ts'

export interface SentByNode {
  readonly message: Message
  readonly relation: string | undefined
  /** Unix ms. */
  readonly at: number
}

interface Held {
  readonly entity: EntityId | undefined
  readonly partition?: number
  text: string | undefined
  wakesAt: number | undefined
}

export class FakeState implements NodeState {
  readonly serviceId = 'here'
  readonly sent: SentByNode[] = []
  /** By the id of the entity, or `partition`. */
  readonly held = new Map<string, Held>()
  /** Commits of messages are refused with this: what the node did is undone. */
  refuses: Error | undefined
  /** What `stayOf` says. */
  stay: number | undefined = 1
  /** Where messages come to, and the node starts. */
  partition = 0
  /** What `partitionOf` says. */
  home = 0
  /** What `waiting` says. */
  waitingCount = 0
  /** Makes the time of every state come that is due. */
  wake: () => Promise<void> = () => Promise.resolve()
  /** What the platform does when the node and its partition are here. */
  start: () => void = () => undefined
  private readonly now: () => number

  constructor(now: () => number) {
    this.now = now
  }

  keyed<State extends JsonValue, Known>(node: KeyedNode<State, Known>): NodeInstance {
    this.wake = async () => {
      for (const held of [...this.held.values()]) {
        if (held.wakesAt === undefined || held.wakesAt > this.now()) continue
        const known = await node.readForWake?.(stateOf(node, held))
        held.wakesAt = undefined
        this.turn(node, held, (turn) => node.wake?.(turn, known))
      }
    }
    this.start = () => {
      this.turn(node, this.heldOf(node.source?.id ?? this.own, node.source), (turn) => node.start?.(turn))
    }
    return {
      handleBatch: async (messages, result) => {
        for (const [index, message] of messages.entries()) await this.handle(node, message, index, result)
      },
    }
  }

  stayOf(): number | undefined {
    return this.stay
  }

  partitionOf(): number {
    return this.home
  }

  waiting(): number {
    return this.waitingCount
  }

  private get own(): string {
    return this.partition === 0 ? 'partition' : `partition ${this.partition}`
  }

  private async handle<State extends JsonValue, Known>(
    node: KeyedNode<State, Known>,
    message: Message,
    index: number,
    result: BatchResult,
  ): Promise<void> {
    const isOwn = node.per === 'originator'
    const held = this.heldOf(isOwn ? message.originator.id : this.own, isOwn ? message.originator : undefined)
    try {
      const known = await node.read?.(message, stateOf(node, held))
      const { text, wakesAt } = held
      const output = this.turn(node, held, (turn) => node.handle(turn, message, known))
      if (this.refuses !== undefined) {
        Object.assign(held, { text, wakesAt })
        result.fail(index, this.refuses)
      } else if (output instanceof Error) result.fail(index, output)
      else result.emit(index, output)
    } catch (error) {
      result.fail(index, error instanceof Error ? error : new Error(String(error)))
    }
  }

  /** As in the engine, a turn that throws did nothing. */
  private turn<State extends JsonValue, Known, Result extends NodeOutput | Error | void>(
    node: KeyedNode<State, Known>,
    held: Held,
    run: (turn: StateTurn<State>) => Result,
  ): Result {
    const sent: SentByNode[] = []
    const draft: { state: State | undefined; wakesAt: number | undefined } = {
      state: stateOf(node, held),
      wakesAt: held.wakesAt,
    }
    const now = this.now()
    const result = run({
      entity: held.entity,
      partition: held.partition ?? 0,
      now,
      get state() {
        return draft.state
      },
      get wakesAt() {
        return draft.wakesAt
      },
      set: (state) => void (draft.state = state),
      // The draft was read from its text for this turn alone.
      changeInPlace: () => undefined,
      wakeAt: (time) => void (draft.wakesAt = time),
      send: (message, relation, at = now) => void sent.push({ message, relation, at }),
    })
    held.text = draft.state === undefined ? undefined : stringifyJson(draft.state)
    held.wakesAt = draft.wakesAt
    this.sent.push(...sent)
    return result
  }

  private heldOf(key: string, entity: EntityId | undefined): Held {
    const held = this.held.get(key) ?? { entity, partition: this.partition, text: undefined, wakesAt: undefined }
    this.held.set(key, held)
    return held
  }
}

function stateOf<State, Known>(node: KeyedNode<State, Known>, { text }: Held): State | undefined {
  if (text === undefined) return undefined
  try {
    return node.parse(parseJson(text))
  } catch {
    // As in the engine: a state of another shape counts as none.
    return undefined
  }
}
