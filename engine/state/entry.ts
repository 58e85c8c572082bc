/** One state of one node in the memory of its partition's owner. */
import { isEntityType, type EntityId } from '../../model/entity-id.ts'
import type { JsonValue } from '../../model/json.ts'
import { parseJson } from '../../model/json.ts'
import type { KeyedNode } from '../rulechain/capabilities/state.ts'
import { DoneVisits } from './done-visits.ts'
import type { StatePlace, StoredState } from './store.ts'

/** What a row takes beside its value, for the bound. */
const ROW_BYTES = 200

/** A transaction that is not durable yet. */
export interface CommitGroup {
  whenDone(listener: (error: Error | undefined) => void): void
}

export class StateEntry {
  readonly id: string
  readonly place: StatePlace
  /** Undefined where it is a partition's. */
  readonly entity: EntityId | undefined
  /** JSON; null: no state. */
  text: string | null
  wakeAt: number | null
  readonly done: DoneVisits
  isStored: boolean
  /** The commit that carries the last change; undefined where all is durable. */
  group: CommitGroup | undefined
  /** Since it was looked at last by who makes room. */
  isUsed = true
  private readBy: object | undefined
  private value: unknown

  constructor(id: string, place: StatePlace, stored: StoredState | undefined) {
    this.id = id
    this.place = place
    this.entity = entityOf(id)
    this.text = stored?.value ?? null
    this.wakeAt = stored?.wakeAt ?? null
    this.done = new DoneVisits(stored?.done ?? '')
    this.isStored = stored !== undefined
  }

  /** As the node reads it: once for each version of the node. Undefined where there is none, or of another shape. */
  stateOf<State, Known>(node: KeyedNode<State, Known>): State | undefined {
    if (this.readBy === node) return this.value as State | undefined
    const state = readState(node, this.text)
    this.keep(node, this.text, state)
    return state
  }

  keep<State, Known>(node: KeyedNode<State, Known>, text: string | null, state: State | undefined): void {
    this.text = text
    this.readBy = node
    this.value = state
  }

  get bytes(): number {
    return this.isEmpty ? 0 : ROW_BYTES + (this.text?.length ?? 0) + this.done.bytes
  }

  /** Nothing has to be stored of it. */
  get isEmpty(): boolean {
    return this.text === null && this.wakeAt === null && this.done.isEmpty
  }

  /** What the node changed in place does not count: the text tells what the state is. */
  forgetValue(): void {
    this.readBy = undefined
    this.value = undefined
  }

  stored(): StoredState {
    const { tenantId, ruleChainId, ruleNodeId, entityId } = this.place
    // Without spreads: it is made with each change of each state.
    return {
      tenantId,
      ruleChainId,
      ruleNodeId,
      entityId,
      id: this.id,
      value: this.text,
      done: this.done.encode(),
      wakeAt: this.wakeAt,
      bytes: this.bytes,
    }
  }
}

function readState<State, Known>(node: KeyedNode<State, Known>, text: string | null): State | undefined {
  if (text === null) return undefined
  const stored: JsonValue = parseJson(text)
  try {
    return node.parse(stored)
  } catch {
    return undefined
  }
}

/** Of a row's id. */
function entityOf(rowId: string): EntityId | undefined {
  const [, type = '', id = ''] = rowId.split(':')
  return isEntityType(type) ? { entityType: type, id } : undefined
}
