/** What the workbench can not work with: files that are no chains, cases that are no cases. */
import { defineErrors } from '../model/errors.ts'

export const WorkbenchErrors = defineErrors('workbench', {
  FILE_UNREADABLE: { kind: 'invalid', status: 400, text: 'cannot read {file}: {reason}' },
  FILE_NOT_A_CHAIN: {
    kind: 'invalid',
    status: 400,
    text: '{file} is no exported rule chain: {reason}; expected {"ruleChain": {...}, "metadata": {...}}',
  },
  FILE_NOT_CASES: { kind: 'invalid', status: 400, text: '{file} holds no cases: {reason}' },
  ENTITY_UNKNOWN: { kind: 'invalid', status: 400, text: "{where}: the world has no '{name}'" },
  GRAPH_BROKEN: { kind: 'invalid', status: 400, text: '{reason}; `chain check` shows all that is wrong' },
  NEVER_SETTLED: {
    kind: 'terminal',
    status: 500,
    text: 'the message never ended: it waits in {nodes}',
  },
  OUTSIDE_FAILS: { kind: 'retryable', status: 503, text: '{reason}' },
  GOES_ROUND: {
    kind: 'invalid',
    status: 400,
    text: 'the chain made over {limit} messages of one: what it enqueues comes back to it',
  },
})
