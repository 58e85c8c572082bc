/** What the file of a client library gives to the policy. */
import type { Clock } from '../../model/clock.ts'
import type { OutboundKind, OutboundKinds } from '../../engine/rulechain/capabilities/outbound.ts'
import type { AddressGuard } from './address-guard.ts'

export interface ClientParts {
  /** Every connection goes to an address that it answered. */
  readonly guard: AddressGuard
  readonly clock: Clock
  /** Aborts when the client is closed, before `close`: nobody waits any more for what is being opened. */
  readonly closing: AbortSignal
  /** Most bytes that any answer may have. */
  readonly answerLimit: number
}

/** Resolves when there is room for the answer's bytes, as many as there may be at most. */
export type TakeAnswer = (bytes: number) => Promise<void>

export interface RawClient<Call, Answer> {
  /** Gives up when `signal` aborts. Of an answer no byte is kept before `takeAnswer` let it in. */
  call(call: Call, signal: AbortSignal, takeAnswer: TakeAnswer): Promise<Answer>
  close(): Promise<void>
}

export type RawClientOf<Kind extends OutboundKind> = RawClient<
  OutboundKinds[Kind]['call'],
  OutboundKinds[Kind]['answer']
>

export type OpenClient<Kind extends OutboundKind> = (
  settings: OutboundKinds[Kind]['settings'],
  parts: ClientParts,
) => RawClientOf<Kind> | Promise<RawClientOf<Kind>>
