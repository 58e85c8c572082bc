/** What can go wrong in the actor runtime itself. */
import { defineErrors } from '../../model/errors.ts'

export const ActorErrors = defineErrors('actor', {
  ACTOR_STOPPED: { kind: 'retryable', status: 503, text: 'actor {kind} {id} is stopped' },
  MAILBOX_FULL: { kind: 'retryable', status: 503, text: 'mailbox holds {limit} messages, no more are taken' },
  SYSTEM_CLOSED: { kind: 'terminal', status: 503, text: 'the actor system is closed' },
})
